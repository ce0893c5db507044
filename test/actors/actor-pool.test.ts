import { afterEach, expect, test } from 'vitest';
import type { Fault } from '../../src/base/fault.ts';
import {
  activeResources,
  openTestPool,
  roundTrip,
  settlesTo,
  type TestPool,
  testThread,
  type Watched,
  watch,
} from '../support/actors-fixture.ts';
import type { HostSetupData } from '../support/threads/actors-host.ts';

const pools: TestPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

async function open(options?: Parameters<typeof openTestPool>[0]): Promise<TestPool> {
  const pool = await openTestPool(options);
  pools.push(pool);
  return pool;
}

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

test('the end of an actor is `normal` where it ends itself, after everything it told', async () => {
  const actor = watch(await open(), 'a');
  actor.ref.tell({ do: 'exit', saying: 'farewell' });
  actor.ref.tell({ do: 'echo', value: 'nobody is there' });
  expect(await actor.exit).toEqual({ type: 'normal' });
  expect(actor.heard).toEqual(['farewell']);
});

test('the end of an actor is `stopped` with the first reason where it was asked to stop, after its last words', async () => {
  const actor = watch(await open(), 'a', { onStop: 'say' });
  actor.ref.stop('user');
  actor.ref.stop('deadline');
  expect(await actor.exit).toEqual({ type: 'stopped', reason: 'user' });
  expect(actor.heard).toEqual(['stopping: user']);
});

test('an actor stops even where a message it received never settles', async () => {
  const actor = watch(await open(), 'a');
  actor.ref.tell({ do: 'never-settle' });
  actor.ref.stop('user');
  expect(await actor.exit).toEqual({ type: 'stopped', reason: 'user' });
});

test('a stop overtakes what still waits in the mailbox', async () => {
  const actor = watch(await open(), 'a');
  actor.ref.tell({ do: 'echo-later', value: 1 });
  for (let n = 0; n < 5; n += 1) actor.ref.tell({ do: 'echo', value: 'waits' });
  actor.ref.stop('user');
  await actor.exit;
  expect(actor.heard).toEqual([]);
});

test('the end of an actor is `stopped` for an actor that was asked while it was starting', async () => {
  const actor = watch(await open(), 'a', { onStart: 'later' });
  actor.ref.stop('changed my mind');
  expect(await actor.exit).toEqual({ type: 'stopped', reason: 'changed my mind' });
});

test('the end of an actor is `lost` at once for one that is dropped, though it would never stop', async () => {
  const pool = await open();
  const actor = watch(pool, 'a', { onStop: 'never' });
  await roundTrip(actor);
  actor.ref.stop('user');
  actor.ref.kill('it did not stop in time');
  expect(actor.exits).toEqual([{ type: 'lost', detail: 'it did not stop in time' }]);
  expect(pool.stats().actors).toBe(0);
});

test.each([
  ['throws while it starts', { onStart: 'throw' }, undefined, 'a cannot start'],
  ['throws while it receives', {}, { do: 'throw' }, 'thrown by the actor'],
  ['rejects while it receives', {}, { do: 'reject' }, 'rejected by the actor'],
] as const)(
  'the end of an actor is `crashed` for one that %s, and its siblings go on',
  async (_, init, deed, message) => {
    const pool = await open();
    const sibling = watch(pool, 'sibling');
    const actor = watch(pool, 'a', init);
    if (deed !== undefined) actor.ref.tell(deed);
    expect(await actor.exit).toMatchObject({
      type: 'crashed',
      fault: { code: 'actor.crashed', message, retry: 'never' },
    });
    await roundTrip(sibling);
  },
);

test('the end of an actor is `crashed` for one whose stop throws', async () => {
  const actor = watch(await open(), 'a', { onStop: 'throw' });
  actor.ref.stop('user');
  expect(await actor.exit).toMatchObject({ type: 'crashed', fault: { message: 'cannot stop' } });
});

test('T5: the end of an actor carries the code, the advice and the details of a fault across the thread', async () => {
  const actor = watch(await open(), 'a');
  actor.ref.tell({ do: 'throw-fault' });
  const fault = {
    code: 'model.timeout',
    message: 'a fault of its own',
    retry: 'safe',
    detail: { a: 1 },
  };
  expect(await actor.exit).toEqual({ type: 'crashed', fault });
});

test('the end of an actor is `crashed: mailbox.full` once more wait for it than it may have', async () => {
  const pool = await open({ data: { mailMax: 3 } });
  const [actor, sibling] = [watch(pool, 'a'), watch(pool, 'sibling')];
  actor.ref.tell({ do: 'never-settle' });
  for (let n = 0; n < 3; n += 1) actor.ref.tell({ do: 'echo', value: n });
  await roundTrip(sibling);
  expect(actor.exits).toEqual([]);
  actor.ref.tell({ do: 'echo', value: 'one too many' });
  expect(await actor.exit).toMatchObject({ fault: { code: 'mailbox.full' } });
});

test.each(['say-function', 'say-function-and-exit'] as const)(
  'what cannot be cloned ends the actor that tells it (%s) as `crashed`, whatever it did after, and nobody else',
  async (deed) => {
    const pool = await open();
    const sibling = watch(pool, 'sibling');
    const actor = watch(pool, 'a');
    actor.ref.tell({ do: deed });
    sibling.ref.tell({ do: 'echo', value: 'in the same batch' });
    expect(await actor.exit).toMatchObject({ type: 'crashed', fault: { code: 'channel.lost' } });
    await sibling.hears(1);
    expect(actor.heard).not.toContain('after');
    expect(actor.exits).toHaveLength(1);
  },
);

test('what cannot be cloned ends the actor it is told to where the owner does not mind it, and no other', async () => {
  const pool = await open();
  const [actor, sibling] = [watch(pool, 'a'), watch(pool, 'sibling')];
  actor.ref.tell({ do: 'echo', value: () => undefined });
  sibling.ref.tell({ do: 'echo', value: 1 });
  expect(await actor.exit).toMatchObject({ type: 'crashed', fault: { code: 'channel.lost' } });
  await sibling.hears(1);
});

test('what cannot be cloned goes back to an owner that takes it back, and the actor goes on', async () => {
  const pool = await open();
  let refusal: (refused: { body: unknown; fault: Fault }) => void = () => undefined;
  const refused = new Promise<{ body: unknown; fault: Fault }>((resolve) => {
    refusal = resolve;
  });
  const heard = new Promise((resolve) => {
    const ref = pool.spawn(
      'a',
      {},
      {
        receive: resolve,
        exited: resolve,
        refused: (body, fault) => refusal({ body, fault }),
      },
    );
    ref.tell({ do: 'echo', value: () => undefined });
    ref.tell({ do: 'echo', value: 'still here' });
  });
  expect((await refused).fault.code).toBe('channel.lost');
  expect(await heard).toBe('still here');
});

test('what cannot be cloned ends an actor as `crashed` whose first data it is', async () => {
  const actor = watch(await open(), 'a', { anything: () => undefined });
  expect(await actor.exit).toMatchObject({ type: 'crashed', fault: { code: 'channel.lost' } });
});

test('what cannot be cloned keeps a pool from opening where it is the host data', async () => {
  const data = { label: (() => undefined) as unknown as string };
  await expect(openTestPool({ data })).rejects.toThrow('could not be cloned');
  await settlesTo('MessagePort', 0);
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
