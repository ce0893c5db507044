import { type Cell, COLUMNS } from './journal-schema.ts';
import { sumOfPlace, withNull, withNumber, withText } from './journal-sum.ts';

/**
 * Rows on their way to the writer: all texts as one and all numbers in one buffer, because a port charges for each cell
 * that it clones, and what it clones is garbage on both sides.
 */
export interface PackedCells {
  readonly text: string;
  /** Cell after cell: a number itself, a text's length, or `NOTHING`. */
  readonly shape: Float64Array;
}

/** A cell that is null; no length, and no number that is written. */
const NOTHING = -1;

const IS_NUMBER = COLUMNS.map((name) => name === 'n' || name === 'v');

/** `cells`: row after row, `COLUMNS.length` each. */
export function packCells(cells: readonly Cell[]): PackedCells {
  const shape = new Float64Array(cells.length);
  let text = '';
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? null;
    if (typeof cell === 'string') text += cell;
    shape[at] = cell === null ? NOTHING : typeof cell === 'number' ? cell : cell.length;
  }
  return { text, shape };
}

/** The rows again, as they enter the table after `afterSeq`: `seq`, the cells, and their sum. */
export function* unpackRows(
  { text, shape }: PackedCells,
  afterSeq: number,
): Generator<Cell[], void, undefined> {
  let from = 0;
  let seq = afterSeq;
  for (let start = 0; start < shape.length; start += COLUMNS.length) {
    seq += 1;
    const row: Cell[] = [seq];
    let sum = sumOfPlace(seq);
    for (let column = 0; column < COLUMNS.length; column += 1) {
      const value = shape[start + column] ?? NOTHING;
      if (value === NOTHING) {
        row.push(null);
        sum = withNull(sum);
      } else if (IS_NUMBER[column] === true) {
        row.push(value);
        sum = withNumber(sum, value);
      } else {
        // Summed where it lies: a slice of a text is slow to read unit by unit.
        sum = withText(sum, text, from, from + value);
        row.push(text.slice(from, from + value));
        from += value;
      }
    }
    row.push(sum >>> 0);
    yield row;
  }
}
