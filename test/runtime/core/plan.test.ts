import { afterEach, describe, expect, it } from 'vitest';
import { readPlanCall } from '../../../src/runtime/core/plan-call.ts';
import { endTask } from '../../../src/runtime/core/plan-decide.ts';
import { planEvent } from '../../../src/runtime/core/plan-event.ts';
import { evolvePlan } from '../../../src/runtime/core/plan-evolve.ts';
import { followPlan } from '../../../src/runtime/core/plan-follow.ts';
import type { PlanPlace } from '../../../src/runtime/core/plan-machine.ts';
import type { PlanSpec } from '../../../src/runtime/core/plan-spec.ts';
import {
  cancelledChildren,
  PENDING_PLAN,
  taskOf,
  workingChildren,
} from '../../../src/runtime/core/plan-state.ts';
import {
  accept,
  FRAME,
  outcomeOf,
  PlanPlay,
  planOf,
  reviewer,
  rework,
  task,
} from '../../support/plan-fixtures.ts';

const played: PlanPlay[] = [];

function play(spec: PlanSpec, place: Partial<PlanPlace> = {}): PlanPlay {
  const plan = new PlanPlay(spec, place);
  played.push(plan);
  return plan;
}

afterEach(() => {
  for (const plan of played.splice(0)) plan.checkLaws();
});

const cancelled = { status: 'cancelled', reason: 'enough', stopped_by: 'user' } as const;
const called = { ...cancelled, stopped_by: 'parent' } as const;

describe('waves of ready tasks', () => {
  it('P2: a task starts when all that it depends on has completed, and not before', () => {
    const plan = play(planOf([task('c', ['a', 'b']), task('a'), task('b')]));
    expect(plan.running()).toEqual(['a', 'b']);
    plan.end('b');
    expect(plan.running()).toEqual(['a']);
    plan.end('a');
    expect(plan.running()).toEqual(['c']);
    plan.end('c');
    expect(plan.statuses()).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
    expect(plan.running()).toEqual([]);
  });

  it('P2: at most width at once, slots re-used as they free, ready tasks in the order of the plan', () => {
    const plan = play(planOf([task('a'), task('b'), task('c', ['a']), task('d')]), { width: 2 });
    expect(plan.running()).toEqual(['a', 'b']);
    plan.end('b');
    expect(plan.running()).toEqual(['a', 'd']);
    plan.end('a');
    expect(plan.running()).toEqual(['d', 'c']);
  });

  it('R1: run ids hold the launch ordinal of the parent and the task, and no ordinal is used twice', () => {
    const plan = play(planOf([task('a'), task('b', ['a'])]), { firstOrdinal: 7 });
    plan.end('a');
    expect(plan.of('plan.task.started').map((each) => each.child_run_id)).toEqual([
      'run_r/plan/07-a',
      'run_r/plan/08-b',
    ]);
  });

  it('J2: plan.task.started says task, run, agent, dependencies, round and turns', () => {
    const plan = play(planOf([task('a', [], { max_turns: 30 })]));
    expect(plan.of('plan.task.started')).toEqual([
      {
        task_id: 'a',
        child_run_id: 'run_r/plan/01-a',
        agent_id: 'agent-a',
        ordinal: 1,
        depth: 1,
        depends_on: [],
        round: 1,
        max_turns: 30,
      },
    ]);
    expect(plan.events.every((event) => event.frame === FRAME)).toBe(true);
  });

  it('D3: beside delegations a plan takes the slots that are free, and the parent counts on', () => {
    const spec = planOf([task('a'), task('b'), task('c')]);
    const opened = play(spec, { width: 0 });
    const around = { childDepth: 1, parentRunId: 'run_r', nothingNew: null } as const;
    const two = followPlan(opened.state, { ...around, free: 2, nextOrdinal: 4 });
    expect(two.map(({ data }) => 'ordinal' in data && data.ordinal)).toEqual([4, 5]);
    const after = two.reduce((state, event) => evolvePlan(state, event), opened.state);
    expect(followPlan(after, { ...around, free: 0, nextOrdinal: 9 })).toEqual([]);
    const last = followPlan(after, { ...around, free: 1, nextOrdinal: 9 });
    expect(last.map(({ data }) => 'ordinal' in data && data.ordinal)).toEqual([9]);
  });

  it('a plan of one task is a plan', () => {
    const plan = play(planOf([task('only')]));
    plan.end('only');
    expect(plan.events.map((event) => event.type)).toEqual([
      'plan.started',
      'plan.task.started',
      'plan.task.completed',
      'plan.completed',
    ]);
  });
});

