import type { RetryAdvice } from '../../base/fault.ts';

/** The first wait; every further one doubles it. */
const BACKOFF_START_MS = 500;
/** No back-off of ours is longer. */
export const BACKOFF_MAX_MS = 10_000;
/** A server may ask for a longer pause by `Retry-After`; it gets this much of it and not more. */
export const RETRY_AFTER_MAX_MS = 30_000;

export interface RetryCase {
  /** Advice of the fault that ended the last attempt. */
  readonly advice: RetryAdvice;
  /** Attempts made so far, from 1. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** Cancelled by the caller or out of its total time: looked at before the fault is. */
  readonly stopped: boolean;
  /** Milliseconds until the total limit. */
  readonly remainingMs: number;
  /** What the server asked for, in milliseconds; `null` = it did not say. */
  readonly retryAfterMs: number | null;
  /** Chance in [0, 1). */
  readonly unit: number;
}

export type RetryDecision =
  | { readonly again: true; readonly delayMs: number }
  | { readonly again: false; readonly why: 'stopped' | 'pointless' | 'exhausted' | 'no-time' };

/**
 * Whether a failed request is made again, and after how long. The wait is half fixed and half chance, so that runs
 * that failed together do not come back together. A wait that would end after the total limit is not begun.
 */
export function decideRetry(given: RetryCase): RetryDecision {
  if (given.stopped) return { again: false, why: 'stopped' };
  if (given.advice === 'never') return { again: false, why: 'pointless' };
  if (given.attempts > given.maxRetries) return { again: false, why: 'exhausted' };
  const delayMs = delayOf(given);
  if (delayMs >= given.remainingMs) return { again: false, why: 'no-time' };
  return { again: true, delayMs };
}

function delayOf({ attempts, retryAfterMs, unit }: RetryCase): number {
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_START_MS * 2 ** Math.min(attempts - 1, 20));
  if (retryAfterMs === null) return Math.round(ceiling * (0.5 + unit / 2));
  return Math.min(RETRY_AFTER_MAX_MS, Math.round(retryAfterMs + (unit * BACKOFF_START_MS) / 2));
}
