import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { gate, type Reply } from '../support/model-server.ts';
import {
  about,
  accepts,
  endPlan,
  planEnd,
  planning,
  plans,
  playPlan,
  reviewer,
  STAGE_AGENTS,
  sendsBack,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import {
  calls,
  delegation,
  eventually,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { ...STAGE_AGENTS, narrow: { runtime_profile: 'narrow' }, head: {} },
    blocks: {
      runtime: { stop_grace_secs: 0.5 },
      runtime_profiles: { narrow: { max_delegation_width: 2 } },
    },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const hang: Reply = { hang: true };

const asks = (taskId: string) => (event: JournalEvent) =>
  event.type === 'model.started' && event.run_id.endsWith(`-${taskId}`);

const ENDS = [
  'plan.task.completed',
  'plan.task.failed',
  'plan.task.incomplete',
  'plan.task.discarded',
];

/** Every task that started has one end, of every run that planned. */
function allEnded(events: readonly JournalEvent[]): void {
  const ordinals = (...types: string[]) =>
    ofType(events, ...types)
      .map(({ run_id, data }) => `${run_id} ${data['ordinal']}`)
      .sort();
  expect(ordinals(...ENDS)).toEqual(ordinals('plan.task.started'));
}

describe('cancelling', () => {
  it('N2: a run in the middle of a plan ends its tasks first, each with an end of its own, and takes their requests back', async () => {
    const playing = playPlan(
      stage,
      [plans([task('done'), task('a'), task('b'), task('z', { depends_on: ['a'] })])],
      { done: 'D', a: hang, b: hang },
    );
    const before = stage.server.requests.length;
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.completed', 'done'), run.id);
    await eventually(() => expect(stage.server.requests.length).toBe(before + 4));
    expect(await run.cancel('enough')).toBe('cancelled');
    const { events, outcome, story } = await endPlan(stage, run, playing);
    expect(outcome).toMatchObject({ status: 'cancelled', reason: 'enough' });
    allEnded(events);
    expect(story.slice(-2).sort()).toEqual(['incomplete a enough', 'incomplete b enough']);
    const own = typesOf(events, run.id);
    expect(own.at(-1)).toBe('run.cancelled');
    expect(own).not.toContain('plan.completed');
    const hung = stage.server.requests.slice(before).filter(({ prompt }) => 'ab'.includes(prompt));
    expect(await Promise.all(hung.map(({ closed }) => closed))).toEqual([true, true]);
    await stage.quiet();
  });

  it('N2: one task leaves the plan going: it is incomplete, and its dependents are skipped', async () => {
    const playing = playPlan(
      stage,
      [plans([task('a'), task('b'), task('z', { depends_on: ['a'] })])],
      {
        a: hang,
        b: 'B',
      },
    );
    const run = await stage.start('lead');
    await stage.sees(asks('a'), run.id);
    expect(await stage.troupe.run(`${run.id}/plan/01-a`)?.cancel('not needed')).toBe('cancelled');
    const { story, outcome, summary } = await endPlan(stage, run, playing);
    expect(outcome.status).toBe('completed');
    expect(story).toContain('incomplete a not needed');
    expect(story).toContain('skipped z upstream_incomplete a');
    expect(summary).toContain('ended without its own final answer: not needed');
  });

  it('N2, P8: a run whose plan is in the middle of a rework leaves no orphan', async () => {
    const playing = playPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a']), task('use', { depends_on: ['a'] })])],
      {
        a: ({ round }) => (round === 1 ? 'A' : hang),
        r: sendsBack({ a: 'again' }),
        use: ({ round }) => (round === 1 ? hang : 'U'),
      },
    );
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.reopened', 'a'), run.id);
    await run.cancel('enough');
    const { events, outcome } = await endPlan(stage, run, playing);
    expect(outcome.status).toBe('cancelled');
    allEnded(events);
    await stage.quiet();
  });

  it('N2, N4: a planner below the run that is cancelled takes its own tasks with it', async () => {
    stage.play({
      lead: calls(delegation('head', 'h')),
      head: ({ turn }) => (turn === 1 ? plans([task('a'), task('b')]) : 'planned'),
      worker: hang,
    });
    const run = await stage.start('lead');
    await stage.sees(asks('a'), run.id);
    await stage.sees(asks('b'), run.id);
    await run.cancel('enough');
    const { events } = await stage.end(run);
    expect(ofType(events, 'run.cancelled')).toHaveLength(4);
    allEnded(events);
    await stage.quiet();
  });
});

describe('a note during a plan', () => {
  it('N1: reaches exactly the tasks that are running, and they read it', async () => {
    const shut = gate();
    const heard: Record<string, string[]> = {};
    const listening = async ({
      task: id,
      turn,
      request,
    }: {
      task: string;
      turn: number;
      request: { messages: readonly { role: string; content: string | null }[] };
    }): Promise<Reply> => {
      if (turn === 1) {
        await shut.opened;
        return calls({ name: 'say', args: { text: 'x' } });
      }
      const users = request.messages.filter(({ role }) => role === 'user');
      heard[id] = users.slice(1).map(({ content }) => content ?? '');
      return `${id} done`;
    };
    const playing = playPlan(
      stage,
      [plans([task('past'), task('a'), task('b'), task('z', { depends_on: ['a'] })])],
      { past: 'P', a: listening, b: listening, z: listening },
    );
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.completed', 'past'), run.id);
    await stage.sees(asks('a'), run.id);
    await stage.sees(asks('b'), run.id);
    const { receipts } = await run.note('look up');
    shut.open();
    const { events } = await endPlan(stage, run, playing);
    expect(heard).toEqual({ a: ['look up'], b: ['look up'], z: [] });
    expect(ofType(ofRun(events, run.id), 'run.user_note')[0]?.data).toMatchObject({
      forwarded_to: [`${run.id}/plan/02-a`, `${run.id}/plan/03-b`],
      forward_failed: [],
    });
    expect((await receipts).map(({ outcome }) => outcome)).toEqual(['read', 'read', 'read']);
    const lead = stage.requestsOf('lead').at(-1)?.messages.at(-1);
    expect(lead).toMatchObject({ role: 'user', content: 'look up' });
  });

  it('N1, P8: does not go to a run that its plan has dropped, even while that run is still stopping', async () => {
    const mark = join(stage.dir, 'deaf-mark');
    const shut = gate();
    const playing = playPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a']), task('use', { depends_on: ['a'] }), task('free')])],
      {
        a: 'A',
        r: async ({ round }) => {
          if (round > 1) return accepts();
          await eventually(() => expect(existsSync(mark)).toBe(true));
          return sendsBack({ a: 'again' });
        },
        use: ({ round, turn }) =>
          round === 1 && turn === 1 ? calls({ name: 'deaf', args: { mark } }) : 'U',
        free: async () => {
          await shut.opened;
          return 'F';
        },
      },
    );
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.invalidated', 'use'), run.id);
    await run.note('look up');
    shut.open();
    const { events } = await endPlan(stage, run, playing);
    const [note] = ofType(ofRun(events, run.id), 'run.user_note');
    const [dropped] = ofType(events, 'plan.task.discarded');
    expect(dropped?.seq, 'the dropped run was still stopping').toBeGreaterThan(note?.seq ?? 0);
    expect(note?.data).toMatchObject({
      forwarded_to: [expect.stringMatching(/-free$/)],
      forward_failed: [],
    });
    const child = String(dropped?.data['child_run_id']);
    expect(typesOf(events, child)).not.toContain('run.user_note');
  });
});