describe('failures', () => {
  it('P4: a failed task skips its transitive dependents alone, and names itself as the cause', () => {
    const plan = play(planOf([task('a'), task('b', ['a']), task('c', ['b']), task('d')]));
    plan.fail('a');
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'b', reason: 'upstream_failed', blocked_by: 'a' },
      { task_id: 'c', reason: 'upstream_failed', blocked_by: 'a' },
    ]);
    expect(plan.running()).toEqual(['d']);
    plan.end('d');
    expect(plan.statuses()).toEqual({ a: 'failed', b: 'skipped', c: 'skipped', d: 'completed' });
  });

  it('P4: a chain of 16 whose first fails: 15 are skipped, and the plan ends at once', () => {
    const chain = Array.from({ length: 16 }, (_, at) =>
      task(`t${at}`, at === 0 ? [] : [`t${at - 1}`]),
    );
    const plan = play(planOf(chain));
    plan.fail('t0');
    expect(plan.of('plan.task.skipped')).toHaveLength(15);
    expect(plan.of('plan.task.skipped').every((each) => each.blocked_by === 't0')).toBe(true);
    expect(Object.keys(plan.statuses() ?? {})).toHaveLength(16);
  });

  it('P4: a run that ended without its own answer is incomplete, and its dependents say so', () => {
    const plan = play(planOf([task('a'), task('b', ['a'])]));
    plan.end('a', { status: 'incomplete', reason: 'turn_limit', answer: 'so far' });
    expect(plan.of('plan.task.incomplete')[0]).toMatchObject({
      child_status: 'incomplete',
      reason: 'turn_limit',
      answer: 'so far',
    });
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'b', reason: 'upstream_incomplete', blocked_by: 'a' },
    ]);
  });

  it('N2: a run cancelled by a person leaves the plan going with an incomplete task', () => {
    const plan = play(planOf([task('a'), task('b')]));
    plan.end('a', cancelled);
    expect(taskOf(plan.state, 'a')).toMatchObject({ status: 'incomplete', answer: null });
    expect(plan.running()).toEqual(['b']);
  });

  it('D6: a run past its own time is a failure by timeout', () => {
    const plan = play(planOf([task('a')]));
    plan.end('a', { status: 'cancelled', reason: 'timed out after 5s', stopped_by: 'deadline' });
    expect(plan.of('plan.task.failed')[0]).toMatchObject({
      error_type: 'timeout',
      error: 'timed out after 5s',
    });
  });

  it('J2: plan.task.failed tells the operations that were done from those that are uncertain', () => {
    const plan = play(planOf([task('a')]));
    const operations = ['write_file (turn-1/call-1, done)', 'shell (turn-2/call-1, uncertain)'];
    plan.end('a', { status: 'failed', error_type: 'x', effect: 'uncertain', operations });
    expect(plan.of('plan.task.failed')[0]).toMatchObject({
      effect: 'uncertain',
      child_ops_completed: [operations[0]],
      child_ops_failed: [],
      child_ops_uncertain: [operations[1]],
    });
  });

  it('P12: an agent that cannot be resolved at its launch fails that task alone, without an effect', () => {
    const plan = play(planOf([task('a'), task('b', ['a']), task('c')]));
    plan.end('a', {
      status: 'failed',
      error_type: 'agent_resolution_failed',
      error: "Unknown agent 'agent-a'",
      turns: 0,
    });
    expect(plan.of('plan.task.failed')[0]).toMatchObject({
      error_type: 'agent_resolution_failed',
      effect: 'none',
    });
    expect(taskOf(plan.state, 'b')?.status).toBe('skipped');
    expect(plan.running()).toEqual(['c']);
  });

  it('P12: a rework whose agent is gone meanwhile fails, though its first round went well', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a'])]));
    plan.end('a');
    plan.end('r', {}, rework({ a: 'again' }));
    plan.end('a', { status: 'failed', error_type: 'agent_resolution_failed' });
    expect(plan.statuses()).toEqual({ a: 'failed', r: 'skipped' });
    expect(taskOf(plan.state, 'a')?.answer).toBeNull();
  });
});

