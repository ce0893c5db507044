import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planEnd, planning, plans, task, tellPlan } from '../support/plan-stage.ts';
import {
  calls,
  delegate,
  ofRun,
  ofType,
  openStage,
  PROVIDER,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let asked: string[] = [];
let allow = true;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: {},
      other: {},
      alone: { delegates: [{ agent: 'wary', mode: 'independent' }] },
      wary: { risk_profile: 'wary' },
      shut: { capabilities: { delegation: false } },
      flat: { runtime_profile: 'flat' },
      strict: { risk_profile: 'strict', delegates: ['worker'] },
      reader: { risk_profile: 'reader', delegates: ['worker'] },
      unplanned: { risk_profile: 'unplanned', delegates: ['worker'] },
      planner: { risk_profile: 'planner', delegates: ['worker'] },
      far: { risk_profile: 'reader' },
      asleep: { enabled: false },
    },
    blocks: {
      risk_profiles: {
        strict: {
          autonomy: 'full',
          require_tool_approval: true,
          delegation_policy: { mode: 'allow' },
        },
        wary: { always_ask: ['say'] },
        reader: { autonomy: 'read_only', delegation_policy: { mode: 'allow' } },
        unplanned: { delegation_policy: { mode: 'allow' }, excluded_tools: ['plan'] },
        planner: { delegation_policy: { mode: 'allow' }, excluded_tools: ['delegate'] },
      },
      runtime_profiles: { flat: { max_delegation_depth: 0 } },
    },
    troupe: {
      threads: 1,
      onApproval: ({ tool, args }) => {
        asked.push(`${tool} ${(args['tasks'] as unknown[] | undefined)?.length ?? ''}`.trim());
        return allow;
      },
    },
  });
});

afterAll(() => stage.close());

/** A call of `plan` that is refused: its words; nothing may have started. */
async function refusal(tasks: readonly object[], more: object = {}, caller = 'lead') {
  const told = await tellPlan(stage, [plans(tasks, more)], { a: 'a', b: 'b' }, { caller });
  const { run, events, summary } = told;
  expect(told.outcome.status).toBe('completed');
  expect(ofType(events, 'run.started')).toHaveLength(1);
  expect(typesOf(events, run.id).filter((type) => type.startsWith('plan.'))).toEqual([]);
  const [failed] = ofType(ofRun(events, run.id), 'tool.failed');
  expect(failed?.data).toMatchObject({ effect: 'none' });
  return { words: summary, errorType: failed?.data['error_type'] };
}

describe('what a plan is checked for', () => {
  it('P1: all faults of a plan are reported together, in one refusal that started nothing', async () => {
    const { words, errorType } = await refusal([
      task('a', { depends_on: ['b'] }),
      task('b', { depends_on: ['a'] }),
      task('-x'),
      task('rev'),
      task('self', { depends_on: ['self'] }),
      task('lost', { depends_on: ['nowhere'] }),
      task('rev', { review_of: ['nothing'] }),
      task('far', { agent_id: 'far' }),
      task('who', { agent_id: 'nobody' }),
      task('sleepy', { agent_id: 'asleep' }),
      task('placed', { prompt: 'use {{b.answer}}' }),
      task('odd', { agent_id: 'lead' }),
    ]);
    expect(errorType).toBe('plan_invalid');
    for (const part of [
      "task '-x' (tasks[2]), id: must be 1 to 64 letters",
      "task 'rev' (tasks[6]), id: already the id of tasks[3]",
      'a task cannot depend on itself',
      "depends_on: unknown task 'nowhere'",
      "review_of: unknown task 'nothing'",
      'delegate target "far" is not reachable from "lead": different risk profile',
      "Unknown agent 'nobody'. Available agents: ",
      'delegate target "asleep" is not reachable from "lead": the target agent is disabled',
      'dependency cycle a -> b -> a',
      '{{b.answer}} is neither upstream of this task in the plan nor answered earlier in this run',
      'delegate target "lead" is not reachable from "lead"',
    ]) {
      expect(words).toContain(part);
    }
    expect(words).toMatch(/^Invalid plan, nothing was started \(11 faults\):\n- /);
  });

  it.each([
    [[], {}, 'at least 1 task'],
    [Array.from({ length: 17 }, (_, at) => task(`t${at}`)), {}, '17 tasks are given, at most 16'],
    [[task('a')], { max_rework: 5 }, 'max_rework: must be a whole number from 0 to 4, found 5'],
    [[task('a')], { on_failure: 'panic' }, 'on_failure: must be one of continue, stop, abort'],
    [[task('a')], { mode: 'tide' }, 'mode: must be one of full, wave'],
    [[task('a', { promt: 'x' })], {}, "unknown field 'promt'; did you mean 'prompt'?"],
    [[task('a', { prompt: ' ' })], {}, 'prompt: must not be empty'],
  ])('P1: bounds and fields hold for %j %j', async (tasks, more, words) => {
    expect((await refusal(tasks as object[], more)).words).toContain(words);
  });

  it('P1: arguments that are no JSON object are said back with the place', async () => {
    const broken = calls({ name: 'plan', args: '{"tasks": [' });
    const { summary, events } = await tellPlan(stage, [broken], {});
    expect(summary).toMatch(/not valid JSON at line 1, column \d+/);
    expect(ofType(events, 'run.started')).toHaveLength(1);
  });

  it('P1, G8: an independent target that always asks is refused, and so is the whole plan', async () => {
    const { words, errorType } = await refusal(
      [task('a', { agent_id: 'other' }), task('b', { agent_id: 'wary' })],
      {},
      'alone',
    );
    expect(errorType).toBe('plan_invalid');
    expect(words).toContain(
      'task \'b\' (tasks[1]), agent_id: delegate target "wary" cannot run in independent mode from "alone": risk profile "wary" has always_ask entries (say).',
    );
    expect(words).toContain('(1 fault)');
  });

  it('P1: after its faults are mended the same run can plan', async () => {
    const { story, read } = await tellPlan(
      stage,
      [plans([task('a', { depends_on: ['a'] })]), plans([task('a')])],
      { a: 'fine' },
    );
    expect(story).toEqual(['started a', 'completed a']);
    expect(read[1]?.[0]).toContain('fine');
  });

  it('R6: an identical second plan of one answer is not run, and says where its result is', async () => {
    const same = planning([task('a')]);
    const { story, read } = await tellPlan(stage, [calls(same, same)], { a: 'once' });
    expect(story).toEqual(['started a', 'completed a']);
    expect(read[0]?.[0]).toContain('once');
    expect(read[0]?.[1]).toContain("Skipped duplicate tool call 'plan'");
  });
});

