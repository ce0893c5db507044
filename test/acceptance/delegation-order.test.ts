import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { type Gate, gate } from '../support/model-server.ts';
import {
  calls,
  delegation,
  MODEL_LABEL,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  type StageOptions,
} from '../support/troupe-fixture.ts';

async function staged(options: StageOptions): Promise<Stage> {
  const stage = await openStage(options);
  onTestFinished(() => stage.close());
  return stage;
}

const ROOT_KINDS = ['delegation.started', 'delegation.completed'];

/** `started 1`, `completed 1`, … of a run, in the order of its journal. */
function moves(events: readonly JournalEvent[], runId: string): string[] {
  return ofType(ofRun(events, runId), ...ROOT_KINDS).map(
    ({ type, data }) => `${type.slice('delegation.'.length)} ${data['ordinal']}`,
  );
}

describe('many delegations at once', () => {
  it('D4, D3: 73 runs, eight wide and two deep, go through one actor thread, and every result is in call order', async () => {
    const stage = await staged({
      agents: { lead: {}, head: {}, worker: {} },
      troupe: { threads: 1, tools: [STAGE_TOOLS] },
    });
    const eight = (target: string, prefix: string) =>
      calls(...Array.from({ length: 8 }, (_, at) => delegation(target, `${prefix}${at}`)));
    const header = (agent: string) => `[Agent '${agent}' (${MODEL_LABEL})]\n`;
    const tops: string[][] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return eight('head', '');
        tops.push([...results]);
        return 'all done';
      },
      head: ({ turn, prompt, results }) =>
        turn === 1 ? eight('worker', prompt) : results.map((text) => text.split('\n')[1]).join(),
      worker: ({ prompt }) => `w${prompt}`,
    });
    const { outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'all done', turns: 2 });
    expect(ofType(events, 'run.started')).toHaveLength(73);
    expect(ofType(events, 'run.completed')).toHaveLength(73);
    const expected = Array.from({ length: 8 }, (_, top) => {
      const parts = Array.from({ length: 8 }, (_, at) => `w${top}${at}`);
      return `${header('head')}${parts.join()}`;
    });
    expect(tops).toEqual([expected]);
    expect(stage.troupe.stats().actorThreads).toBe(1);
  });

  it('D4: parents that wait on every level leave the one thread to the deepest child', async () => {
    const stage = await staged({
      agents: { lead: {}, head: {}, worker: {} },
      troupe: { threads: 1, tools: [STAGE_TOOLS] },
    });
    const shut = gate();
    stage.play({
      lead: [calls(delegation('head', 'a'), delegation('head', 'b')), 'done'],
      head: [calls(delegation('worker', 'a'), delegation('worker', 'b')), 'done'],
      worker: async ({ turn }) => {
        if (turn === 1) return calls({ name: 'where' });
        await shut.opened;
        return 'worked';
      },
    });
    const run = await stage.start('lead');
    const seen = new Set<string>();
    const reached = stage.sees((event) => {
      if (event.type === 'model.started' && event.run_id.split('/').length === 5) {
        if (event.data['turn'] === 2) seen.add(event.run_id);
      }
      return seen.size === 4;
    }, run.id);
    await reached;
    expect(stage.troupe.stats()).toMatchObject({ runs: 7, actors: 7, actorThreads: 1 });
    shut.open();
    expect((await run.result()).status).toBe('completed');
  });
});

describe('the order of the parent’s events', () => {
  /** Four children, two at a time, that end in the order the test opens them. */
  async function four(order: 'fifo' | 'eager') {
    const stage = await staged({
      agents: { lead: {}, worker: {} },
      runtime: { max_delegation_width: 2, delegation_order: order },
    });
    const gates: Record<string, Gate> = { a: gate(), b: gate(), c: gate(), d: gate() };
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(...['a', 'b', 'c', 'd'].map((p) => delegation('worker', p)));
        read = results;
        return 'done';
      },
      worker: async ({ prompt }) => {
        await gates[prompt]?.opened;
        return `did ${prompt}`;
      },
    });
    const run = await stage.start('lead');
    const asks = (prompt: string) =>
      stage.sees(
        (event) => event.type === 'run.started' && event.data['prompt'] === prompt,
        run.id,
      );
    const ends = (ordinal: number) =>
      stage.sees(
        (event) =>
          event.type === 'run.completed' && event.run_id === `${run.id}/delegate/0${ordinal}`,
        run.id,
      );
    return { stage, run, gates, asks, ends, read: () => read };
  }

  it('D3: fifo waits for its oldest child, though a later one ended first', async () => {
    const { stage, run, gates, asks, ends, read } = await four('fifo');
    await Promise.all([asks('a'), asks('b')]);
    gates['b']?.open();
    await ends(2);
    expect(moves(await stage.events(run.id), run.id)).toEqual(['started 1', 'started 2']);
    for (const prompt of ['d', 'c', 'a']) gates[prompt]?.open();
    const { events } = await stage.end(run);
    expect(moves(events, run.id)).toEqual([
      'started 1',
      'started 2',
      'completed 1',
      'started 3',
      'completed 2',
      'started 4',
      'completed 3',
      'completed 4',
    ]);
    expect(read().map((text) => text.split('\n')[1])).toEqual(['did a', 'did b', 'did c', 'did d']);
  });

  it('D3: eager gives the slot of any child that ended to the next', async () => {
    const { stage, run, gates, asks, read } = await four('eager');
    await Promise.all([asks('a'), asks('b')]);
    gates['b']?.open();
    await asks('c');
    gates['c']?.open();
    await asks('d');
    gates['d']?.open();
    await stage.sees(
      (event) => event.type === 'delegation.completed' && event.data['ordinal'] === 4,
      run.id,
    );
    gates['a']?.open();
    const { events } = await stage.end(run);
    expect(moves(events, run.id)).toEqual([
      'started 1',
      'started 2',
      'completed 2',
      'started 3',
      'completed 3',
      'started 4',
      'completed 4',
      'completed 1',
    ]);
    expect(read().map((text) => text.split('\n')[1])).toEqual(['did a', 'did b', 'did c', 'did d']);
  });
});

describe('a finish of many in one tick', () => {
  it('D3, R12: eight children that end together give eight results in call order and one end each', async () => {
    const stage = await staged({ agents: { lead: {}, worker: {} } });
    const shut = gate();
    let waiting = 0;
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(...Array.from({ length: 8 }, (_, at) => delegation('worker', `${at}`)));
        }
        read = results;
        return 'done';
      },
      worker: async ({ prompt }) => {
        waiting += 1;
        if (waiting === 8) shut.open();
        await shut.opened;
        return `did ${prompt}`;
      },
    });
    const { outcome, events } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(read.map((text) => text.split('\n')[1])).toEqual(
      Array.from({ length: 8 }, (_, at) => `did ${at}`),
    );
    expect(ofType(events, 'run.completed')).toHaveLength(9);
  });
});
