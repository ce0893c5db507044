import { describe, expect, it, onTestFinished } from 'vitest';
import { type Gate, gate, type Reply } from '../support/model-server.ts';
import {
  accepts,
  endPlan,
  planEnd,
  planning,
  plans,
  playPlan,
  reviewer,
  reviews,
  STAGE_AGENTS,
  sendsBack,
  type TaskPart,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import {
  calls,
  delegation,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  type StageOptions,
  typesOf,
} from '../support/troupe-fixture.ts';

async function staged(more: Partial<StageOptions> = {}): Promise<Stage> {
  const stage = await openStage({
    agents: STAGE_AGENTS,
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
    ...more,
  });
  onTestFinished(() => stage.close());
  return stage;
}

const broken: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };

function behind(shut: Gate, reply: Reply): TaskPart {
  return async () => {
    await shut.opened;
    return reply;
  };
}

const launches = (story: readonly string[]) =>
  story.filter((line) => line.startsWith('started')).length;

describe('launches of a plan', () => {
  it('P9: 16 tasks at max_rework 4 whose reviewer is never content end, within 80 launches', async () => {
    const stage = await staged();
    const ids = Array.from({ length: 15 }, (_, at) => `t${at}`);
    const again = Object.fromEntries(ids.map((id) => [id, 'again']));
    const { story, events, run, outcome } = await tellPlan(
      stage,
      [plans([...ids.map((id) => task(id)), reviewer('r', ids)], { max_rework: 4 })],
      {
        ...Object.fromEntries(ids.map((id) => [id, ({ round }) => `${id}@${round}`])),
        r: sendsBack(again),
      },
    );
    expect(outcome.status).toBe('completed');
    expect(launches(story)).toBe(80);
    expect(story.filter((line) => line.endsWith('rework_exhausted'))).toHaveLength(15);
    expect(planEnd(events, run.id)['statuses']).toEqual({
      ...Object.fromEntries(ids.map((id) => [id, 'failed'])),
      r: 'skipped',
    });
  });

  it('P9, P7: a reviewer that crashes each time it is launched is launched a bounded number of times, and its default verdicts can be seen', async () => {
    const stage = await staged();
    const { story, events, structured } = await tellPlan(
      stage,
      [
        plans([task('a'), reviewer('r', ['a']), reviewer('never', ['a'], { depends_on: ['r'] })], {
          max_rework: 4,
        }),
      ],
      { a: ({ round }) => `A${round}`, r: broken, never: sendsBack({ a: 'again' }) },
    );
    expect(story.filter((line) => line === 'started r')).toHaveLength(5);
    expect(launches(story)).toBe(15);
    expect(story).toContain('failed a rework_exhausted');
    const ends = ofType(events, 'plan.task.completed').filter(
      ({ data }) => data['task_id'] === 'r',
    );
    expect(ends).toHaveLength(5);
    for (const { data } of ends) {
      expect(data).toMatchObject({
        verdict: 'accept',
        verdict_source: 'default',
        child_status: 'failed',
      });
    }
    expect(structured['launches']).toBe(15);
  });

  it('P9: a launch beyond the budget of the plan is skipped with execution_budget', async () => {
    const stage = await staged();
    // Two reworks on different levels relaunch the reviewers between them, until 4 * (1 + 1) launches are used up.
    const { story } = await tellPlan(
      stage,
      [
        plans(
          [
            task('a'),
            reviewer('r1', ['a']),
            reviewer('r2', ['a'], { depends_on: ['r1'] }),
            reviewer('r3', ['r2']),
          ],
          { max_rework: 1 },
        ),
      ],
      {
        a: 'A',
        r1: accepts(),
        r2: ({ round }) => (round === 2 ? sendsBack({ a: 'x' }) : accepts()),
        r3: reviews({ r2: 'look again' }),
      },
    );
    expect(launches(story)).toBe(8);
    expect(story.filter((line) => line.includes('execution_budget')).length).toBeGreaterThan(0);
  });
});

