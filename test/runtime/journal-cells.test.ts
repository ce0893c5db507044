import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packCells, unpackRows } from '../../src/runtime/journal-cells.ts';
import type { Cell } from '../../src/runtime/journal-schema.ts';
import { sumOf } from '../../src/runtime/journal-sum.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'null', '\u0000', '\u2028', 'ж', '😀', 'x'.repeat(70_000)),
);
const optional = fc.option(text, { nil: null });
const count = fc.oneof(fc.integer({ min: 1 }), fc.constantFrom(1, Number.MAX_SAFE_INTEGER));
const row: fc.Arbitrary<Cell[]> = fc
  .tuple(text, count, optional, optional, optional, text, text, count, text)
  .map((cells) => [...cells]);

describe('rows on their way to the writer', () => {
  it('J8: arrive as they were, each with the sum that its reader will find', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 12 }), fc.nat({ max: 2 ** 40 }), (rows, afterSeq) => {
        const crossed = deserialize(serialize(packCells(rows.flat())));
        expect([...unpackRows(crossed, afterSeq)]).toEqual(
          rows.map((cells, at) => {
            const seq = afterSeq + at + 1;
            return [seq, ...cells, sumOf(seq, cells)];
          }),
        );
      }),
    );
  });

  it('J8: one changed character anywhere changes the sum, wherever in a text it is', () => {
    fc.assert(
      fc.property(
        row,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 0xffff }),
        (cells, whichCell, whichUnit, bits) => {
          const texts = cells.flatMap((cell, at) =>
            typeof cell === 'string' && cell !== '' ? [at] : [],
          );
          fc.pre(texts.length > 0);
          const at = texts[whichCell % texts.length] ?? 0;
          const whole = String(cells[at]);
          const unit = whichUnit % whole.length;
          const changed = String.fromCharCode(whole.charCodeAt(unit) ^ bits);
          const other = [...cells];
          other[at] = whole.slice(0, unit) + changed + whole.slice(unit + 1);
          expect(sumOf(1, other)).not.toBe(sumOf(1, cells));
        },
      ),
    );
  });

  it('J8: a text cut differently between two cells, or null in place of "null", has another sum', () => {
    const cells = ['r', 1, null, null, null, 'ab', 'c', 1, '{}'];
    expect(sumOf(1, ['r', 1, null, null, null, 'a', 'bc', 1, '{}'])).not.toBe(sumOf(1, cells));
    expect(sumOf(1, ['r', 1, 'null', null, null, 'ab', 'c', 1, '{}'])).not.toBe(sumOf(1, cells));
    expect(sumOf(2, cells)).not.toBe(sumOf(1, cells));
  });
});
