import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { begin, block, closedComputePools, flags, run } from '../support/actors-compute-fixture.ts';
import {
  settlesTo,
  testThread,
  uncaughtDuring,
  withBrokenEntry,
} from '../support/actors-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const open = closedComputePools();

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

test('jobs that cannot be cloned are refused, however many, and those behind them run', async () => {
  const pool = open({ queueMax: 8_001 });
  const blocker = await block(pool);
  const bad = Array.from({ length: 8_000 }, () => run(pool, { do: 'return', value: run }));
  const good = run(pool, { do: 'return', value: 1 });
  blocker.release();
  for (const outcome of await Promise.all(bad)) {
    expect(outcome).toMatchObject({ type: 'refused', fault: { code: 'argument.invalid' } });
  }
  expect(await good).toEqual({ type: 'returned', value: 1 });
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

test('jobs are `lost`, and none hangs, once the last thread is gone and no new one can load the entry', async () => {
  const pool = open({ threads: 2 });
  const blocker = await block(pool);
  await withBrokenEntry(async () => {
    expect(await run(pool, { do: 'exit', code: 3 })).toMatchObject({ type: 'lost' });
    const bystander = run(pool, { do: 'exit', code: 4 });
    const waiting = run(pool, { do: 'return', value: 1 });
    await vi.waitFor(() => expect(pool.threadIds()).toHaveLength(1));
    blocker.release();
    expect(await blocker.outcome).toMatchObject({ type: 'returned' });
    expect(await bystander).toMatchObject({ type: 'lost' });
    expect(await waiting).toMatchObject({ type: 'lost' });
    expect(await run(pool, { do: 'return', value: 2 })).toMatchObject({ type: 'lost' });
  });
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
