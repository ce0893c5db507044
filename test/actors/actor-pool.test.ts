import { expect, test } from 'vitest';
import {
  activeResources,
  closedPools,
  openTestPool,
  roundTrip,
  settlesTo,
  type TestPool,
  testThread,
  type Watched,
  watch,
} from '../support/actors-fixture.ts';
import type { HostSetupData } from '../support/threads/actors-host.ts';

const open = closedPools();

function watchMany(pool: TestPool, count: number, prefix = 'actor'): Watched[] {
  return Array.from({ length: count }, (_, n) => watch(pool, `${prefix}-${n}`));
}

test('an actor gets what it is told, in order, and its owner what it tells', async () => {
  const actor = watch(await open(), 'a');
  for (let n = 0; n < 1000; n += 1) actor.ref.tell({ do: 'echo', value: n });
  await actor.hears(1000);
  expect(actor.heard).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

test('each of many actors keeps its own order while all are told at once', async () => {
  const actors = watchMany(await open({ threads: 2 }), 40);
  for (let n = 0; n < 50; n += 1) {
    for (const [at, { ref }] of actors.entries()) ref.tell({ do: 'echo', value: [at, n] });
  }
  await Promise.all(actors.map((actor) => actor.hears(50)));
  for (const [at, { heard }] of actors.entries()) {
    expect(heard).toEqual(Array.from({ length: 50 }, (_, n) => [at, n]));
  }
});

test('an actor that is busy with one message gets the next one only after it', async () => {
  const actor = watch(await open(), 'a');
  actor.ref.tell({ do: 'echo-later', value: 'first' });
  actor.ref.tell({ do: 'echo', value: 'second' });
  await actor.hears(2);
  expect(actor.heard).toEqual(['first', 'second']);
});

test('an actor that starts later gets what it was told meanwhile', async () => {
  const actor = watch(await open(), 'a', { onStart: 'later' });
  actor.ref.tell({ do: 'echo', value: 1 });
  await actor.hears(1);
  expect(actor.heard).toEqual([1]);
});

test('one thread runs eight actors that each start two more and wait for them (SPEC D4)', async () => {
  const pool = await open();
  const answers = await Promise.all(
    watchMany(pool, 8, 'child').map(async (child, n) => {
      await roundTrip(child);
      const grandchildren = watchMany(pool, 2, `grandchild-${n}`);
      await Promise.all(grandchildren.map(roundTrip));
      for (const { ref } of grandchildren) ref.tell({ do: 'exit', saying: 'done' });
      await Promise.all(grandchildren.map((grandchild) => grandchild.exit));
      child.ref.tell({ do: 'exit', saying: grandchildren.map(({ heard }) => heard.at(-1)) });
      await child.exit;
      return child.heard.at(-1);
    }),
  );
  expect(answers).toEqual(Array.from({ length: 8 }, () => ['done', 'done']));
  expect(pool.stats()).toEqual({ threads: 1, actors: 0 });
});

test('actors are placed where the fewest are', async () => {
  const pool = await open({ threads: 2 });
  const actors = watchMany(pool, 6);
  expect(actors.map(({ ref }) => ref.hostIndex)).toEqual([0, 1, 0, 1, 0, 1]);
  for (const actor of actors) if (actor.ref.hostIndex === 1) actor.ref.tell({ do: 'exit' });
  await Promise.all(actors.filter(({ ref }) => ref.hostIndex === 1).map(({ exit }) => exit));
  expect(watchMany(pool, 3, 'later').map(({ ref }) => ref.hostIndex)).toEqual([1, 1, 1]);
});

test('10,000 actors spawned and ended leave threads, ports and handles as they were', async () => {
  const pool = await open({ threads: 2 });
  const handlesOf = (): Promise<unknown> => pool.control('handles', () => ({ args: [] }));
  const portsHere = (): number => activeResources()['MessagePort'] ?? 0;
  const before = { here: portsHere(), there: await handlesOf(), ids: pool.threadIds() };
  const actors = watchMany(pool, 10_000);
  for (const [n, { ref }] of actors.entries()) {
    if (n % 2 === 0) ref.stop('enough');
    else ref.tell({ do: 'exit' });
  }
  await Promise.all(actors.map((actor) => actor.exit));
  expect(actors.every(({ exits }) => exits.length === 1)).toBe(true);
  expect(pool.stats()).toEqual({ threads: 2, actors: 0 });
  expect(await handlesOf()).toEqual(before.there);
  expect(pool.threadIds()).toEqual(before.ids);
  expect(portsHere()).toBe(before.here);
});

test('the same id may live twice, and mail of a dropped life never reaches the next one', async () => {
  const pool = await open();
  const first = watch(pool, 'a');
  first.ref.tell({ do: 'echo', value: 'for the first' });
  first.ref.kill('replaced');
  const second = watch(pool, 'a');
  first.ref.tell({ do: 'echo', value: 'still for the first' });
  second.ref.tell({ do: 'echo', value: 'for the second' });
  await second.hears(1);
  expect(second.heard).toEqual(['for the second']);
  expect(first.heard).toEqual([]);
  expect(first.exits).toEqual([{ type: 'lost', detail: 'replaced' }]);
});

test.each([
  ['setup throws', { data: { failSetup: 'no model port' } }, 'no model port'],
  ['setup ends the thread', { data: { exitOnSetup: 9 } }, 'exited with code 9'],
  ['entry cannot be loaded', { entry: testThread('actors-broken') }, 'cannot be loaded'],
  ['entry serves nothing', { entry: testThread('actors-service') }, 'host 0'],
  ['host never comes up', { data: { neverUp: true }, readyTimeoutMs: 50 }, 'within 50 ms'],
])('a pool whose %s does not open, says why and leaves no thread', async (_, options, why) => {
  const opening = openTestPool({ threads: 2, ...options });
  await expect(opening).rejects.toMatchObject({ code: 'actor.not-ready' });
  await expect(opening).rejects.toThrow(why);
  await settlesTo('MessagePort', 0);
});

test('every host is set up with what was made for its index, transferred parts included', async () => {
  const seen: number[] = [];
  const pool = await open({
    threads: 2,
    setup: (hostIndex) => {
      seen.push(hostIndex);
      const data: HostSetupData = { label: `host ${hostIndex}` };
      const buffer = new ArrayBuffer(8);
      return { data: { ...data, buffer }, transfer: [buffer] };
    },
  });
  expect(seen).toEqual([0, 1]);
  expect(await pool.control('label', () => ({ args: [] }))).toEqual(['host 0', 'host 1']);
});

test('closing stops every actor, tells its owner, and leaves no thread and no port', async () => {
  await settlesTo('MessagePort', 0);
  const pool = await openTestPool({ threads: 2 });
  const actors = Array.from({ length: 20 }, (_, n) => watch(pool, `a${n}`, { onStop: 'say' }));
  await pool.close();
  expect(pool.stats()).toEqual({ threads: 0, actors: 0 });
  for (const { exits, heard } of actors) {
    expect(exits).toEqual([{ type: 'stopped', reason: 'the pool closes' }]);
    expect(heard).toEqual(['stopping: the pool closes']);
  }
  await settlesTo('MessagePort', 0);
  await settlesTo('Worker', 0);
});

test('closing twice is closing once, and a closed pool takes no actor', async () => {
  const pool = await openTestPool();
  const [first, second] = [pool.close(), pool.close()];
  expect(second).toBe(first);
  await first;
  await pool.close();
  expect(() => watch(pool, 'a')).toThrow(expect.objectContaining({ code: 'pool.closed' }));
});

test('closing does not wait for ever for an actor that never stops', async () => {
  const pool = await openTestPool({ closeTimeoutMs: 20 });
  const actor = watch(pool, 'a', { onStop: 'never' });
  await roundTrip(actor);
  await pool.close();
  expect(actor.exits).toMatchObject([{ type: 'lost' }]);
  expect(pool.stats()).toEqual({ threads: 0, actors: 0 });
});

test('closing ends a host whose own closing fails', async () => {
  const pool = await openTestPool({ data: { failClose: true } });
  await pool.close();
  expect(pool.stats().threads).toBe(0);
});
