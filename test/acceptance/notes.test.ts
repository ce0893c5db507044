import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { type Gate, gate } from '../support/model-server.ts';
import {
  calls,
  delegate,
  delegation,
  type Moment,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, head: {}, worker: {}, brief: { max_turns: 1 } },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const asked = (runId: string) =>
  stage.sees((event) => event.type === 'model.started' && event.run_id === runId, runId);

const noted = (events: readonly JournalEvent[], runId: string) =>
  ofType(ofRun(events, runId), 'run.user_note').map(({ data }) => data);

/** What a run's model was told by people, without its prompt. */
function told(moment: Moment): string[] {
  return moment.request.messages
    .filter(({ role }) => role === 'user')
    .slice(1)
    .map(({ content }) => content ?? '');
}

/** An agent that first uses a tool once `shut` opens, and then ends; keeps what its second turn was told. */
function twoTurns(shut: Gate, heard: Record<string, string[]>) {
  return async (moment: Moment) => {
    if (moment.turn === 1) {
      await shut.opened;
      return calls({ name: 'say', args: { text: 'x' } });
    }
    heard[moment.prompt] = told(moment);
    return `end of ${moment.prompt}`;
  };
}

describe('a note', () => {
  it('N1: is in the history of the next turn, after the results, and its receipt says which turn read it', async () => {
    const shut = gate();
    const heard: Record<string, string[]> = {};
    stage.play({ lead: twoTurns(shut, heard) });
    const run = await stage.start('lead', 'go');
    await asked(run.id);
    const first = await run.note('look left');
    const second = await run.note('then right');
    shut.open();
    expect(await first.receipts).toEqual([{ run_id: run.id, outcome: 'read', turn: 2 }]);
    expect(await second.receipts).toEqual([{ run_id: run.id, outcome: 'read', turn: 2 }]);
    const { events } = await stage.end(run);
    expect(heard['go']).toEqual(['look left', 'then right']);
    const roles = stage
      .requestsOf('lead')
      .at(-1)
      ?.messages.map(({ role }) => role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'user']);
    expect(noted(events, run.id)).toEqual([
      { note_id: first.noteId, text: 'look left', forwarded_to: [], forward_failed: [] },
      { note_id: second.noteId, text: 'then right', forwarded_to: [], forward_failed: [] },
    ]);
  });

  it('N1: reaches every run below one that is blocked on children, and there is a receipt of each', async () => {
    const shut = gate();
    const heard: Record<string, string[]> = {};
    stage.play({
      lead: (moment) => {
        if (moment.turn === 1) return calls(delegation('head', 'h'), delegation('worker', 'w1'));
        heard['lead'] = told(moment);
        return 'done';
      },
      head: (moment) => {
        if (moment.turn === 1) return delegate('worker', 'w2');
        heard['head'] = told(moment);
        return 'done';
      },
      worker: twoTurns(shut, heard),
    });
    const run = await stage.start('lead');
    const ids = [
      `${run.id}/delegate/01`,
      `${run.id}/delegate/02`,
      `${run.id}/delegate/01/delegate/01`,
    ];
    await Promise.all(ids.map(asked));
    const { noteId, receipts } = await run.note('everybody look up');
    shut.open();
    const { events } = await stage.end(run);
    for (const who of ['lead', 'head', 'w1', 'w2']) {
      expect(heard[who], who).toEqual(['everybody look up']);
    }
    expect((await receipts).map(({ run_id, outcome }) => `${run_id} ${outcome}`).sort()).toEqual(
      [run.id, ...ids].map((id) => `${id} read`).sort(),
    );
    expect(noted(events, run.id)[0]).toMatchObject({
      note_id: noteId,
      forwarded_to: [ids[0], ids[1]],
      forward_failed: [],
    });
    expect(noted(events, ids[0] ?? '')[0]).toMatchObject({
      note_id: noteId,
      forwarded_to: [ids[2]],
    });
    const byId = new Map(events.map((event) => [event.event_id, event]));
    for (const id of ids) {
      const [copy] = ofType(ofRun(events, id), 'run.user_note');
      expect(
        byId.get(copy?.parent_event_id ?? '')?.type,
        'a forwarded note follows from a note',
      ).toBe('run.user_note');
    }
  });

  it('N1: that comes during the last turn is too late, and one to a cancelled run is a dead letter', async () => {
    const shut = gate();
    stage.play({
      lead: async () => {
        await shut.opened;
        return 'the end';
      },
    });
    const run = await stage.start('lead');
    await asked(run.id);
    const late = await run.note('wait');
    shut.open();
    expect(await late.receipts).toEqual([{ run_id: run.id, outcome: 'too_late', turn: null }]);
    stage.play({ lead: { hang: true } });
    const doomed = await stage.start('lead');
    await asked(doomed.id);
    const dead = await doomed.note('wait');
    await doomed.cancel();
    expect(await dead.receipts).toEqual([
      { run_id: doomed.id, outcome: 'dead_letter', turn: null },
    ]);
  });

  it('N1: to a child that ended while its parent still waits for an older one has failed to be forwarded, and is not lost', async () => {
    const shut = gate();
    const heard: Record<string, string[]> = {};
    stage.play({
      lead: (moment) => {
        if (moment.turn === 1) return calls(delegation('worker', 'w1'), delegation('brief', 'b'));
        heard['lead'] = told(moment);
        return 'done';
      },
      worker: twoTurns(shut, heard),
      brief: 'ended already',
    });
    const run = await stage.start('lead');
    const [first, second] = [`${run.id}/delegate/01`, `${run.id}/delegate/02`];
    await asked(first);
    await stage.sees(({ type, run_id }) => type === 'run.completed' && run_id === second, run.id);
    const { receipts } = await run.note('hear this');
    shut.open();
    const { events } = await stage.end(run);
    expect(noted(events, run.id)[0]).toMatchObject({
      forwarded_to: [first],
      forward_failed: [second],
    });
    expect(await receipts).toEqual(
      expect.arrayContaining([
        { run_id: second, outcome: 'forward_failed', turn: null },
        { run_id: first, outcome: 'read', turn: 2 },
        { run_id: run.id, outcome: 'read', turn: 2 },
      ]),
    );
    expect(heard).toEqual({ lead: ['hear this'], w1: ['hear this'] });
    expect(ofType(ofRun(events, run.id), 'delegation.failed')).toEqual([]);
  });

  it('N1: to a child that ends in the same tick has one receipt of every run it was sent to, in 40 meetings', async () => {
    stage.play({ lead: [delegate('worker', 'w'), 'done'], worker: 'finished' });
    for (let round = 0; round < 40; round += 1) {
      const run = await stage.start('lead');
      const child = `${run.id}/delegate/01`;
      const sent = await new Promise<Awaited<ReturnType<typeof run.note>> | null>((resolve) => {
        const heard = (delta: { readonly runId: string }) => {
          if (delta.runId !== child) return;
          stage.troupe.off('delta', heard);
          const note = () => resolve(run.note('psst').catch(() => null));
          if (round % 4 === 0) note();
          else void Promise.resolve().then(() => setImmediate(note));
        };
        stage.troupe.on('delta', heard);
      });
      const { outcome, events } = await stage.end(run);
      expect(outcome.status).toBe('completed');
      if (sent === null) continue;
      const receipts = await sent.receipts;
      const note = noted(events, run.id)[0] ?? {};
      const went = [
        run.id,
        ...(note['forwarded_to'] as string[]),
        ...(note['forward_failed'] as string[]),
      ];
      expect(receipts.map(({ run_id }) => run_id).sort()).toEqual(went.sort());
      if (round % 4 === 0) expect(note['forwarded_to']).toEqual([child]);
    }
  });

  it('N1: to an ended run is refused at once, and an empty or a huge one always', async () => {
    stage.play({ lead: 'done' });
    const { run, events } = await stage.run('lead');
    await expect(run.note('hello')).rejects.toMatchObject({ code: 'run.ended' });
    await expect(run.note('  ')).rejects.toMatchObject({ code: 'argument.invalid' });
    await expect(run.note(undefined as never)).rejects.toMatchObject({ code: 'argument.invalid' });
    await expect(run.note('x'.repeat(64_001))).rejects.toMatchObject({
      code: 'argument.invalid',
      message: 'the note has 64001 characters, at most 64000; put it into a file and name that',
    });
    expect(await stage.events(run.id)).toEqual(events);
  });

  it('R11: beyond 1000 unread ones is refused, and those before it are read', async () => {
    const shut = gate();
    const heard: Record<string, string[]> = {};
    stage.play({ lead: twoTurns(shut, heard) });
    const run = await stage.start('lead', 'many');
    await asked(run.id);
    const sent = await Promise.all(Array.from({ length: 1000 }, (_, at) => run.note(`note ${at}`)));
    await expect(run.note('one more')).rejects.toMatchObject({ code: 'mailbox.full' });
    shut.open();
    expect((await run.result()).status).toBe('completed');
    expect(heard['many']).toEqual(sent.map((_, at) => `note ${at}`));
    const receipts = await Promise.all(sent.map((note) => note.receipts));
    expect(receipts.flat().every(({ outcome }) => outcome === 'read')).toBe(true);
  });
});
