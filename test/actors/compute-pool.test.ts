import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { openComputePool } from '../../src/actors/compute-pool.ts';
import type { ComputePool, ComputePoolOptions, JobOptions } from '../../src/actors/pool.ts';
import { settlesTo, testThread, uncaughtDuring } from '../support/actors-fixture.ts';
import type { Job } from '../support/threads/actors-compute.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const pools: ComputePool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function open(options: Partial<ComputePoolOptions> = {}): ComputePool {
  const entry = testThread('actors-compute');
  const pool = openComputePool({ entry, threads: 1, queueMax: 1000, ...options });
  pools.push(pool);
  return pool;
}

function run(pool: ComputePool, job: Job, options?: JobOptions) {
  return pool.run(job, options);
}

const flags = (count = 1): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count));

/** Starts a job that reports `begun`, and waits until it runs. */
async function begin(pool: ComputePool, job: Job, options: JobOptions = {}) {
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const outcome = run(pool, job, { ...options, onProgress: () => hasBegun() });
  await begun;
  return { outcome };
}

/** Blocks a thread of `pool` until `release`. */
async function block(pool: ComputePool) {
  const gate = flags();
  const { outcome } = await begin(pool, { do: 'wait', gate });
  const release = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { outcome, release };
}

test('a job returns its value, and its progress arrives in order before it', async () => {
  const heard: unknown[] = [];
  const onProgress = (body: unknown): void => void heard.push(body);
  const outcome = await run(open(), { do: 'progress', count: 50 }, { onProgress });
  expect(outcome).toEqual({ type: 'returned', value: 50 });
  expect(heard).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('what a job moves arrives whole', async () => {
  const outcome = await run(open(), { do: 'return-buffer', bytes: 1_000_000 });
  expect(outcome).toMatchObject({ type: 'returned', value: { byteLength: 1_000_000 } });
});

test('T5: a fault that a job throws keeps its code, its advice and its details', async () => {
  const pool = open();
  expect(await run(pool, { do: 'throw-fault' })).toEqual({
    type: 'threw',
    fault: {
      code: 'model.timeout',
      message: 'a fault of its own',
      retry: 'safe',
      detail: { a: 1 },
    },
  });
  expect(await run(pool, { do: 'throw' })).toMatchObject({
    type: 'threw',
    fault: { code: 'tool.failed', message: 'thrown by the job' },
  });
});

test('jobs run in the order of their calls, one at a time a thread', async () => {
  const pool = open();
  const blocker = await block(pool);
  const ended: number[] = [];
  const jobs = Array.from({ length: 30 }, async (_, n) => {
    await run(pool, { do: 'return', value: n }, { signal: new AbortController().signal });
    ended.push(n);
  });
  expect(pool.stats()).toEqual({ threads: 1, running: 1, queued: 30 });
  blocker.release();
  await Promise.all(jobs);
  expect(ended).toEqual(Array.from({ length: 30 }, (_, n) => n));
});

test('T1: beyond its bound the queue refuses jobs with `pool.full`, also those with a signal', async () => {
  const pool = open({ queueMax: 2 });
  const blocker = await block(pool);
  const signal = new AbortController().signal;
  const jobs = Array.from({ length: 5 }, (_, n) =>
    run(pool, { do: 'return', value: n }, { signal }),
  );
  const refused = await Promise.all(jobs.slice(2));
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ type: 'refused', fault: { code: 'pool.full', retry: 'safe' } });
  }
  blocker.release();
  expect(await Promise.all(jobs.slice(0, 2))).toMatchObject([{ value: 0 }, { value: 1 }]);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a queue of length 0 refuses only what finds no free thread', async () => {
  const pool = open({ queueMax: 0 });
  expect(await run(pool, { do: 'return', value: 1 })).toMatchObject({ type: 'returned' });
  const blocker = await block(pool);
  expect(await run(pool, { do: 'return', value: 2 })).toMatchObject({ type: 'refused' });
  blocker.release();
});

