import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { begin, block, closedComputePools, flags, run } from '../support/actors-compute-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const open = closedComputePools();

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
