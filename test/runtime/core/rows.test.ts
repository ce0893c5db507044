import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Rows } from '../../../src/runtime/core/rows.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), value: fc.integer() }),
  fc.record({ kind: fc.constant('with' as const), at: fc.nat(300), value: fc.integer() }),
);

it('rows hold what an array would, and an older list never changes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 200 }), fc.array(step), (first, steps) => {
      let rows = Rows.of(first);
      let array = [...first];
      const seen: [Rows<number>, number[]][] = [];
      for (const { kind, value, ...more } of steps) {
        seen.push([rows, [...array]]);
        if (kind === 'add') {
          rows = rows.adding(value);
          array = [...array, value];
        } else {
          const at = 'at' in more ? more.at : 0;
          rows = rows.with(at, value);
          if (at < array.length) array[at] = value;
        }
      }
      for (const [then, was] of [...seen, [rows, array] as const]) {
        expect([...then]).toEqual(was);
        expect(then.length).toBe(was.length);
      }
      expect(rows.filter((row) => row > 0)).toEqual(array.filter((row) => row > 0));
      expect(rows.map((row, at) => row + at)).toEqual(array.map((row, at) => row + at));
      expect(rows.find((row) => row > 0)).toBe(array.find((row) => row > 0));
      expect(rows.findFrom(70, (row) => row > 0)).toBe(array.slice(70).find((row) => row > 0));
      expect(rows.at(array.length)).toBeUndefined();
    }),
  );
});

it('a change of one of 4096 rows copies one chunk and shares the rest', () => {
  const rows = Rows.of(Array.from({ length: 4096 }, (_, at) => at));
  const changed = rows.with(1000, -1);
  const copied = changed.chunks.filter((chunk, at) => chunk !== rows.chunks[at]);
  expect(copied).toHaveLength(1);
});
