import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import {
  openTestPool,
  roundTrip,
  type TestPool,
  type Watched,
  watch,
} from '../support/actors-fixture.ts';
import type { StrayKind } from '../support/threads/actors-host.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const pools: TestPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

async function open(options?: Parameters<typeof openTestPool>[0]): Promise<TestPool> {
  const pool = await openTestPool(options);
  pools.push(pool);
  return pool;
}

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
  await new Promise((resolve) => process.nextTick(resolve));
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

test('a thread that dies takes nothing with it where it ran out of memory', async () => {
  const pool = await open({ threads: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
  const [hungry, other] = [watch(pool, 'hungry'), watch(pool, 'other')];
  hungry.ref.tell({ do: 'out-of-memory' });
  const exit = await hungry.exit;
  expect(exit).toMatchObject({ type: 'lost', detail: expect.stringContaining('memory') });
  await roundTrip(other);
  await roundTrip(watch(pool, 'successor'));
});

const attributable: StrayKind[] = [
  'timer',
  'immediate',
  'next-tick',
  'rejection',
  'detached',
  'emitter',
  'file',
];

test.each(attributable)(
  'a stray exception of kind %s ends the actor it came from, and no sibling',
  async (kind) => {
    const pool = await open();
    const sibling = watch(pool, 'sibling');
    const actor = watch(pool, 'a');
    const ids = pool.threadIds();
    actor.ref.tell({ do: 'stray', kind });
    expect(await actor.exit).toMatchObject({
      type: 'crashed',
      fault: { code: 'actor.crashed', message: 'stray' },
    });
    await roundTrip(sibling);
    expect(sibling.exits).toEqual([]);
    expect(pool.threadIds()).toEqual(ids);
  },
);

test('a stray exception that names no actor ends the host, which says why, and a new one takes its place', async () => {
  const pool = await open();
  const sibling = watch(pool, 'sibling');
  const actor = watch(pool, 'a');
  const ids = pool.threadIds();
  actor.ref.tell({ do: 'echo', value: 'heard' });
  actor.ref.tell({ do: 'stray', kind: 'microtask' });
  const detail = 'host 0: an exception that belongs to no actor: stray';
  expect(await actor.exit).toEqual({ type: 'lost', detail });
  expect(await sibling.exit).toEqual({ type: 'lost', detail });
  expect(actor.heard).toEqual(['heard']);
  await roundTrip(watch(pool, 'successor'));
  expect(pool.threadIds()).not.toEqual(ids);
});

test('a stray exception of an actor that has ended already harms nobody', async () => {
  const pool = await open();
  const sibling = watch(pool, 'sibling');
  const actor = watch(pool, 'a');
  actor.ref.tell({ do: 'stray', kind: 'timer' });
  actor.ref.tell({ do: 'stray', kind: 'immediate' });
  actor.ref.tell({ do: 'exit' });
  await actor.exit;
  for (let n = 0; n < 20; n += 1) await roundTrip(sibling);
  expect(sibling.exits).toEqual([]);
  expect(actor.exits).toEqual([{ type: 'normal' }]);
});

test('a silent host that never yields is found by its heartbeat, terminated and replaced', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock });
  const sibling = watch(pool, 'sibling');
  await roundTrip(sibling);
  const spinning = watch(pool, 'spinning', { onStart: 'spin' });
  for (let beat = 0; beat < 5; beat += 1) clock.turn(1_000);
  expect(sibling.exits).toEqual([]);
  clock.turn(1_000);
  const exits = await Promise.all([sibling.exit, spinning.exit]);
  for (const exit of exits) {
    expect(exit).toMatchObject({ type: 'lost', detail: expect.stringContaining('5 heartbeats') });
  }
  await roundTrip(watch(pool, 'successor'));
  expect(pool.stats()).toEqual({ threads: 1, actors: 1 });
});

test('a host that answers its heartbeats is never terminated', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock });
  const actor = watch(pool, 'a');
  const ids = pool.threadIds();
  for (let beat = 0; beat < 20; beat += 1) {
    clock.turn(1_000);
    await roundTrip(actor);
  }
  expect(actor.exits).toEqual([]);
  expect(pool.threadIds()).toEqual(ids);
});