describe('on_failure', () => {
  it('P5: stop starts nothing new, lets running tasks finish and names its cause', () => {
    const plan = play(
      planOf([task('a'), task('b'), task('c', ['b']), task('d', ['a'])], { on_failure: 'stop' }),
    );
    plan.fail('a');
    expect(plan.of('plan.stopped')).toEqual([{ task_id: 'a' }]);
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'd', reason: 'upstream_failed', blocked_by: 'a' },
      { task_id: 'c', reason: 'plan_stopped', blocked_by: 'a' },
    ]);
    expect(cancelledChildren(plan.state)).toEqual([]);
    plan.end('b');
    expect(plan.of('plan.completed')[0]).toEqual({
      operation_id: `run_r/${FRAME}`,
      statuses: { a: 'failed', b: 'completed', c: 'skipped', d: 'skipped' },
      stopped_by: 'a',
    });
  });

  it('P5: an incomplete task stops a plan too, and the first cause stays', () => {
    const plan = play(planOf([task('a'), task('b')], { on_failure: 'stop' }));
    plan.end('b', { status: 'incomplete', reason: 'turn_limit' });
    plan.fail('a');
    expect(plan.of('plan.stopped')).toEqual([{ task_id: 'b' }]);
    expect(plan.of('plan.completed')[0]?.stopped_by).toBe('b');
  });

  it('P5: stop during rework: what was sent back is skipped with all that built on it', () => {
    const plan = play(
      planOf([task('a'), task('x'), reviewer('r', ['a']), task('q', ['r']), task('u', ['a'])], {
        on_failure: 'stop',
      }),
    );
    plan.end('a');
    plan.end('u');
    plan.fail('x');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.story('a')).toEqual(['started', 'completed', 'rejected', 'reopened', 'skipped']);
    expect(plan.statuses()).toEqual({
      a: 'skipped',
      x: 'failed',
      r: 'skipped',
      q: 'skipped',
      u: 'skipped',
    });
    expect(plan.of('plan.task.skipped').every((each) => each.reason === 'plan_stopped')).toBe(true);
    expect(plan.of('plan.task.started')).toHaveLength(4);
  });

  it('P5: abort with eight running: seven are to be cancelled, and the summary waits only for their stop', () => {
    const tasks = Array.from({ length: 8 }, (_, at) => task(`t${at}`));
    const plan = play(
      planOf([...tasks, task('late'), task('on', ['t3'])], { on_failure: 'abort' }),
    );
    plan.fail('t3');
    expect(plan.of('plan.aborted')).toEqual([{ task_id: 't3' }]);
    expect(cancelledChildren(plan.state)).toHaveLength(7);
    expect(workingChildren(plan.state)).toEqual([]);
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'on', reason: 'upstream_failed', blocked_by: 't3' },
      { task_id: 'late', reason: 'plan_aborted', blocked_by: 't3' },
    ]);
    for (const ordinal of cancelledChildren(plan.state)) {
      expect(plan.state.ended).toBeNull();
      plan.endRun(ordinal, called);
    }
    expect(plan.of('plan.completed')[0]?.aborted_by).toBe('t3');
    expect(plan.of('plan.task.incomplete').map((each) => each.reason)).toEqual(
      Array.from({ length: 7 }, () => 'plan_aborted'),
    );
    expect(Object.values(plan.statuses() ?? {}).filter((each) => each === 'skipped')).toHaveLength(
      2,
    );
  });

  it('R13: an answer that was there before the abort reached its run counts', () => {
    const plan = play(planOf([task('a'), task('b')], { on_failure: 'abort' }));
    plan.fail('a');
    plan.end('b');
    expect(plan.statuses()).toEqual({ a: 'failed', b: 'completed' });
  });

  it('R13: a reviewer that the abort cancelled is incomplete and no default verdict', () => {
    const plan = play(
      planOf([task('a'), task('x'), reviewer('r', ['a'])], { on_failure: 'abort' }),
    );
    plan.end('a');
    plan.fail('x');
    plan.end('r', called);
    expect(plan.statuses()).toEqual({ a: 'completed', x: 'failed', r: 'incomplete' });
  });

  it('P5, P9: an exhausted rework is a failure that stops and aborts like any other', () => {
    for (const on_failure of ['stop', 'abort'] as const) {
      const plan = play(
        planOf([task('a'), reviewer('r', ['a']), task('x')], { max_rework: 0, on_failure }),
      );
      plan.end('a');
      plan.end('r', {}, rework({ a: 'no' }));
      expect(plan.state.stop).toEqual({
        kind: on_failure === 'stop' ? 'stopped' : 'aborted',
        by: 'a',
      });
      expect(cancelledChildren(plan.state)).toEqual(on_failure === 'abort' ? [2] : []);
      plan.end('x', on_failure === 'abort' ? called : {});
      expect(plan.state.ended).not.toBeNull();
    }
  });
});

describe('waves', () => {
  it('P6: a wave runs the first layer only and names what it left', () => {
    const plan = play(planOf([task('c', ['a']), task('a'), task('b')], { mode: 'wave' }), {
      width: 1,
    });
    plan.end('a');
    plan.end('b');
    expect(plan.of('plan.completed')[0]).toEqual({
      operation_id: `run_r/${FRAME}`,
      statuses: { c: 'not_started', a: 'completed', b: 'completed' },
      remaining: ['c'],
    });
  });

  it('P6: what a failure of the wave blocks is skipped with its cause, and remains too', () => {
    const plan = play(
      planOf([task('a'), task('b'), task('c', ['a']), task('d', ['b'])], { mode: 'wave' }),
    );
    plan.fail('a');
    plan.end('b');
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'c', reason: 'upstream_failed', blocked_by: 'a' },
    ]);
    expect(plan.of('plan.completed')[0]).toMatchObject({
      statuses: { a: 'failed', b: 'completed', c: 'skipped', d: 'not_started' },
      remaining: ['c', 'd'],
    });
  });
});

