import { expect, test } from 'vitest';
import {
  closedPools,
  roundTrip,
  type TestPool,
  type Watched,
  watch,
  withBrokenEntry,
} from '../support/actors-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const open = closedPools();

/** Ends the thread of host 0 (of a pool with one host) and waits until its actors were judged. */
async function endThread(pool: TestPool, code = 7): Promise<void> {
  const ending = pool.control('exit-thread', () => ({ args: [code] }));
  await ending.catch(() => undefined);
}

test('a thread that dies has what it posted before delivered first, then every actor ends as `lost`, once (SPEC J7)', async () => {
  const pool = await open();
  const siblings = Array.from({ length: 30 }, (_, n) => watch(pool, `sibling-${n}`));
  const actor = watch(pool, 'a');
  actor.ref.tell({ do: 'say-many', count: 5000, andThen: 'exit-thread' });
  const lost = { type: 'lost', detail: 'host 0: the thread exited with code 7' };
  expect(await actor.exit).toEqual(lost);
  expect(actor.heard).toEqual(Array.from({ length: 5000 }, (_, n) => n));
  await Promise.all(siblings.map((sibling) => sibling.exit));
  await roundTrip(watch(pool, 'successor'));
  for (const { exits } of [actor, ...siblings]) expect(exits).toEqual([lost]);
});

test('a terminated thread has what it posted before delivered first, then its actors end as `lost`', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock });
  const actor = watch(pool, 'a');
  await roundTrip(actor);
  const spinning = new Int32Array(new SharedArrayBuffer(4));
  actor.ref.tell({ do: 'say-many', count: 5000, andThen: 'spin', raise: spinning });
  await new Promise((resolve) => setImmediate(resolve));
  // This thread stands still until all is posted and the other one spins: nothing of it can have been heard yet.
  expect(Atomics.wait(spinning, 0, 0, 20_000)).not.toBe('timed-out');
  expect(actor.heard).toEqual(['round trip']);
  for (let beat = 0; beat < 6; beat += 1) clock.turn(1_000);
  expect(await actor.exit).toMatchObject({ type: 'lost' });
  expect(actor.heard).toEqual(['round trip', ...Array.from({ length: 5000 }, (_, n) => n)]);
});

test('a thread that dies has a successor in place before its actors are judged: they can be spawned again at once', async () => {
  const pool = await open();
  let successor: Watched | undefined;
  const judged = new Promise<void>((resolve) => {
    pool.spawn(
      'a',
      {},
      {
        receive: () => undefined,
        exited() {
          successor = watch(pool, 'a');
          resolve();
        },
      },
    );
  });
  await endThread(pool);
  await judged;
  if (successor === undefined) throw new Error('no successor');
  await roundTrip(successor);
  expect(pool.stats()).toEqual({ threads: 1, actors: 1 });
});

test('a thread that dies takes nothing from the actors of another thread', async () => {
  const pool = await open({ threads: 2 });
  const [first, second] = [watch(pool, 'first'), watch(pool, 'second')];
  first.ref.tell({ do: 'say-many', count: 1, andThen: 'exit-thread' });
  await first.exit;
  await roundTrip(second);
  expect(second.exits).toEqual([]);
  const third = watch(pool, 'third');
  expect(third.ref.hostIndex).toBe(1);
  await roundTrip(third);
});

test('the successor of a dead host is set up anew under its index', async () => {
  const setups: number[] = [];
  const pool = await open({
    threads: 2,
    setup: (hostIndex) => {
      setups.push(hostIndex);
      return { data: { label: `${hostIndex} for the ${setups.length}th` } };
    },
  });
  const before = pool.threadIds();
  const actor = watch(pool, 'a');
  actor.ref.tell({ do: 'say-many', count: 1, andThen: 'exit-thread' });
  await actor.exit;
  const labels = await pool.control('label', () => ({ args: [] }));
  expect(labels).toEqual(['0 for the 3th', '1 for the 2th']);
  expect(pool.threadIds()).toHaveLength(2);
  expect(pool.threadIds()).not.toEqual(before);
});

test('a thread that dies beyond the restart intensity leaves a pool that refuses actors and says why', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock, restarts: { restartsMax: 2, periodMs: 60_000 } });
  for (let death = 0; death < 2; death += 1) {
    await roundTrip(watch(pool, `a${death}`));
    await endThread(pool);
  }
  await roundTrip(watch(pool, 'last'));
  await endThread(pool, 8);
  expect(() => watch(pool, 'late')).toThrow(
    expect.objectContaining({
      code: 'actor.lost',
      message: expect.stringMatching(/exited with code 8.*2 hosts were replaced within 60000 ms/),
    }),
  );
});

test('a thread that dies is replaced again once earlier deaths are long enough ago', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock, restarts: { restartsMax: 1, periodMs: 60_000 } });
  for (let death = 0; death < 3; death += 1) {
    await roundTrip(watch(pool, `a${death}`));
    await endThread(pool);
    await roundTrip(watch(pool, `b${death}`));
    for (let beat = 0; beat < 60; beat += 1) {
      clock.turn(1_000);
      await roundTrip(watch(pool, 'heartbeat'));
    }
  }
  expect(pool.stats().threads).toBe(1);
});

test('a thread that dies leaves a pool that gives up where no successor can be set up', async () => {
  let calls = 0;
  const pool = await open({
    setup: () => {
      calls += 1;
      if (calls > 1) throw new Error('the model is gone');
      return { data: {} };
    },
  });
  const actor = watch(pool, 'a');
  await roundTrip(actor);
  await endThread(pool);
  await actor.exit;
  expect(() => watch(pool, 'b')).toThrow(/the model is gone/);
});

test('a thread that dies leaves a pool that gives up where no new thread can load its entry', async () => {
  const pool = await open();
  await withBrokenEntry(async () => {
    const actor = watch(pool, 'a');
    await roundTrip(actor);
    await endThread(pool);
    const waiting = watch(pool, 'waiting');
    expect(await waiting.exit).toMatchObject({
      type: 'lost',
      detail: expect.stringContaining('this entry broke'),
    });
    expect(() => watch(pool, 'late')).toThrow(/this entry broke/);
  });
});

test('a thread that dies takes nothing with it where it ran out of memory', async () => {
  const pool = await open({ threads: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
  const [hungry, other] = [watch(pool, 'hungry'), watch(pool, 'other')];
  hungry.ref.tell({ do: 'out-of-memory' });
  const exit = await hungry.exit;
  expect(exit).toMatchObject({ type: 'lost', detail: expect.stringContaining('memory') });
  await roundTrip(other);
  await roundTrip(watch(pool, 'successor'));
});
