import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeRestart } from '../../../src/actors/core/restart.ts';

const intensity = { restartsMax: 3, periodMs: 60_000 };

/** Which of the deaths at `moments` are answered with a restart. */
function verdicts(moments: readonly number[]): boolean[] {
  let times: readonly number[] = [];
  return moments.map((nowMs) => {
    const verdict = judgeRestart(times, intensity, nowMs);
    if (verdict.type === 'restart') times = verdict.times;
    return verdict.type === 'restart';
  });
}

test('SPEC J7: gives up on the fourth death within 60 s', () => {
  expect(verdicts([0, 1, 2, 59_999])).toEqual([true, true, true, false]);
});

test('SPEC J7: restarts again once the first restart is exactly 60 s ago', () => {
  expect(verdicts([0, 1, 2, 60_000])).toEqual([true, true, true, true]);
});

test('SPEC J7: a death that was given up on does not count against later ones', () => {
  expect(verdicts([0, 1, 2, 3, 4, 60_000])).toEqual([true, true, true, false, false, true]);
});

test('SPEC J7: no window of 60 s ever holds more than three restarts, and its memory stays as small', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40_000), { maxLength: 60 }), (gaps) => {
      let nowMs = 0;
      let times: readonly number[] = [];
      const restarts: number[] = [];
      for (const gap of gaps) {
        nowMs += gap;
        const verdict = judgeRestart(times, intensity, nowMs);
        if (verdict.type === 'give-up') continue;
        times = verdict.times;
        restarts.push(nowMs);
        expect(times.length).toBeLessThanOrEqual(3);
      }
      for (const from of restarts) {
        const within = restarts.filter((at) => at >= from && at < from + 60_000);
        expect(within.length).toBeLessThanOrEqual(3);
      }
    }),
  );
});

test('SPEC J7: zero restarts allowed means the first death is final', () => {
  expect(judgeRestart([], { restartsMax: 0, periodMs: 1 }, 5)).toEqual({ type: 'give-up' });
});