describe('reviews', () => {
  it('P7: accept lets the plan go on, journaled with its source', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('q', ['r'])]));
    plan.end('a');
    plan.end('r', { answer: 'I say rework!' }, accept('fine'));
    expect(plan.of('plan.task.completed')[1]).toMatchObject({
      verdict: 'accept',
      verdict_source: 'submit_review',
      answer: 'Verdict: accept\n\nfine',
    });
    expect(plan.running()).toEqual(['q']);
  });

  it.each([
    ['wrote prose instead', { answer: 'verdict: rework, all of it' }],
    ['failed', { status: 'failed', error_type: 'actor_crashed' }],
    ['ran into a limit', { status: 'incomplete', reason: 'turn_limit' }],
    ['timed out', { status: 'cancelled', stopped_by: 'deadline' }],
    ['was cancelled by a person', cancelled],
  ] as const)('P7: a reviewer that %s accepts by default, and the journal says so', (_, change) => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('q', ['r'])], { on_failure: 'stop' }),
    );
    plan.end('a');
    plan.end('r', change);
    expect(plan.of('plan.task.completed')[1]).toMatchObject({
      verdict: 'accept',
      verdict_source: 'default',
      child_status: 'status' in change ? change.status : 'completed',
    });
    expect(plan.of('plan.stopped')).toEqual([]);
    expect(plan.running()).toEqual(['q']);
  });

  it('P7: a reviewer that crashes each time is launched once a round, then accepts by default', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), reviewer('s', ['a'])]));
    const crashed = { status: 'failed', error_type: 'actor_crashed' } as const;
    plan.end('a');
    plan.end('r', crashed);
    plan.end('s', {}, rework({ a: 'again' }));
    plan.end('a');
    plan.end('r', crashed);
    plan.end('s', {}, accept());
    expect(plan.statuses()).toEqual({ a: 'completed', r: 'completed', s: 'completed' });
    expect(plan.of('plan.task.started').filter((each) => each.task_id === 'r')).toHaveLength(2);
    expect(taskOf(plan.state, 'r')?.verdict?.source).toBe('default');
  });

  it('P7: prose instead of a verdict is kept as the reviewer’s answer, with where all of it is', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a'])]));
    plan.end('a');
    plan.end('r', { answer: 'long prose', full_path: '/kept/r.txt' });
    expect(taskOf(plan.state, 'r')?.answer).toMatchObject({
      answer: 'long prose',
      full_path: '/kept/r.txt',
    });
  });

  it('P12: a reviewer whose agent cannot be resolved never was, so it fails instead of accepting', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('q', ['r'])]));
    plan.end('a');
    plan.end('r', { status: 'failed', error_type: 'agent_resolution_failed' });
    expect(plan.statuses()).toEqual({ a: 'completed', r: 'failed', q: 'skipped' });
  });

  it('P7: remarks on a task that it does not review change nothing, alone or beside others', () => {
    const plan = play(planOf([task('a'), task('b'), reviewer('r', ['a']), reviewer('s', ['b'])]));
    plan.end('a');
    plan.end('b');
    plan.end('r', {}, rework({ b: 'mine now' }));
    expect(plan.of('plan.task.completed').at(-1)).toMatchObject({ verdict_source: 'default' });
    plan.end('s', {}, rework({ a: 'no', b: 'yes', ghost: 'no' }));
    expect(plan.of('plan.task.rejected').map((each) => each.task_id)).toEqual(['b']);
  });

  it('P7: a verdict of a task that reviews nothing is nobody’s', () => {
    const plan = play(planOf([task('a'), task('b', ['a'])]));
    plan.end('a');
    plan.end('b', {}, rework({ a: 'no' }));
    expect(plan.of('plan.task.rejected')).toEqual([]);
    expect(plan.statuses()).toEqual({ a: 'completed', b: 'completed' });
  });
});

