import { expect, it } from 'vitest';
import { SharedIn, SharedOut } from '../../../src/actors/core/shared-values.ts';

it('a value crosses once and is one object at the far end', () => {
  const out = new SharedOut<object>();
  const far = new SharedIn<object>();
  const value = { system: 'long' };
  const [first, second] = [out.share(value), out.share(value)];
  expect(first.value).toBe(value);
  expect(second).toEqual({ slot: first.slot });
  const cloned = structuredClone(first);
  expect(far.take(second)).toBeUndefined();
  expect(far.take(cloned)).toBe(cloned.value);
  expect(far.take(second)).toBe(cloned.value);
});

it('equal values are told apart, and the oldest gives way to a new one', () => {
  const out = new SharedOut<{ n: number }>();
  const far = new SharedIn<{ n: number }>();
  const values = Array.from({ length: 200 }, (_, n) => ({ n }));
  for (const round of [0, 1]) {
    for (const value of values) expect(far.take(out.share(value))?.n, `${round}`).toBe(value.n);
  }
  expect(out.share(values.at(-1) as { n: number }).value).toBeUndefined();
  expect(out.share(values[0] as { n: number }).value).toBeDefined();
});

it('a value that did not arrive is sent again', () => {
  const out = new SharedOut<object>();
  const value = {};
  out.forget(out.share(value).slot);
  expect(out.share(value).value).toBe(value);
});