describe('max_runs_per_root', () => {
  const limited = (max_runs_per_root: number) =>
    staged({
      runtime: { identical_delegations: 'run' },
      blocks: { runtime: { max_runs_per_root } },
    });

  it('R11: a plan that would pass it is refused before anything starts, and names the limit', async () => {
    const stage = await limited(2);
    const { events, summary, run } = await tellPlan(
      stage,
      [plans([task('a'), task('b'), task('c')])],
      {},
    );
    expect(ofType(events, 'run.started')).toHaveLength(1);
    expect(ofType(ofRun(events, run.id), 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'runs_limit',
      effect: 'none',
    });
    expect(summary).toContain(
      '0 of 2 runs ([runtime] max_runs_per_root), and 3 more were asked for',
    );
  });

  it('R11: rework that would pass it fails that task, and the rest of the plan ends well', async () => {
    const stage = await limited(4);
    const { story, events, outcome, run } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a']), task('free')])],
      { a: ({ round }) => `A${round}`, r: reviews({ a: 'x' }), free: 'F' },
    );
    expect(ofType(events, 'run.started')).toHaveLength(1 + 4);
    expect(story.at(-1)).toBe('failed r runs_limit');
    expect(planEnd(events, run.id)['statuses']).toEqual({
      a: 'completed',
      r: 'failed',
      free: 'completed',
    });
    expect(ofType(events, 'plan.task.failed')[0]?.data).toMatchObject({ effect: 'none', turns: 0 });
    expect(outcome.status).toBe('completed');
  });

  it('R11: counts runs that were launched: not a repeated plan, not what a wave or a failure left out', async () => {
    const stage = await limited(8);
    const same = planning([task('a'), task('b'), task('c')], { mode: 'wave' });
    const { read, events } = await tellPlan(
      stage,
      [
        calls(same, same), // 3
        plans([task('bad'), task('x', { depends_on: ['bad'] }), task('y', { depends_on: ['x'] })]), // 4
        plans([task('a'), task('x', { depends_on: ['a'] }), task('y', { depends_on: ['a'] })], {
          mode: 'wave',
        }), // 5
        plans([task('a'), task('b'), task('c')]), // 8
        plans([task('a')]),
      ],
      { a: 'A', b: 'B', c: 'C', bad: broken },
    );
    expect(ofType(events, 'run.started')).toHaveLength(1 + 8);
    expect(read.at(-1)?.[0]).toContain('has launched 8 of 8 runs');
  });

  it('R11: what a cancelled planner left unlaunched is free again for the rest of its tree', async () => {
    const stage = await limited(6);
    let shut = true;
    stage.play({
      lead: ({ turn }) => (turn < 3 ? calls(delegation('other', `plan ${turn}`)) : 'done'),
      other: ({ turn }) =>
        turn === 1
          ? plans([task('a'), task('b', { depends_on: ['a'] }), task('c', { depends_on: ['b'] })])
          : 'planned',
      worker: (): Reply => (shut ? { hang: true } : 'ok'),
    });
    const run = await stage.start('lead');
    const planner = `${run.id}/delegate/01`;
    await stage.sees(
      ({ type, run_id }) => type === 'model.started' && run_id === `${planner}/plan/01-a`,
    );
    shut = false;
    await stage.troupe.run(planner)?.cancel('enough');
    const { events } = await stage.end(run);
    // 1 planner, 1 of its tasks; then another planner with all 3 of its own.
    expect(ofType(events, 'run.started')).toHaveLength(1 + 2 + 4);
  });
});

describe('max_run_secs', () => {
  it('P10: in the middle of a plan nothing new starts, what runs finishes, the summary returns, and the run ends incomplete', async () => {
    const stage = await staged({
      agents: { ...STAGE_AGENTS, lead: { runtime_profile: 'timed' } },
      blocks: {
        runtime_profiles: { timed: { max_run_secs: 2.5, max_delegation_width: 2 } },
      },
    });
    const shut = gate();
    const playing = playPlan(
      stage,
      [plans([task('a'), task('b'), task('c'), task('d', { depends_on: ['a'] })])],
      { a: behind(shut, 'A'), b: behind(shut, 'B') },
    );
    const run = await stage.start('lead');
    await stage.sees(({ type }) => type === 'plan.time_limit', run.id);
    shut.open();
    const { story, events, outcome } = await endPlan(stage, run, playing);
    expect(story.slice(0, 3)).toEqual(['started a', 'started b', 'time_limit']);
    expect(story.slice(3).sort()).toEqual([
      'completed a',
      'completed b',
      'skipped c run_time_limit',
      'skipped d run_time_limit',
    ]);
    expect(outcome).toMatchObject({ status: 'incomplete', reason: 'run_time_limit' });
    const [result] = ofType(ofRun(events, run.id), 'tool.completed');
    expect(result?.data['text']).toMatch(
      /^Plan cut short by the run's time limit\. 4 tasks: 2 completed, 2 skipped\./,
    );
    expect(typesOf(events, run.id).slice(-2)).toEqual(['turn.completed', 'run.incomplete']);
  });

  it('P10, D6: delegation_timeout_secs of a task fails that task alone, with timeout', async () => {
    const stage = await staged({
      agents: { ...STAGE_AGENTS, small: { runtime_profile: 'hasty' } },
      blocks: { runtime_profiles: { hasty: { delegation_timeout_secs: 0.2 } } },
    });
    const { story, summary } = await tellPlan(
      stage,
      [plans([task('a', { agent_id: 'small' }), task('b'), task('c', { depends_on: ['a'] })])],
      { a: { hang: true }, b: 'B' },
    );
    expect(story.slice(-2)).toEqual(['failed a timeout', 'skipped c upstream_failed a']);
    expect(summary).toContain('timeout: timed out after 0.2s');
  });

  it('P7: a reviewer that times out accepts by default', async () => {
    const stage = await staged({
      agents: { ...STAGE_AGENTS, small: { runtime_profile: 'hasty' } },
      blocks: { runtime_profiles: { hasty: { delegation_timeout_secs: 0.2 } } },
    });
    const { events, story } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a'], { agent_id: 'small' })])],
      { a: 'A', r: { hang: true } },
    );
    expect(story.at(-1)).toBe('completed r');
    expect(ofType(events, 'plan.task.completed').at(-1)?.data).toMatchObject({
      verdict_source: 'default',
      child_status: 'cancelled',
    });
  });
});