test('of 500 jobs the 50 that are aborted while they wait never start, and the other 450 return', async () => {
  const pool = open({ threads: 2 });
  const blockers = await Promise.all([block(pool), block(pool)]);
  const marks = flags(500);
  const aborts = Array.from({ length: 500 }, () => new AbortController());
  const jobs = aborts.map(({ signal }, at) => run(pool, { do: 'mark', marks, at }, { signal }));
  for (let at = 0; at < 500; at += 10) aborts[at]?.abort(new Error('changed my mind'));
  for (const blocker of blockers) blocker.release();
  const outcomes = await Promise.all(jobs);
  for (const [at, outcome] of outcomes.entries()) {
    const killed = { type: 'killed', by: 'signal', reason: 'changed my mind' };
    expect(outcome).toEqual(at % 10 === 0 ? killed : { type: 'returned', value: 1 });
    expect(marks[at]).toBe(at % 10 === 0 ? 0 : 1);
  }
  for (const { signal } of aborts) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a job whose signal was aborted before never starts', async () => {
  const marks = flags();
  const signal = AbortSignal.abort(new Error('too late'));
  const outcome = await run(open(), { do: 'mark', marks, at: 0 }, { signal });
  expect(outcome).toEqual({ type: 'killed', by: 'signal', reason: 'too late' });
  expect(marks[0]).toBe(0);
});

test('T2: a cancelled job that heeds its signal tidies up and keeps its thread', async () => {
  const pool = open({ clock: new TurnedClock() });
  const ids = pool.threadIds();
  const abort = new AbortController();
  const cleaned = flags();
  const { outcome } = await begin(pool, { do: 'heed', cleaned }, { signal: abort.signal });
  abort.abort(new Error('user'));
  expect(await outcome).toEqual({ type: 'killed', by: 'signal', reason: 'user' });
  expect(cleaned[0]).toBe(1);
  expect(pool.threadIds()).toEqual(ids);
});

test('T2: a cancelled job that never yields loses its thread after the grace time, without its `finally`; its sibling goes on (SPEC N3)', async () => {
  const clock = new TurnedClock();
  const pool = open({ threads: 2, clock, graceMs: 50 });
  const sibling = await block(pool);
  const ids = pool.threadIds();
  const abort = new AbortController();
  const cleaned = flags();
  const { outcome } = await begin(pool, { do: 'spin', cleaned }, { signal: abort.signal });
  abort.abort(new Error('user'));
  clock.turn(49);
  expect(pool.threadIds()).toEqual(ids);
  clock.turn(1);
  expect(await outcome).toEqual({ type: 'killed', by: 'signal', reason: 'user' });
  expect(cleaned[0]).toBe(0);
  expect(pool.threadIds().filter((id) => ids.includes(id))).toHaveLength(1);
  sibling.release();
  expect(await sibling.outcome).toMatchObject({ type: 'returned' });
});

test('capacity comes back after every kind of death, in a pool of one thread', async () => {
  const clock = new TurnedClock();
  const pool = open({ clock, resourceLimits: { maxOldGenerationSizeMb: 32 } });
  const abort = new AbortController();
  const spinning = await begin(pool, { do: 'spin', cleaned: flags() }, { signal: abort.signal });
  abort.abort();
  clock.turn(50);
  expect(await spinning.outcome).toMatchObject({ type: 'killed' });
  for (const job of [{ do: 'exit', code: 3 }, { do: 'stray' }, { do: 'out-of-memory' }] as const) {
    expect(await run(pool, job)).toMatchObject({ type: 'lost' });
    expect(await run(pool, { do: 'return', value: 1 })).toEqual({ type: 'returned', value: 1 });
  }
});

test('a job over its time is asked, then killed by `timeout`; waiting for a thread does not count', async () => {
  const clock = new TurnedClock();
  const pool = open({ clock });
  const blocker = await block(pool);
  const waiting = begin(pool, { do: 'spin', cleaned: flags() }, { timeoutMs: 100 });
  clock.turn(1_000);
  blocker.release();
  const { outcome } = await waiting;
  clock.turn(100);
  clock.turn(50);
  expect(await outcome).toEqual({
    type: 'killed',
    by: 'timeout',
    reason: 'it ran for longer than 100 ms',
  });
});

test('the first cause of a cancellation holds', async () => {
  const clock = new TurnedClock();
  const pool = open({ clock });
  const abort = new AbortController();
  const options = { signal: abort.signal, timeoutMs: 100 };
  const { outcome } = await begin(pool, { do: 'spin', cleaned: flags() }, options);
  clock.turn(100);
  abort.abort(new Error('user'));
  clock.turn(50);
  expect(await outcome).toMatchObject({ type: 'killed', by: 'timeout' });
});

