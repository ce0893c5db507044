/** A fixed number of steps that no compiler takes away. */
export function burn(steps: number): number {
  let x = 123_456_789;
  for (let step = 0; step < steps; step += 1) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x;
}

/** Steps that take about `ms` on this thread, from the fastest of several tries. */
export function stepsFor(ms: number): number {
  const probe = 2_000_000;
  burn(probe);
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const from = performance.now();
    burn(probe);
    best = Math.min(best, performance.now() - from);
  }
  return Math.round((probe / best) * ms);
}
