import { expect, test } from 'vitest';
import { closedPools, roundTrip, watch } from '../support/actors-fixture.ts';
import type { StrayKind } from '../support/threads/actors-host.ts';

const open = closedPools();

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
  actor.ref.tell({ do: 'stray', kind: 'microtask', saying: 'just before' });
  const detail = 'host 0: an exception that belongs to no actor: stray';
  expect(await actor.exit).toEqual({ type: 'lost', detail });
  expect(await sibling.exit).toEqual({ type: 'lost', detail });
  expect(actor.heard).toEqual(['just before']);
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