test('an abort that comes after the outcome was reported changes nothing', async () => {
  const pool = open();
  await run(pool, { do: 'return', value: 0 });
  const abort = new AbortController();
  const reported = flags(2);
  const job = run(pool, { do: 'mark-twice', marks: reported }, { signal: abort.signal });
  // This thread stands still until the job has run and its thread was idle again: the outcome waits here, unheard.
  Atomics.wait(reported, 0, 0, 20_000);
  Atomics.wait(reported, 1, 0, 20_000);
  abort.abort();
  expect(await job).toEqual({ type: 'returned', value: 1 });
  expect(await run(pool, { do: 'return', value: 2 })).toMatchObject({ value: 2 });
});

test.each([
  [{ do: 'exit', code: 3 }, 'exited with code 3'],
  [{ do: 'stray' }, 'stray'],
  [{ do: 'out-of-memory' }, 'memory'],
] as const)(
  'a job that ends its thread (%o) is `lost` and says how; its sibling goes on',
  async (job, how) => {
    const pool = open({ threads: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
    const sibling = await block(pool);
    const outcome = await run(pool, job);
    expect(outcome).toEqual({ type: 'lost', detail: expect.stringContaining(how) });
    sibling.release();
    expect(await sibling.outcome).toMatchObject({ type: 'returned' });
  },
);

test('a result that cannot be cloned is the job’s failure and costs its thread nothing', async () => {
  const pool = open();
  const ids = pool.threadIds();
  expect(await run(pool, { do: 'return-function' })).toMatchObject({
    type: 'threw',
    fault: { message: expect.stringContaining('could not be cloned') },
  });
  expect(pool.threadIds()).toEqual(ids);
});

test('a job that cannot be cloned is refused, and those behind it run', async () => {
  const pool = open();
  const blocker = await block(pool);
  const bad = Array.from({ length: 2_000 }, () => run(pool, { do: 'return', value: run }));
  const full = await Promise.all(bad.slice(1_000));
  expect(full.every((outcome) => outcome.type === 'refused')).toBe(true);
  blocker.release();
  const refused = await Promise.all(bad.slice(0, 1_000));
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ type: 'refused', fault: { code: 'argument.invalid' } });
  }
  expect(await run(pool, { do: 'return', value: 1 })).toMatchObject({ value: 1 });
});

test('T6: the signal that a job sees is its own; one inside the job’s data arrives dead', async () => {
  const signal = new AbortController().signal;
  const outcome = await run(open(), { do: 'return', value: { signal } });
  expect(outcome).toEqual({ type: 'returned', value: { signal: {} } });
});

test('an entry that cannot be loaded makes every job `lost`, with the reason, and none hangs', async () => {
  const pool = open({ entry: testThread('actors-broken'), threads: 2 });
  const jobs = Array.from({ length: 6 }, (_, n) => run(pool, { do: 'return', value: n }));
  for (const outcome of await Promise.all(jobs)) {
    expect(outcome).toEqual({ type: 'lost', detail: expect.stringContaining('cannot be loaded') });
  }
  expect(await run(pool, { do: 'return', value: 1 })).toMatchObject({ type: 'lost' });
});

test('closing refuses what waits, kills what runs, leaves no thread, and may be asked twice', async () => {
  await settlesTo('MessagePort', 0);
  const pool = open({ graceMs: 1 });
  const { outcome } = await begin(pool, { do: 'spin', cleaned: flags() });
  const waiting = run(pool, { do: 'return', value: 1 });
  const [first, second] = [pool.close(), pool.close()];
  expect(second).toBe(first);
  await first;
  expect(await outcome).toEqual({ type: 'killed', by: 'signal', reason: 'the pool closes' });
  expect(await waiting).toMatchObject({ type: 'refused', fault: { code: 'pool.closed' } });
  expect(await run(pool, { do: 'return', value: 1 })).toMatchObject({
    type: 'refused',
    fault: { code: 'pool.closed' },
  });
  expect(pool.stats()).toEqual({ threads: 0, running: 0, queued: 0 });
  await settlesTo('MessagePort', 0);
});

test('a progress listener that throws changes nothing about the job', async () => {
  let outcome: unknown;
  const thrown = await uncaughtDuring(async () => {
    const onProgress = (): void => {
      throw new Error('cannot listen');
    };
    outcome = await run(open(), { do: 'progress', count: 1 }, { onProgress });
  });
  expect(thrown).toMatchObject({ message: 'cannot listen' });
  expect(outcome).toEqual({ type: 'returned', value: 1 });
});
