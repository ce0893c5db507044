import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_TYPES, type JournalEvent } from '../../src/runtime/core/event.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import {
  calls,
  delegate,
  delegation,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;
/** What was committed when the tool, or the child's model, was reached. */
let committedAt: Record<string, number> = {};

const notesCommit = defineTool({
  name: 'notes_commit',
  description: 'notes how far the journal was',
  parameters: { type: 'object' },
  effect: 'effectful',
  run: () => {
    committedAt['tool'] = stage.troupe.journal.lastSeq;
    return 'noted';
  },
});

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: { delegates: ['asked'] },
      worker: {},
      asked: { risk_profile: 'asked' },
      brief: { max_turns: 1 },
    },
    blocks: {
      risk_profiles: {
        asked: { always_ask: ['say'], autonomy: 'full', delegation_policy: { mode: 'allow' } },
      },
    },
    troupe: {
      threads: 1,
      tools: [STAGE_TOOLS],
      hostTools: [notesCommit],
      onApproval: ({ args }) => args['text'] === 'yes',
    },
  });
});

afterAll(() => stage.close());

/** A story in which nearly everything happens. */
async function story(): Promise<{ events: readonly JournalEvent[]; runId: string }> {
  stage.play({
    lead: ({ turn, prompt }) => {
      if (prompt === 'sub') return 'sub done';
      if (turn === 1) {
        return calls(
          delegation('worker', 'a'),
          delegation('asked', 'b'),
          delegation('brief', 'c'),
          { name: 'spawn_subagent', args: { prompt: 'sub' } },
          { name: 'breaks_off' },
          { name: 'say', args: { text: 'x' } },
        );
      }
      return 'done';
    },
    worker: ({ turn }) => (turn === 1 ? delegate('brief', 'deep') : { status: 400 }),
    asked: ({ turn }) =>
      turn === 1
        ? calls({ name: 'say', args: { text: 'yes' } }, { name: 'say', args: { text: 'no' } })
        : 'x',
    brief: calls({ name: 'say', args: { text: 'more' } }),
  });
  const run = await stage.start('lead');
  await run.note('a note');
  const { events } = await stage.end(run);
  return { events, runId: run.id };
}