describe('rework', () => {
  it('P8: what has remarks goes back with its round, the rest is accepted, the reviewer runs again', () => {
    const plan = play(planOf([task('a'), task('b'), reviewer('r', ['a', 'b']), task('q', ['r'])]));
    plan.end('a');
    plan.end('b');
    plan.end('r', {}, rework({ a: 'tests are missing' }));
    expect(plan.events.slice(-5).map((event) => event.type)).toEqual([
      'plan.task.completed',
      'plan.task.rejected',
      'plan.task.reopened',
      'plan.task.invalidated',
      'plan.task.started',
    ]);
    expect(plan.of('plan.task.rejected')).toEqual([
      {
        task_id: 'a',
        child_run_id: 'run_r/plan/01-a',
        by: 'r',
        round: 1,
        returns: 1,
        remarks: 'tests are missing',
      },
    ]);
    expect(plan.of('plan.task.reopened')).toEqual([{ task_id: 'a', by: 'r', round: 2 }]);
    expect(plan.story('b')).toEqual(['started', 'completed']);
    expect(plan.running()).toEqual(['a']);
    plan.end('a');
    expect(plan.running()).toEqual(['r']);
    plan.end('r', {}, accept());
    plan.end('q');
    expect(Object.values(plan.statuses() ?? {})).toEqual(
      Array.from({ length: 4 }, () => 'completed'),
    );
    expect(plan.of('plan.task.started').map((each) => `${each.task_id}@${each.round}`)).toEqual([
      'a@1',
      'b@1',
      'r@1',
      'a@2',
      'r@2',
      'q@1',
    ]);
  });

  it('P8: rework while a consumer is running: it is cancelled and starts anew on the new answer', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('use', ['a'])]));
    plan.end('a');
    expect(plan.running()).toEqual(['r', 'use']);
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.of('plan.task.invalidated')).toEqual([
      { task_id: 'r', because_of: 'a', ordinal: null, child_run_id: null },
      { task_id: 'use', because_of: 'a', ordinal: 3, child_run_id: 'run_r/plan/03-use' },
    ]);
    expect(cancelledChildren(plan.state)).toEqual([3]);
    expect(plan.due().map((effect) => effect.key)).toEqual(['run:3', 'cancel:3']);
    plan.endRun(3, called);
    plan.end('a');
    expect(plan.running()).toEqual(['r', 'use']);
    plan.end('use');
    expect(taskOf(plan.state, 'use')?.answer?.answer).toBe('use@2');
  });

  it('P8: rework while a consumer is pending leaves it pending, without an event', () => {
    const plan = play(
      planOf([task('a'), task('b'), reviewer('r', ['a']), task('use', ['a', 'b'])]),
    );
    plan.end('a');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.story('use')).toEqual([]);
    plan.end('b');
    expect(plan.running()).toEqual(['a']);
    plan.end('a');
    expect(plan.running()).toEqual(['r', 'use']);
  });

  it('P8: rework when a consumer is done drops its answer and the answers of those after it', () => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('use', ['a']), task('more', ['use'])]),
    );
    plan.end('a');
    plan.end('use');
    plan.end('more');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.of('plan.task.invalidated').map((each) => each.task_id)).toEqual([
      'r',
      'use',
      'more',
    ]);
    expect(taskOf(plan.state, 'more')).toMatchObject({ status: 'pending', answer: null });
    expect(plan.state.ended).toBeNull();
  });

  it('P8: an independent branch is not touched by a rework', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('x'), task('y', ['x'])]));
    plan.end('a');
    plan.end('x');
    plan.end('r', {}, rework({ a: 'again' }));
    plan.end('y');
    expect(plan.story('x')).toEqual(['started', 'completed']);
    expect(plan.story('y')).toEqual(['started', 'completed']);
  });

  it('P8: a task cancelled for rework whose answer arrives anyway: the answer is nobody’s', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('use', ['a'])]));
    plan.end('a');
    plan.end('r', {}, rework({ a: 'again' }));
    const late = plan.endRun(3, { answer: 'too late', turns: 4 });
    expect(late.map((event) => event.type)).toEqual(['plan.task.discarded', 'plan.task.started']);
    expect(taskOf(plan.state, 'use')).toMatchObject({ status: 'pending', answer: null });
    expect(plan.of('plan.task.discarded')[0]).toMatchObject({
      child_status: 'completed',
      turns: 4,
    });
    expect(plan.endRun(3, { answer: 'twice' })).toEqual([]);
    expect(JSON.stringify(plan.state)).not.toContain('too late');
  });

  it('P8: the verdict of a reviewer that was cancelled meanwhile sends nothing back', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), reviewer('s', ['a'])]));
    plan.end('a');
    plan.end('r', {}, rework({ a: 'once' }));
    plan.endRun(3, {}, rework({ a: 'twice' }));
    expect(plan.of('plan.task.rejected')).toHaveLength(1);
  });

  it('P8, P13: a rework waits until the cancelled runs that build on it have stopped', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('use', ['a']), task('x')]));
    plan.end('a');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.running()).toEqual(['x', 'use']);
    plan.end('x');
    expect(plan.running()).toEqual(['use']);
    plan.endRun(4, called);
    expect(plan.running()).toEqual(['a']);
  });

  it('P2: a cancelled run holds its slot until it has stopped', () => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('use', ['a']), task('x'), task('y')]),
      { width: 2 },
    );
    plan.end('a');
    expect(plan.running()).toEqual(['x', 'r']);
    plan.end('x');
    expect(plan.running()).toEqual(['r', 'use']);
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.running()).toEqual(['use', 'y']);
  });

  it('P8: two reviewers of overlapping sets: the second sends back what the first accepted', () => {
    const plan = play(
      planOf([
        task('a'),
        task('b'),
        task('c'),
        reviewer('r', ['a', 'b']),
        reviewer('s', ['b', 'c']),
      ]),
    );
    for (const id of ['a', 'b', 'c']) plan.end(id);
    plan.end('r', {}, accept());
    plan.end('s', {}, rework({ b: 'no' }));
    expect(plan.running()).toEqual(['b']);
    expect(taskOf(plan.state, 'r')).toMatchObject({ status: 'pending', verdict: null });
    plan.end('b');
    expect(plan.running()).toEqual(['r', 's']);
    plan.end('r', {}, accept());
    plan.end('s', {}, accept());
    expect(plan.story('a')).toEqual(['started', 'completed']);
    expect(plan.story('c')).toEqual(['started', 'completed']);
  });

  it('P8: a reviewer of a reviewer sends the review back, and the work below stays as it is', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), reviewer('rr', ['r'])]));
    plan.end('a');
    plan.end('r', {}, accept());
    plan.end('rr', {}, rework({ r: 'look closer' }));
    expect(plan.running()).toEqual(['r']);
    plan.end('r', {}, rework({ a: 'found something' }));
    expect(plan.running()).toEqual(['a']);
    plan.end('a');
    plan.end('r', {}, accept());
    plan.end('rr', {}, accept());
    expect(plan.story('a')).toEqual([
      'started',
      'completed',
      'rejected',
      'reopened',
      'started',
      'completed',
    ]);
    expect(plan.statuses()).toEqual({ a: 'completed', r: 'completed', rr: 'completed' });
  });

  it('P8: a task and its consumer sent back together: both keep their remarks, in their order', () => {
    const plan = play(planOf([task('a'), task('b', ['a']), reviewer('r', ['a', 'b'])]));
    plan.end('a');
    plan.end('b');
    plan.end('r', {}, rework({ b: 'shorter', a: 'longer' }));
    expect(plan.of('plan.task.rejected').map((each) => each.task_id)).toEqual(['a', 'b']);
    expect(plan.of('plan.task.invalidated').map((each) => each.task_id)).toEqual(['r']);
    expect(plan.running()).toEqual(['a']);
    plan.end('a');
    expect(taskOf(plan.state, 'b')?.rework?.remarks).toBe('shorter');
  });

  it('P4: a consumer that failed stays failed, whatever becomes of its input', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('use', ['a'])]));
    plan.end('a');
    plan.fail('use');
    plan.end('r', {}, rework({ a: 'again' }));
    plan.end('a');
    plan.end('r', {}, accept());
    expect(plan.statuses()).toEqual({ a: 'completed', r: 'completed', use: 'failed' });
  });
});

