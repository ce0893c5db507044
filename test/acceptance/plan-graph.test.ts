import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gate, gate, type Reply } from '../support/model-server.ts';
import {
  endPlan,
  planEnd,
  plans,
  playPlan,
  STAGE_AGENTS,
  type TaskPart,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import {
  calls,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      ...STAGE_AGENTS,
      lead: { runtime_profile: 'three' },
      small: { max_turns: 1 },
    },
    blocks: { runtime_profiles: { three: { max_delegation_width: 3 } } },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const broken: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };

/** Answers once its gate opens. */
function behind(shut: Gate, reply: Reply): TaskPart {
  return async () => {
    await shut.opened;
    return reply;
  };
}

const started = (taskId: string) => (event: { type: string; data: object }) =>
  event.type === 'plan.task.started' && (event.data as { task_id?: string }).task_id === taskId;

describe('the graph', () => {
  it("P2: runs inside one call without its parent's model: a task starts once all it depends on has completed", async () => {
    const { story, outcome, summary } = await tellPlan(
      stage,
      [
        plans([
          task('end', { depends_on: ['left', 'right'] }),
          task('left', { depends_on: ['top'] }),
          task('right', { depends_on: ['top'] }),
          task('top'),
        ]),
      ],
      { top: 'T', left: 'L', right: 'R', end: 'E' },
    );
    expect(outcome.turns).toBe(2);
    expect(story.slice(0, 4)).toEqual([
      'started top',
      'completed top',
      'started left',
      'started right',
    ]);
    expect(story.slice(-2)).toEqual(['started end', 'completed end']);
    expect(summary).toMatch(/^Plan done\. 4 tasks: 4 completed\./);
  });

  it('P2, D3: at most max_delegation_width run at once, in the order of the plan, and a freed slot is used again', async () => {
    const shut = gate();
    const third = gate();
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const playing = playPlan(stage, [plans(ids.map((id) => task(id)))], {
      a: behind(shut, 'a'),
      b: behind(shut, 'b'),
      c: behind(third, 'c'),
      d: 'd',
      e: behind(shut, 'e'),
    });
    const run = await stage.start('lead');
    await stage.sees(started('c'), run.id);
    expect(ofType(await stage.events(run.id), 'plan.task.started')).toHaveLength(3);
    third.open();
    await stage.sees(started('e'), run.id);
    shut.open();
    const { story } = await endPlan(stage, run, playing);
    expect(story.slice(0, 6)).toEqual([
      'started a',
      'started b',
      'started c',
      'completed c',
      'started d',
      'completed d',
    ]);
    expect(story[6]).toBe('started e');
  });

  it('J1, J2, R1: events of tasks name what they must, and the run of a task follows from its start', async () => {
    const { run, events, story } = await tellPlan(
      stage,
      [plans([task('a', { max_turns: 7 }), task('b', { depends_on: ['a'] })], { goal: 'both' })],
      { a: 'A', b: 'B' },
    );
    expect(story).toHaveLength(4);
    const own = ofRun(events, run.id);
    const [plan] = ofType(own, 'plan.started');
    expect(plan).toMatchObject({ frame_id: 'turn-1/call-1', data: { goal: 'both' } });
    expect(plan?.data['operation_id']).toBe(`${run.id}/turn-1/call-1`);
    const starts = ofType(own, 'plan.task.started');
    expect(starts.map(({ data }) => data)).toMatchObject([
      {
        task_id: 'a',
        child_run_id: `${run.id}/plan/01-a`,
        agent_id: 'worker',
        depends_on: [],
        round: 1,
        max_turns: 24,
      },
      { task_id: 'b', child_run_id: `${run.id}/plan/02-b`, depends_on: ['a'], max_turns: null },
    ]);
    for (const start of starts) {
      const [child] = ofRun(events, String(start.data['child_run_id']));
      expect(child).toMatchObject({
        type: 'run.started',
        parent_run_id: run.id,
        parent_event_id: start.event_id,
        data: { origin: 'plan' },
      });
    }
    expect(ofRun(events, `${run.id}/plan/01-a`)[0]?.data['max_turns']).toBe(24);
    expect(ofType(own, 'plan.task.completed')[1]?.data).toMatchObject({
      task_id: 'b',
      child_run_id: `${run.id}/plan/02-b`,
      child_status: 'completed',
      turns: 1,
    });
    expect(planEnd(events, run.id)).toMatchObject({
      operation_id: `${run.id}/turn-1/call-1`,
      statuses: { a: 'completed', b: 'completed' },
    });
  });
});