describe('a plan among other things', () => {
  it('D3, P2: a plan and delegations of one answer share one width, in call order', async () => {
    const shut = gate();
    const slow = async (): Promise<Reply> => {
      await shut.opened;
      return 'slow';
    };
    const playing = playPlan(
      stage,
      [
        calls(
          delegation('worker', 'first'),
          planning([task('a'), task('b')]),
          delegation('worker', 'last'),
        ),
      ],
      { first: slow, a: slow, b: 'B', last: 'L' },
      'narrow',
    );
    const run = await stage.start('narrow');
    await stage.sees(asks('a'), run.id);
    const begun = ofType(await stage.events(run.id), 'delegation.started', 'plan.task.started');
    expect(begun.map(({ data }) => data['child_run_id'])).toEqual([
      `${run.id}/delegate/01`,
      `${run.id}/plan/02-a`,
    ]);
    shut.open();
    const { events, read } = await endPlan(stage, run, playing);
    // Their width is kept: see the audit. Every call has its own result, in call order.
    expect(read[0]?.map((text) => text.slice(0, 12))).toEqual([
      "[Agent 'work",
      'Plan done. 2',
      "[Agent 'work",
    ]);
    const ids = ofType(ofRun(events, run.id), 'delegation.started', 'plan.task.started');
    expect(ids.map(({ data }) => data['ordinal'])).toEqual([1, 2, 3, 4]);
    expect(ids.map(({ data }) => String(data['child_run_id']).slice(run.id.length))).toEqual([
      '/delegate/01',
      '/plan/02-a',
      '/plan/03-b',
      '/delegate/04',
    ]);
  });

  it('S2, R1: a task may spawn a sub-agent of itself, whose id and depth follow from the task', async () => {
    const { run, events, story } = await tellPlan(stage, [plans([task('a')])], {
      a: ({ turn, results }) =>
        turn === 1
          ? calls({ name: 'spawn_subagent', args: { prompt: 'part of it' } })
          : `whole with ${results[0]}`,
      part: 'a part',
    });
    expect(story).toEqual(['started a', 'completed a']);
    const [sub] = ofRun(events, `${run.id}/plan/01-a/subagent/01`);
    expect(sub).toMatchObject({
      type: 'run.started',
      data: { agent_id: 'worker', depth: 2, origin: 'subagent', is_subagent: true },
    });
    expect(ofType(events, 'plan.task.completed')[0]?.data['answer']).toBe('whole with a part');
  });

  it('G3, G10: a task may plan itself while depth remains', async () => {
    stage.play({
      lead: ({ turn }) => (turn === 1 ? plans([task('a', { agent_id: 'head' })]) : 'done'),
      head: ({ turn }) =>
        turn === 1 ? plans([task('b'), task('c', { depends_on: ['b'] })]) : 'planned',
      worker: 'W',
    });
    const { run, events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(planEnd(events, `${run.id}/plan/01-a`)['statuses']).toEqual({
      b: 'completed',
      c: 'completed',
    });
    expect(ofRun(events, `${run.id}/plan/01-a/plan/02-c`)[0]?.data['depth']).toBe(2);
  });
});