test('a silent host that hangs in the start of an actor ends that one as `not-ready`, those before it as `lost` (SPEC R11)', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock, heartbeatMs: 60_000 });
  const earlier = watch(pool, 'earlier');
  await roundTrip(earlier);
  const spinning = watch(pool, 'spinning', { onStart: 'spin' });
  clock.turn(9_999);
  expect(spinning.exits).toEqual([]);
  clock.turn(1);
  expect(await spinning.exit).toMatchObject({
    type: 'not-ready',
    detail: expect.stringContaining('10000 ms'),
  });
  expect(await earlier.exit).toMatchObject({ type: 'lost' });
  await roundTrip(watch(pool, 'successor'));
});

test('an actor that is slow to start on a host that speaks is dropped alone, as `not-ready`', async () => {
  const clock = new TurnedClock();
  const pool = await open({ clock });
  const sibling = watch(pool, 'sibling');
  const ids = pool.threadIds();
  const slow = watch(pool, 'slow', { onStart: 'never' });
  for (let beat = 0; beat < 10; beat += 1) {
    clock.turn(1_000);
    await roundTrip(sibling);
  }
  expect(slow.exits).toMatchObject([{ type: 'not-ready' }]);
  expect(sibling.exits).toEqual([]);
  expect(pool.threadIds()).toEqual(ids);
});

test('a closed pool leaves no timer behind', async () => {
  const clock = new TurnedClock();
  const pool = await openTestPool({ clock, threads: 2 });
  await roundTrip(watch(pool, 'a'));
  await pool.close();
  expect(clock.waiting).toBe(0);
});

test('control calls reach every host with arguments of its own, and transfer what they list', async () => {
  const pool = await open({ threads: 2 });
  const sums = await pool.control('add', (hostIndex) => ({ args: [hostIndex, 10] }));
  expect(sums).toEqual([10, 11]);
  const heard: Promise<unknown>[] = [];
  await pool.control('answer-on', () => {
    const { port1, port2 } = new MessageChannel();
    heard.push(
      new Promise((resolve) => {
        port1.once('message', resolve);
      }),
    );
    return { args: [port2], transfer: [port2] };
  });
  expect(await Promise.all(heard)).toEqual(['hello', 'hello']);
});

test('T3: control calls reject once the thread has exited under them, and call its successor after', async () => {
  const pool = await open();
  const hanging = pool.control('hang', () => ({ args: [] }));
  const ending = pool.control('exit-thread', () => ({ args: [7] }));
  for (const call of [hanging, ending]) {
    await expect(call).rejects.toMatchObject({
      code: 'channel.lost',
      message: expect.stringContaining('exited with code 7'),
    });
  }
  expect(await pool.control('add', () => ({ args: [1, 2] }))).toEqual([3]);
});

test('T5: control calls reject with the fault that was thrown, its code and details included', async () => {
  const pool = await open();
  await expect(pool.control('throw-fault', () => ({ args: [] }))).rejects.toMatchObject({
    code: 'model.timeout',
    retry: 'safe',
    detail: { a: 1 },
  });
});

test('T4: control calls of a name that is not listed are refused', async () => {
  const pool = await open();
  for (const name of ['constructor', 'toString', '__proto__', 'close', 'start']) {
    await expect(pool.control(name, () => ({ args: [] }))).rejects.toThrow('refused');
  }
});

test('T6: control calls refuse an AbortSignal, which would arrive dead', async () => {
  const pool = await open();
  const call = pool.control('add', () => ({ args: [new AbortController().signal] }));
  await expect(call).rejects.toMatchObject({ code: 'argument.invalid' });
});

test('control calls reject with what is wrong where an argument cannot be cloned, and work after that', async () => {
  const pool = await open();
  const call = pool.control('add', () => ({ args: [() => undefined] }));
  await expect(call).rejects.toMatchObject({ code: 'channel.lost' });
  expect(await pool.control('add', () => ({ args: [1, 2] }))).toEqual([3]);
});