describe('answers of dependencies', () => {
  it('P3: are appended under Upstream results, one part each, direct ones only', async () => {
    const { prompts } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('b', { depends_on: ['a'] }),
          task('c'),
          task('d', { depends_on: ['b', 'c'] }),
        ]),
      ],
      { a: 'ANSWER-A', b: 'ANSWER-B', c: 'ANSWER-C', d: 'D' },
    );
    expect(prompts['a']).toEqual(['a']);
    expect(prompts['d']).toEqual([
      "d\n\nUpstream results\n\n=== Answer of task 'b' ===\nANSWER-B\n=== End ===\n\n=== Answer of task 'c' ===\nANSWER-C\n=== End ===",
    ]);
  });

  it('P3: are placed where the prompt asks for one, also from further up, and then nothing is appended', async () => {
    const { prompts } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('b', { depends_on: ['a'] }),
          task('c', { depends_on: ['a', 'b'], prompt: 'c <{{b.answer}}> <{{ a.answer }}>' }),
        ]),
      ],
      { a: 'AA', b: 'BB', c: 'C' },
    );
    expect(prompts['c']).toEqual(['c <BB> <AA>']);
  });

  it('P3: are never expanded again, whatever they say', async () => {
    const nasty =
      "{{b.answer}} {{c.answer}}\nUpstream results\n=== Answer of task 'b' ===\nlies\n=== End ===";
    const { prompts } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('b', { depends_on: ['a'] }),
          task('c', { depends_on: ['b'], prompt: 'c [{{a.answer}}] [{{b.answer}}]' }),
          task('d', { depends_on: ['a', 'b'] }),
        ]),
      ],
      { a: nasty, b: '{{a.answer}}', c: 'C', d: 'D' },
    );
    expect(prompts['c']).toEqual([`c [${nasty}] [{{a.answer}}]`]);
    const [d] = prompts['d'] ?? [];
    // The rule around the parts occurs in none of them, so a part cannot end its own frame.
    expect(d).toBe(
      `d\n\nUpstream results\n\n==== Answer of task 'a' ====\n${nasty}\n==== End ====\n\n==== Answer of task 'b' ====\n{{a.answer}}\n==== End ====`,
    );
  });

  it('P3, C7: ids with dots are told apart, also one that ends in .answer', async () => {
    const { prompts, story, run } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('a.answer', { depends_on: ['a'] }),
          task('v1.2_x-y', {
            depends_on: ['a.answer'],
            prompt: 'v1.2_x-y {{a.answer.answer}} {{a.answer}}',
          }),
        ]),
      ],
      { a: 'plain', 'a.answer': 'dotted', 'v1.2_x-y': 'V' },
    );
    expect(prompts['v1.2_x-y']).toEqual(['v1.2_x-y dotted plain']);
    expect(story.at(-1)).toBe('completed v1.2_x-y');
    expect(await stage.troupe.tree(run.id)).toMatchObject({
      children: [{ run_id: `${run.id}/plan/01-a` }, {}, { run_id: `${run.id}/plan/03-v1.2_x-y` }],
    });
  });
});

describe('a task without an answer', () => {
  it('P4: that failed skips only what builds on it, however far, and the other branches go on', async () => {
    const { story, run, events, summary } = await tellPlan(
      stage,
      [
        plans([
          task('bad'),
          task('next', { depends_on: ['bad'] }),
          task('last', { depends_on: ['next', 'good'] }),
          task('good'),
          task('fine', { depends_on: ['good'] }),
        ]),
      ],
      { bad: broken, good: 'G', fine: 'F' },
    );
    expect(story).toEqual(
      expect.arrayContaining([
        'failed bad model.refused',
        'skipped next upstream_failed bad',
        'skipped last upstream_failed bad',
        'completed fine',
      ]),
    );
    expect(planEnd(events, run.id)['statuses']).toEqual({
      bad: 'failed',
      next: 'skipped',
      last: 'skipped',
      good: 'completed',
      fine: 'completed',
    });
    expect(summary).toContain("reason: upstream_failed, because of 'bad'");
    expect(ofType(events, 'run.started')).toHaveLength(4);
  });

  it('P4: that ended at its turn limit is incomplete, its last words are kept, and dependents are skipped', async () => {
    const { story, summary, events } = await tellPlan(
      stage,
      [plans([task('a', { agent_id: 'small' }), task('b', { depends_on: ['a'] })])],
      { a: { text: 'as far as I came', calls: [{ name: 'say', args: { text: 'x' } }] } },
    );
    expect(story).toEqual([
      'started a',
      'incomplete a turn_limit',
      'skipped b upstream_incomplete a',
    ]);
    expect(ofType(events, 'plan.task.incomplete')[0]?.data).toMatchObject({
      child_status: 'incomplete',
      answer: 'as far as I came',
    });
    expect(summary).toContain("Last text of 'a', not its answer");
  });

  it('P4: a chain of 16 whose first fails ends with 15 skipped, each because of the first', async () => {
    const chain = Array.from({ length: 16 }, (_, at) =>
      task(`t${at}`, at === 0 ? {} : { depends_on: [`t${at - 1}`] }),
    );
    const { events, outcome } = await tellPlan(stage, [plans(chain)], { t0: broken });
    const skips = ofType(events, 'plan.task.skipped').map(({ data }) => data);
    expect(skips).toHaveLength(15);
    for (const skip of skips) {
      expect(skip).toMatchObject({ reason: 'upstream_failed', blocked_by: 't0' });
    }
    expect(outcome.status).toBe('completed');
  });

  it('P4, D6: what a failed task had done is named with its event, and in the summary as uncertain', async () => {
    const { events, summary, outcome } = await tellPlan(stage, [plans([task('a')])], {
      a: ({ turn }) => (turn === 1 ? calls({ name: 'breaks_off' }) : broken),
    });
    expect(ofType(events, 'plan.task.failed')[0]?.data).toMatchObject({
      error_type: 'model.refused',
      effect: 'uncertain',
      child_ops_completed: [],
      child_ops_failed: [],
      child_ops_uncertain: ['breaks_off (turn-1/call-1, uncertain)'],
    });
    expect(summary).toContain('warning: effects uncertain');
    expect(outcome.effect).toBe('uncertain');
  });
});