describe('limits', () => {
  it('P9: a task sent back more often than max_rework fails, and whatever built on it is skipped', () => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('use', ['a']), task('q', ['r'])], {
        max_rework: 1,
      }),
    );
    plan.end('a');
    plan.end('use');
    plan.end('r', {}, rework({ a: 'once' }));
    plan.end('a', { effect: 'applied', turns: 6 });
    plan.end('use');
    plan.end('r', {}, rework({ a: 'twice' }));
    expect(plan.of('plan.task.failed')).toEqual([
      expect.objectContaining({
        task_id: 'a',
        error_type: 'rework_exhausted',
        effect: 'applied',
        turns: 6,
        usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
        cost_cents: 0,
      }),
    ]);
    expect(plan.of('plan.task.skipped')).toEqual(
      ['r', 'use', 'q'].map((id) => ({
        task_id: id,
        reason: 'upstream_rework_exhausted',
        blocked_by: 'a',
      })),
    );
    expect(taskOf(plan.state, 'a')?.answer).toBeNull();
  });

  it('P9: with max_rework 0 the first rework verdict exhausts, and what it accepts is kept', () => {
    const plan = play(planOf([task('a'), task('b'), reviewer('r', ['a', 'b'])], { max_rework: 0 }));
    plan.end('a');
    plan.end('b');
    plan.end('r', {}, rework({ a: 'no' }));
    expect(plan.statuses()).toEqual({ a: 'failed', b: 'completed', r: 'skipped' });
    expect(plan.of('plan.task.reopened')).toEqual([]);
  });

  it('P9: a running consumer of an exhausted task is cancelled, and the plan waits for its end', () => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('use', ['a'])], { max_rework: 0 }),
    );
    plan.end('a');
    plan.end('r', {}, rework({ a: 'no' }));
    expect(cancelledChildren(plan.state)).toEqual([3]);
    expect(plan.state.ended).toBeNull();
    plan.endRun(3, called);
    expect(plan.statuses()).toEqual({ a: 'failed', r: 'skipped', use: 'skipped' });
  });

  it('P9: launches stay within tasks × (1 + max_rework), and beyond it tasks are skipped', () => {
    const plan = play(
      planOf([task('a'), reviewer('r1', ['a']), reviewer('r2', ['a']), task('x', ['r1', 'r2'])], {
        max_rework: 1,
      }),
    );
    plan.end('a');
    plan.end('r1', {}, accept());
    plan.end('r2', {}, rework({ a: 'no' }));
    plan.end('a');
    plan.end('r1', {}, accept());
    plan.end('r2', {}, accept());
    expect(plan.state.launches).toHaveLength(7);
    const tight = play(
      planOf([reviewer('r1', ['a']), task('a'), reviewer('r2', ['r1'])], { max_rework: 1 }),
    );
    tight.end('a');
    tight.end('r1', {}, accept());
    tight.end('r2', {}, rework({ r1: 'closer' }));
    tight.end('r1', {}, rework({ a: 'no' }));
    tight.end('a');
    expect(tight.state.launches).toHaveLength(6);
    expect(tight.of('plan.task.skipped')).toEqual([
      { task_id: 'r2', reason: 'execution_budget', blocked_by: null },
    ]);
    tight.end('r1', {}, accept());
    expect(tight.statuses()).toEqual({ r1: 'completed', a: 'completed', r2: 'skipped' });
  });

  it('P9: 16 tasks at max_rework 4, all sent back each time: 80 launches at most, and the plan ends', () => {
    const work = Array.from({ length: 15 }, (_, at) => task(`t${at}`));
    const plan = play(
      planOf(
        [
          ...work,
          reviewer(
            'r',
            work.map(({ id }) => id),
          ),
        ],
        { max_rework: 4 },
      ),
    );
    const all = rework(Object.fromEntries(work.map(({ id }) => [id, 'no'])));
    for (let steps = 0; plan.state.ended === null && steps < 500; steps += 1) {
      const [launch] = plan
        .due()
        .flatMap((each) => (each.type === 'task.run' ? [each.launch] : []));
      plan.endRun(launch?.ordinal ?? 0, {}, launch?.task_id === 'r' ? all : null);
    }
    expect(plan.state.launches).toHaveLength(80);
    expect(Object.values(plan.statuses() ?? {}).filter((each) => each === 'failed')).toHaveLength(
      15,
    );
    expect(plan.of('plan.task.rejected')).toHaveLength(75);
  });

  it('P10: past the run’s time nothing new starts, running tasks finish, and the plan ends', () => {
    const plan = play(planOf([task('a'), reviewer('r', ['a']), task('b'), task('c', ['b'])]), {
      width: 2,
    });
    plan.end('a');
    plan.say({ type: 'out-of-time' });
    expect(plan.running()).toEqual(['b', 'r']);
    expect(cancelledChildren(plan.state)).toEqual([]);
    plan.end('b');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.of('plan.task.skipped')).toEqual(
      ['c', 'a', 'r'].map((id) => ({ task_id: id, reason: 'run_time_limit', blocked_by: null })),
    );
    expect(plan.statuses()).toEqual({ a: 'skipped', r: 'skipped', b: 'completed', c: 'skipped' });
    expect(plan.say({ type: 'out-of-time' })).toEqual([]);
  });

  it('P10, P5: a stopped plan starts nothing anyway, so the time limit adds nothing to it', () => {
    const plan = play(planOf([task('a'), task('b'), task('c', ['b'])], { on_failure: 'stop' }));
    plan.fail('a');
    expect(plan.say({ type: 'out-of-time' })).toEqual([]);
    expect(evolvePlan(plan.state, planEvent('plan.aborted', FRAME, { task_id: 'b' })).stop).toEqual(
      {
        kind: 'stopped',
        by: 'a',
      },
    );
  });

  it('P10, P5: a failure after the time limit still aborts what runs', () => {
    const plan = play(planOf([task('a'), task('b'), task('c', ['b'])], { on_failure: 'abort' }));
    plan.say({ type: 'out-of-time' });
    plan.fail('a');
    expect(cancelledChildren(plan.state)).toEqual([2]);
    expect(plan.of('plan.task.skipped')).toEqual([
      { task_id: 'c', reason: 'run_time_limit', blocked_by: null },
    ]);
  });
});

