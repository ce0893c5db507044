import { expect, test } from 'vitest';
import { reportedUsage } from '../../src/models/reported-usage.ts';

const told = (total: number) =>
  reportedUsage({
    inputTokens: { total, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 7, text: undefined, reasoning: undefined },
    raw: { prompt_tokens: total },
  });

test.each([
  [12, 12],
  [0, 0],
  [-1000, null],
  [1.5, null],
  [1e308, null],
  [Number.NaN, null],
])(
  'M4, X2: %d tokens are taken as %j, so that no count refills or breaks a budget',
  (total, taken) => {
    expect(told(total)).toEqual({ inputTokens: taken, outputTokens: 7, cachedInputTokens: null });
  },
);
