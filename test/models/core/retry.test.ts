import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BACKOFF_MAX_MS,
  decideRetry,
  RETRY_AFTER_MAX_MS,
  type RetryCase,
} from '../../../src/models/core/retry.ts';

const first: RetryCase = {
  advice: 'safe',
  attempts: 1,
  maxRetries: 2,
  stopped: false,
  remainingMs: 60_000,
  retryAfterMs: null,
  unit: 0.5,
};

describe('deciding a retry', () => {
  it.each([
    ['the first failure waits about half a second', {}, 375],
    ['the second waits twice as long', { attempts: 2 }, 750],
    ['chance at its lowest halves the wait', { unit: 0 }, 250],
    ['the wait stops growing at ten seconds', { attempts: 19, maxRetries: 30, unit: 1 }, 10_000],
    ['a server that names a pause gets it', { retryAfterMs: 4000, unit: 0 }, 4000],
    ['a pause of an hour is cut to 30 s', { retryAfterMs: 3_600_000 }, 30_000],
    ['a pause of 0 is taken at its word', { retryAfterMs: 0, unit: 0 }, 0],
  ])('%s', (_, change, delayMs) => {
    expect(decideRetry({ ...first, ...change })).toEqual({ again: true, delayMs });
  });

  it.each([
    ['a stopped request is not retryable, whatever failed', { stopped: true }, 'stopped'],
    ['a fault that will come back alike is not retried', { advice: 'never' as const }, 'pointless'],
    ['after max_retries it is over', { attempts: 3 }, 'exhausted'],
    ['with max_retries 0 the first failure is the last', { maxRetries: 0 }, 'exhausted'],
    ['a wait beyond the total limit is not begun', { remainingMs: 375 }, 'no-time'],
  ])('%s', (_, change, why) => {
    expect(decideRetry({ ...first, ...change })).toEqual({ again: false, why });
  });

  it('never waits longer than the caps, nor a negative time, for any input', () => {
    const anyCase = fc.record({
      advice: fc.constantFrom('safe' as const, 'unsafe' as const, 'never' as const),
      attempts: fc.integer({ min: 1, max: 1000 }),
      maxRetries: fc.integer({ min: 0, max: 1000 }),
      stopped: fc.boolean(),
      remainingMs: fc.integer({ min: -1000, max: 1e9 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: null }),
      unit: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(anyCase, (given) => {
        const decision = decideRetry(given);
        if (!decision.again) return;
        const cap = given.retryAfterMs === null ? BACKOFF_MAX_MS : RETRY_AFTER_MAX_MS;
        expect(given.stopped).toBe(false);
        expect(given.advice).not.toBe('never');
        expect(decision.delayMs).toBeGreaterThanOrEqual(0);
        expect(decision.delayMs).toBeLessThanOrEqual(cap);
        expect(decision.delayMs).toBeLessThan(given.remainingMs);
      }),
    );
  });
});