describe('the journal of a tree', () => {
  it('J1: from every event one walks back to the start of the root, over runs and frames', async () => {
    const { events, runId } = await story();
    const byId = new Map(events.map((event) => [event.event_id, event]));
    for (const event of events) {
      let here: JournalEvent | undefined = event;
      let steps = 0;
      while (here !== undefined && here.parent_event_id !== null && steps < 200) {
        const cause: JournalEvent | undefined = byId.get(here.parent_event_id);
        expect(cause?.seq ?? Number.POSITIVE_INFINITY, `cause of ${here.event_id}`).toBeLessThan(
          here.seq,
        );
        here = cause;
        steps += 1;
      }
      expect(here, `origin of ${event.event_id}`).toMatchObject({
        type: 'run.started',
        run_id: runId,
        parent_run_id: null,
      });
    }
  });

  it('J1: a child starts from the delegation.started that names it, and that leads forward to its whole story', async () => {
    const { events } = await story();
    const launches = ofType(events, 'delegation.started');
    expect(launches).toHaveLength(5);
    for (const launch of launches) {
      const childId = String(launch.data['child_run_id']);
      const [started, ...rest] = ofRun(events, childId);
      expect(started).toMatchObject({
        type: 'run.started',
        parent_event_id: launch.event_id,
        parent_run_id: launch.run_id,
      });
      expect(rest.length).toBeGreaterThan(2);
    }
  });

  it('J1: a call leads from the answer over its start to its end, and a child’s end to its launch', async () => {
    const { events, runId } = await story();
    const byId = new Map(events.map((event) => [event.event_id, event]));
    const causeOf = (event: JournalEvent | undefined) => byId.get(event?.parent_event_id ?? '');
    const [answer] = ofType(ofRun(events, runId), 'model.completed');
    for (const ended of ofType(ofRun(events, runId), 'tool.completed', 'tool.failed')) {
      const chain = [ended];
      for (let at = causeOf(ended); at !== undefined && at !== answer; at = causeOf(at))
        chain.push(at);
      const types = chain.map(({ type }) => type).reverse();
      expect(types[0]).toBe('tool.started');
      expect(new Set(chain.map(({ frame_id }) => frame_id)).size, types.join()).toBe(1);
    }
    for (const ended of ofType(events, 'delegation.completed', 'delegation.failed')) {
      expect(causeOf(ended)).toMatchObject({
        type: 'delegation.started',
        data: { child_run_id: ended.data['child_run_id'] },
      });
    }
  });

  it('J1: seq has no gap, ids count on in each run, times are RFC 3339 and never run backwards', async () => {
    await story();
    const events = await stage.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    let before = '';
    for (const { ts, frame_id, type } of events) {
      expect(ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(ts >= before).toBe(true);
      before = ts;
      expect(EVENT_TYPES).toContain(type);
      const framed = /^(turn|model|tool|approval|delegation)\./.test(type);
      if (framed) expect(frame_id).toMatch(/^turn-[1-9]\d*(\/call-[1-9]\d*)?$/);
    }
  });

  it('J2: events carry what their types promise', async () => {
    const { events } = await story();
    const shapes: Record<string, readonly string[]> = {
      'run.started': ['agent_id', 'prompt', 'depth', 'security', 'tools', 'root_run_id', 'origin'],
      'run.completed': ['answer', 'turns', 'usage', 'cost_cents', 'effect'],
      'run.failed': ['error_type', 'error', 'turns', 'effect'],
      'run.incomplete': ['reason', 'answer', 'turns'],
      'run.user_note': ['note_id', 'text', 'forwarded_to', 'forward_failed'],
      'note.read': ['note_id', 'turn'],
      'turn.started': ['turn'],
      'turn.completed': ['turn'],
      'model.started': ['turn', 'provider', 'model'],
      'model.completed': [
        'turn',
        'text',
        'calls',
        'usage',
        'served_by',
        'finish_reason',
        'attempts',
      ],
      'model.failed': ['turn', 'error_type', 'error'],
      'tool.started': ['call_id', 'name', 'effect_class'],
      'tool.completed': ['call_id', 'name', 'text', 'chars', 'full_path'],
      'tool.failed': ['call_id', 'name', 'error_type', 'error', 'effect', 'text'],
      'approval.requested': ['call_id', 'name', 'args_text'],
      'approval.granted': ['call_id', 'by'],
      'approval.denied': ['call_id', 'by', 'why'],
      'delegation.started': ['child_run_id', 'agent_id', 'ordinal', 'depth'],
      'delegation.completed': ['child_run_id', 'agent_id', 'child_status', 'turns'],
      'delegation.failed': ['child_run_id', 'agent_id', 'error_type', 'effect'],
    };
    for (const [type, keys] of Object.entries(shapes)) {
      const found = ofType(events, type);
      expect(found.length, type).toBeGreaterThan(0);
      for (const { data } of found)
        expect(Object.keys(data), type).toEqual(expect.arrayContaining([...keys]));
    }
  });

  it('J4: a call is durable before it runs, a delegation before its child asks, an answer before its calls', async () => {
    committedAt = {};
    stage.play({
      lead: ({ turn }) =>
        turn === 1 ? calls({ name: 'notes_commit' }, delegation('worker', 'a')) : 'done',
      worker: () => {
        committedAt['child'] = stage.troupe.journal.lastSeq;
        return 'x';
      },
    });
    const { run, events } = await stage.run('lead');
    const own = ofRun(events, run.id);
    const started = ofType(own, 'tool.started').find(({ data }) => data['name'] === 'notes_commit');
    const [answer] = ofType(own, 'model.completed');
    const [launch] = ofType(own, 'delegation.started');
    expect(started).toBeDefined();
    expect(committedAt['tool']).toBeGreaterThanOrEqual(started?.seq ?? Number.POSITIVE_INFINITY);
    expect(committedAt['child']).toBeGreaterThanOrEqual(launch?.seq ?? Number.POSITIVE_INFINITY);
    expect(answer?.seq).toBeLessThan(Math.min(started?.seq ?? 0, launch?.seq ?? 0));
    const [childStarted] = ofType(events, 'run.started').slice(1);
    expect(launch?.seq).toBeLessThan(childStarted?.seq ?? 0);
  });

  it('R13: nothing follows a run’s own end, and views are the fold of the journal', async () => {
    const { events, runId } = await story();
    const tree = await stage.troupe.tree(runId);
    const flat = [tree, ...tree.children, ...tree.children.flatMap((child) => child.children)];
    expect(flat.map(({ run_id }) => run_id).sort()).toEqual(
      [...new Set(events.map(({ run_id }) => run_id))].sort(),
    );
    for (const view of flat) {
      expect(ofRun(events, view.run_id).at(-1)?.type).toBe(`run.${view.status}`);
    }
    expect((await stage.troupe.runs()).find(({ run_id }) => run_id === runId)).toMatchObject({
      agent_id: 'lead',
      status: 'completed',
      depth: 0,
      parent_run_id: null,
      turns: 2,
    });
  });
});
