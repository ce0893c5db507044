import { expect, test } from 'vitest';
import type { Fault } from '../../src/base/fault.ts';
import {
  closedPools,
  openTestPool,
  roundTrip,
  settlesTo,
  watch,
} from '../support/actors-fixture.ts';

const open = closedPools();

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
  actor.ref.tell({ do: 'never-settle' });
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

test('an actor is asked once to let go, whether it is stopped, crashed or dropped, and not where it ended itself', async () => {
  const pool = await open();
  const names = ['stopped', 'crashed', 'late', 'dropped', 'ended'] as const;
  const [stopped, crashed, late, dropped, ended] = names.map((name) =>
    watch(pool, name, name === 'late' ? { onStart: 'released' } : {}),
  );
  stopped?.ref.stop('user');
  stopped?.ref.stop('user again');
  crashed?.ref.tell({ do: 'throw' });
  late?.ref.kill('before it had started');
  dropped?.ref.kill('after it had started');
  ended?.ref.tell({ do: 'exit' });
  await Promise.all([stopped?.exit, crashed?.exit, ended?.exit]);
  // What comes later than the kills on the same line: they have been heard.
  await roundTrip(watch(pool, 'after them'));
  await pool.control('release', () => ({ args: [] }));
  const [stops] = await pool.control('stops', () => ({ args: [] }));
  expect(stops).toEqual(['stopped: user', 'crashed: crashed', 'dropped: dropped', 'late: ended']);
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
