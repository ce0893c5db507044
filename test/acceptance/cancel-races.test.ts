import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CancelAnswer } from '../../src/run.ts';
import { audit } from '../support/sim-world.ts';
import {
  calls,
  delegate,
  delegation,
  ofRun,
  ofType,
  openStage,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ agents: { lead: {}, worker: {} }, troupe: { threads: 2 } });
});

afterAll(() => stage.close());

describe('cancel against everything else', () => {
  /** Lets `turns` turns of the event loop go by. */
  async function loopTurns(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  }

  /** Cancels `runId` at the first piece of its answer: in that very tick, or so many turns of the loop later. */
  function cancelAtAnswer(runId: string, turnsLater: number): Promise<CancelAnswer | undefined> {
    return new Promise((resolve) => {
      const heard = (delta: { readonly runId: string }) => {
        if (delta.runId !== runId) return;
        stage.troupe.off('delta', heard);
        const cancel = () => resolve(stage.troupe.run(runId)?.cancel('too slow'));
        if (turnsLater === 0) cancel();
        else void loopTurns(turnsLater).then(cancel);
      };
      stage.troupe.on('delta', heard);
    });
  }

  it('R13: against a finish at the same time one of both wins, whole, in 60 meetings', async () => {
    stage.play({ lead: 'finished' });
    for (let round = 0; round < 60; round += 1) {
      const run = await stage.start('lead');
      const said = await cancelAtAnswer(run.id, round % 6);
      const { outcome, events } = await stage.end(run);
      audit(events);
      // In the very tick of the first piece the answer is not complete: the cancel came first.
      if (round % 6 === 0) expect(outcome.status).toBe('cancelled');
      if (outcome.status === 'completed') {
        expect(outcome.answer).toBe('finished');
        expect([undefined, 'already ended']).toContain(said);
      } else {
        expect(outcome).toMatchObject({ status: 'cancelled', answer: '', reason: 'too slow' });
        expect(said).toBe('cancelled');
      }
      expect(events.at(-1)?.type).toBe(`run.${outcome.status}`);
    }
  });

  it('R13: a child cancelled as it ends is to its parent what its journal says, in 40 meetings', async () => {
    let read = '';
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return delegate('worker', 'x');
        read = results[0] ?? '';
        return 'done';
      },
      worker: 'finished',
    });
    for (let round = 0; round < 40; round += 1) {
      const run = await stage.start('lead');
      const child = `${run.id}/delegate/01`;
      await cancelAtAnswer(child, round % 5);
      const { events, outcome } = await stage.end(run);
      expect(outcome.status).toBe('completed');
      const end = ofRun(events, child).at(-1)?.type;
      if (round % 5 === 0) expect(end).toBe('run.cancelled');
      expect(read).toContain(end === 'run.completed' ? 'finished' : 'was cancelled: too slow');
      expect(ofType(events, 'delegation.completed')[0]?.data['child_status']).toBe(end?.slice(4));
    }
  });

  it('N2: a parent cancelled while it launches leaves no orphan, and ends last, in 60 meetings', async () => {
    stage.play({
      lead: { text: 'I ask', ...calls(...[1, 2, 3].map((n) => delegation('worker', `${n}`))) },
      worker: { hang: true },
    });
    for (let round = 0; round < 60; round += 1) {
      const run = await stage.start('lead');
      await cancelAtAnswer(run.id, round % 20);
      const { outcome, events } = await stage.end(run);
      audit(events);
      expect(outcome.status).toBe('cancelled');
      expect(events.at(-1)).toMatchObject({ run_id: run.id, type: 'run.cancelled' });
      expect(ofType(events, 'run.started').length).toBeLessThanOrEqual(4);
    }
    await stage.quiet();
  });

  it('N2: a parent cancelled in the tick that admits its children starts none of them', async () => {
    stage.play({
      lead: calls(...[1, 2, 3].map((n) => delegation('worker', `${n}`))),
      worker: { hang: true },
    });
    const before = stage.requestsOf('worker').length;
    const run = await stage.start('lead');
    // The launch waits for the disk; the listener of that very commit comes before it.
    const unsubscribe = stage.troupe.journal.subscribe((committed) => {
      if (committed.some(({ type }) => type === 'model.completed')) void run.cancel('stop');
    });
    const { outcome, events } = await stage.end(run);
    unsubscribe();
    expect(outcome.status).toBe('cancelled');
    expect(ofType(events, 'delegation.started')).toHaveLength(3);
    expect(ofType(events, 'run.started')).toHaveLength(1);
    expect(stage.requestsOf('worker')).toHaveLength(before);
    const ends = ofType(events, 'delegation.completed').map(({ data }) => data['child_status']);
    expect(ends).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
});
