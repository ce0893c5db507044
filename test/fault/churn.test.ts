import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activeResources } from '../support/actors-fixture.ts';
import { gate } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import { calls, delegation, eventually, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, worker: {} },
    risk: { max_actions_per_hour: 100_000 },
    troupe: { threads: 2 },
  });
});

afterAll(() => stage.close());

/** A tree of nine: a lead and eight workers that wait; `act` happens once all have asked. */
async function treeOfNine(act: (runId: string) => Promise<void>): Promise<void> {
  let asked = 0;
  const all = gate();
  stage.play({
    lead: calls(...Array.from({ length: 8 }, (_, at) => delegation('worker', `${at}`))),
    worker: () => {
      asked += 1;
      if (asked === 8) all.open();
      return { hang: true };
    },
  });
  const run = await stage.start('lead');
  await all.opened;
  await act(run.id);
}

const cancelTree = async (runId: string): Promise<void> => {
  await stage.troupe.run(runId)?.cancel('enough');
};

/** What keeps the process alive, without the sockets that client and server keep open for the next request. */
function held(): Record<string, number> {
  const { TCPSocketWrap: _sockets, Timeout: _timers, ...rest } = activeResources();
  return rest;
}

describe('coming and going', () => {
  it('N2: 200 trees of nine that are spawned and cancelled leave no run, actor, thread, listener or handle behind', async () => {
    for (let round = 0; round < 10; round += 1) await treeOfNine(cancelTree);
    await stage.quiet();
    const before = {
      stats: stage.troupe.stats(),
      held: held(),
      listeners: process.eventNames().length,
    };
    for (let round = 0; round < 200; round += 1) await treeOfNine(cancelTree);
    await stage.quiet();
    await eventually(() => {
      expect({
        stats: stage.troupe.stats(),
        held: held(),
        listeners: process.eventNames().length,
      }).toEqual(before);
    });
    const sockets = activeResources()['TCPSocketWrap'] ?? 0;
    expect(sockets, 'aborted requests close their sockets').toBeLessThan(40);
  }, 60_000);

  it('N2: a cancel at a random moment of the same tree leaves a journal that holds together', async () => {
    stage.play({
      lead: ({ turn }) =>
        turn === 1
          ? calls(...Array.from({ length: 8 }, (_, at) => delegation('worker', `${at}`)))
          : 'done',
      worker: 'worked',
    });
    for (let round = 0; round < 60; round += 1) {
      const run = await stage.start('lead');
      let left = round % 30;
      const unsubscribe = stage.troupe.journal.subscribe((events) => {
        left -= events.length;
        if (left <= 0) void run.cancel('by chance');
      });
      await run.result();
      unsubscribe();
      audit(await stage.events(run.id));
    }
    await stage.quiet();
  });
});
