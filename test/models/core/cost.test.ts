import { describe, expect, it } from 'vitest';
import { costCents } from '../../../src/models/core/cost.ts';

const price = { input: 300, output: 1500, cachedInput: 30 };

describe('cost of a request (SPEC M4)', () => {
  it.each([
    ['input and output at their prices', [1_000_000, 1_000_000, 0], 1800],
    ['the cached share at its own price', [1_000_000, 0, 1_000_000], 30],
    ['an unsaid cached share counts as none', [1000, 100, null], 0.45],
    ['more cached than input is held to the input', [1000, 0, 5000], 0.03],
    ['unknown input makes the cost unknown', [null, 100, null], null],
    ['unknown output makes the cost unknown', [100, null, null], null],
  ] as const)('%s', (_, [inputTokens, outputTokens, cachedInputTokens], cents) => {
    const cost = costCents({ inputTokens, outputTokens, cachedInputTokens }, price);
    if (cents === null) expect(cost).toBeNull();
    else expect(cost).toBeCloseTo(cents, 10);
  });

  it('is unknown without a price, never 0', () => {
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
    expect(costCents(usage, null)).toBeNull();
  });
});