describe('who may plan', () => {
  const offered = (agent: string) => stage.requestsOf(agent).at(-1)?.tools ?? [];

  it('P13, G2: plan is advertised with its warning where delegation is allowed, and listed with the reachable ids', async () => {
    await tellPlan(stage, [plans([task('a')])], { a: 'a' });
    expect(offered('lead')).toEqual(expect.arrayContaining(['agents', 'delegate', 'plan']));
    const tools = JSON.stringify(stage.requestsOf('lead').at(-1)?.body.tools);
    expect(tools).toContain('all tasks work in one shared workspace without isolation');
    expect(tools).toContain('Available: alone, flat, other, shut, worker');
    expect(offered('lead')).not.toContain('submit_review');
  });

  it.each([
    ['shut', 'delegation_forbidden', 'delegation is forbidden for caller "shut"'],
    ['flat', 'depth_limit', 'Delegation depth limit reached (0/0)'],
    ['unplanned', 'tool_not_allowed', "Tool not available to agent 'unplanned': plan"],
  ])(
    'P13, G2, G3: %s is not offered plan, and a call all the same is refused',
    async (caller, type, words) => {
      const refused = await refusal([task('a')], {}, caller);
      expect(refused).toEqual({ errorType: type, words: expect.stringContaining(words) });
      expect(offered(caller)).not.toContain('plan');
    },
  );

  it('P13: a profile that excludes delegate alone leaves plan, offered and carried out', async () => {
    const { story } = await tellPlan(
      stage,
      [plans([task('a')])],
      { a: 'a' },
      { caller: 'planner' },
    );
    expect(offered('planner')).toContain('plan');
    expect(offered('planner')).not.toContain('delegate');
    expect(story).toEqual(['started a', 'completed a']);
  });

  it('P13, G3: a task at the last level is not offered plan, and a call of it is refused by depth', async () => {
    let read = '';
    stage.play({
      lead: ({ turn }) => (turn === 1 ? delegate('other', 'x') : 'done'),
      other: ({ turn }) => (turn === 1 ? plans([task('a')]) : 'done'),
      worker: ({ turn, results }) => {
        if (turn === 1) return plans([task('b', { agent_id: 'other' })]);
        read = results[0] ?? '';
        return 'done';
      },
    });
    const { events } = await stage.run('lead');
    expect(offered('other')).toContain('plan');
    expect(offered('worker')).not.toContain('plan');
    expect(read).toBe('Delegation depth limit reached (2/2)');
    expect(ofType(events, 'run.started')).toHaveLength(3);
  });

  it('G1: a root with an inline definition may plan', async () => {
    stage.play({
      inline: ({ turn }) => (turn === 1 ? plans([task('a')]) : 'done'),
      worker: 'A',
    });
    const inline = { model_provider: PROVIDER, system_prompt: 'agent:inline' };
    const started = await stage.troupe.start({ agent: inline, prompt: 'go', workspace: stage.dir });
    const { run, events } = await stage.end(started);
    expect(planEnd(events, run.id)['statuses']).toEqual({ a: 'completed' });
  });

  it('X3: a read_only caller may plan, and is not asked about it', async () => {
    asked = [];
    const { story } = await tellPlan(stage, [plans([task('a')])], { a: 'a' }, { caller: 'reader' });
    expect(story).toEqual(['started a', 'completed a']);
    expect(asked).toEqual([]);
  });
});

describe('approval of a plan', () => {
  const strictPlan = () =>
    tellPlan(
      stage,
      [plans([task('a'), task('b'), task('c', { depends_on: ['a', 'b'] })])],
      { a: 'a', b: 'b', c: 'c' },
      { caller: 'strict' },
    );

  it('P13, D7: a plan is asked for once as a whole, before anything of it', async () => {
    asked = [];
    allow = true;
    const { run, events, outcome } = await strictPlan();
    expect(outcome.status).toBe('completed');
    expect(asked).toEqual(['plan 3']);
    const own = typesOf(events, run.id);
    expect(own.indexOf('approval.granted')).toBeLessThan(own.indexOf('plan.started'));
    expect(ofType(events, 'plan.task.started')).toHaveLength(3);
  });

  it('P13: a denied plan starts nothing', async () => {
    asked = [];
    allow = false;
    const { run, events, summary } = await strictPlan();
    expect(asked).toEqual(['plan 3']);
    expect(summary).toBe(
      "Tool call not executed: 'plan' requires approval, and it was denied by onApproval: denied",
    );
    expect(typesOf(events, run.id)).not.toContain('plan.started');
    expect(ofType(events, 'run.started')).toHaveLength(1);
  });
});
