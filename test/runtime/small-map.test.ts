import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SmallMap } from '../../src/runtime/small-map.ts';

const step = fc.record({
  kind: fc.constantFrom('set', 'set', 'set', 'delete', 'clear'),
  key: fc.constantFrom(...'abcdefghijklmnop'.split('')),
  value: fc.integer(),
});

it('a small map holds what a Map would, few entries or many', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const small = new SmallMap<number>();
      const map = new Map<string, number>();
      for (const { kind, key, value } of steps) {
        if (kind === 'set') {
          small.set(key, value);
          map.set(key, value);
        } else if (kind === 'delete') {
          small.delete(key);
          map.delete(key);
        } else if (value % 5 === 0) {
          small.clear();
          map.clear();
        }
        expect(small.keys()).toEqual([...map.keys()]);
        expect(small.values()).toEqual([...map.values()]);
        expect(small.get(key)).toBe(map.get(key));
        expect(small.some((each) => each > 0)).toBe([...map.values()].some((each) => each > 0));
      }
    }),
  );
});
