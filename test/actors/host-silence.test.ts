import { expect, test } from 'vitest';
import { closedPools, openTestPool, roundTrip, watch } from '../support/actors-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const open = closedPools();

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
