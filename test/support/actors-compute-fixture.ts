import { afterEach } from 'vitest';
import { openComputePool } from '../../src/actors/compute-pool.ts';
import type {
  ComputePool,
  ComputePoolOptions,
  JobOptions,
  JobOutcome,
} from '../../src/actors/pool.ts';
import { testThread } from './actors-fixture.ts';
import type { Job } from './threads/actors-compute.ts';

/** Opens compute pools that are closed after each test of the file that called this. */
export function closedComputePools(): (options?: Partial<ComputePoolOptions>) => ComputePool {
  const pools: ComputePool[] = [];
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });
  return (options = {}) => {
    const entry = testThread('actors-compute');
    const pool = openComputePool({ entry, threads: 1, queueMax: 1000, ...options });
    pools.push(pool);
    return pool;
  };
}

export function run(pool: ComputePool, job: Job, options?: JobOptions): Promise<JobOutcome> {
  return pool.run(job, options);
}

/** Counters that all threads see, all zero. */
export const flags = (count = 1): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count));

/** Starts a job that reports `begun`, and waits until it runs. */
export async function begin(pool: ComputePool, job: Job, options: JobOptions = {}) {
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const outcome = run(pool, job, { ...options, onProgress: () => hasBegun() });
  await begun;
  return { outcome };
}

/** Blocks a thread of `pool` until `release`. */
export async function block(pool: ComputePool) {
  const gate = flags();
  const { outcome } = await begin(pool, { do: 'wait', gate });
  const release = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { outcome, release };
}
