export interface Spread {
  /** The middle value; the mean of the two middle ones of an even number, so it may end in .5. */
  readonly median: number;
  /** The smallest value that at least 90 % are not above (nearest rank). */
  readonly p90: number;
  readonly max: number;
}

/** Zeros for no values at all. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  const lower = sorted.length % 2 === 0 ? (sorted[half - 1] ?? 0) : upper;
  return {
    median: (lower + upper) / 2,
    p90: sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0,
    max: sorted.at(-1) ?? 0,
  };
}