describe('the machine', () => {
  it('P14: nothing is heard before the start, after the end, of a stranger, or twice', () => {
    const plan = play(planOf([task('a'), task('b')]));
    const stranger = { type: 'task-ended', ordinal: 9, outcome: outcomeOf('a', 1) } as const;
    expect(plan.say({ ...stranger, verdict: null })).toEqual([]);
    const first = plan.commands[0];
    if (first !== undefined) expect(plan.say(first)).toEqual([]);
    plan.end('a');
    expect(plan.endRun(1)).toEqual([]);
    plan.end('b');
    expect(plan.endRun(2)).toEqual([]);
    expect(plan.say({ type: 'out-of-time' })).toEqual([]);
  });

  it('P14: evolve takes any event in any state, and a plan that never started owes nothing', () => {
    const full = play(
      planOf([task('a'), reviewer('r', ['a'])], { max_rework: 0, on_failure: 'stop' }),
    );
    full.end('a');
    full.end('r', {}, rework({ a: 'no' }));
    for (const event of full.events) {
      const alone = evolvePlan(PENDING_PLAN, event);
      expect(alone.tasks.every((each) => each.status === 'pending')).toBe(true);
      expect(() => evolvePlan(full.state, event)).not.toThrow();
    }
    const strange = { type: 'plan.task.blessed', frame: null, data: {} } as never;
    expect(evolvePlan(full.state, strange)).toEqual({
      ...full.state,
      places: { ...full.state.places, last: full.state.places.last + 1 },
    });
  });

  it('N1: a note goes to exactly the runs whose answer is waited for', () => {
    const plan = play(
      planOf([task('a'), reviewer('r', ['a']), task('use', ['a']), task('x'), task('y', ['x'])]),
    );
    plan.end('a');
    plan.end('r', {}, rework({ a: 'again' }));
    expect(plan.running()).toEqual(['x', 'use']);
    expect(workingChildren(plan.state)).toEqual([2]);
    plan.endRun(4, called);
    expect(workingChildren(plan.state)).toEqual([2, 5]);
  });

  it('R12: ids that every object has as names are tasks like any other', () => {
    const spec = readPlanCall(
      {
        tasks: [
          { id: 'constructor', agent_id: 'w', prompt: 'p' },
          { id: 'toString', agent_id: 'w', prompt: 'p', review_of: ['constructor'] },
          { id: 'hasOwnProperty', agent_id: 'w', prompt: 'p' },
        ],
      },
      { answered: new Set(), resolveAgent: (asked) => ({ ok: true, agentId: asked }) },
    );
    if (!spec.ok) throw new Error(spec.faults.join('\n'));
    const plan = play(spec.spec);
    plan.end('constructor');
    plan.end('toString', {}, rework({ constructor: 'again' }));
    plan.end('constructor');
    plan.end('toString', {}, accept());
    plan.end('hasOwnProperty');
    expect(plan.story('constructor')).toContain('reopened');
    expect(plan.story('hasOwnProperty')).toEqual(['started', 'completed']);
    expect(Object.keys(plan.statuses() ?? {})).toHaveLength(3);
  });

  it('P14: a plan that was cut at any event goes on from there to the same end', () => {
    const whole = play(planOf([task('a'), reviewer('r', ['a']), task('use', ['a'])]));
    whole.end('a');
    whole.end('r', {}, rework({ a: 'again' }));
    whole.endRun(3, called);
    whole.end('a');
    whole.end('use');
    whole.end('r', {}, accept());
    const around = { childDepth: 1, parentRunId: 'run_r', nothingNew: null } as const;
    for (let cut = 1; cut < whole.events.length; cut += 1) {
      const kept = JSON.parse(JSON.stringify(whole.events.slice(0, cut))) as typeof whole.events;
      let state = kept.reduce((now, event) => evolvePlan(now, event), PENDING_PLAN);
      const events = [...kept];
      for (let steps = 0; state.ended === null && steps < 50; steps += 1) {
        const live = state.launches.filter((each) => each.status === 'running');
        const next = followPlan(state, {
          ...around,
          free: 8 - live.length,
          nextOrdinal: state.launches.length + 1,
        });
        if (next.length === 0) {
          const [run] = live;
          const verdict = run?.task_id === 'r' ? accept() : null;
          const outcome = outcomeOf(run?.task_id ?? '', run?.round ?? 0);
          next.push(...endTask(state, run?.ordinal ?? 0, outcome, verdict));
        }
        events.push(...next);
        state = next.reduce((now, event) => evolvePlan(now, event), state);
      }
      expect(state.ended?.statuses, `cut after ${cut}`).toEqual({
        a: 'completed',
        r: 'completed',
        use: 'completed',
      });
      expect(events.filter((event) => event.type === 'plan.completed')).toHaveLength(1);
    }
  });
});
