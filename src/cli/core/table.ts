import type { Paint } from './paint.ts';
import { cutText, padText, textWidth } from './text-width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Figures stand to the right. */
  readonly right?: boolean;
  readonly paint?: (row: Row, text: string) => string;
}

const GAP = '  ';

/** Aligned lines, titles first. `width` cuts the last column where the terminal ends; without it nothing is cut. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: { readonly paint: Paint; readonly width: number | null },
): string[] {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const widths = columns.map((column, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), textWidth(column.title)),
  );
  const room = lastColumnRoom(widths, options.width);
  const lineOf = (texts: readonly string[], paintCell: (text: string, at: number) => string) =>
    texts
      .map((text, at) => {
        const isLast = at === columns.length - 1;
        const cut = isLast ? cutText(text, room) : text;
        const side = columns[at]?.right === true ? 'right' : 'left';
        const padded = isLast && side === 'left' ? cut : padText(cut, widths[at] ?? 0, side);
        return paintCell(padded, at);
      })
      .join(GAP)
      .trimEnd();
  const titles = lineOf(
    columns.map((column) => column.title),
    (text) => options.paint('dim', text),
  );
  const lines = rows.map((row, index) =>
    lineOf(cells[index] ?? [], (text, at) => columns[at]?.paint?.(row, text) ?? text),
  );
  return [titles, ...lines];
}

function lastColumnRoom(widths: readonly number[], width: number | null): number {
  if (width === null) return Number.POSITIVE_INFINITY;
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  return Math.max(10, width - before);
}
