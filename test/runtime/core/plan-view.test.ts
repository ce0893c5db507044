import { describe, expect, it } from 'vitest';
import { planView } from '../../../src/runtime/core/plan-view.ts';
import { childRunId, taskIdOf } from '../../../src/runtime/core/run-id.ts';
import { PlanPlay, planOf, reviewer, rework, task } from '../../support/plan-fixtures.ts';

describe('the view of a plan', () => {
  it('K1: is plain JSON with status, round, runs, verdict, rejections and skips of every task', () => {
    const tasks = [task('a'), reviewer('r', ['a']), task('x', ['a'])];
    const play = new PlanPlay(planOf(tasks, { goal: 'g', max_rework: 1 }));
    play.end('a');
    play.end('r', {}, rework({ a: 'shorter' }));
    play.endRun(3, { status: 'cancelled', stopped_by: 'parent' });
    play.end('a', { status: 'failed', error_type: 'model.timeout', error: 'too slow' });
    const view = planView(play.state, false);
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(view).toMatchObject({
      operation_id: 'run_r/turn-1/call-1',
      frame_id: 'turn-1/call-1',
      goal: 'g',
      status: 'completed',
      ended_by: null,
      out_of_time: false,
    });
    const none = {
      verdict: null,
      verdict_source: null,
      error_type: null,
      error: null,
      reason: null,
    };
    expect(view?.tasks).toEqual([
      {
        ...none,
        id: 'a',
        agent_id: 'agent-a',
        depends_on: [],
        review_of: [],
        status: 'failed',
        round: 2,
        child_run_ids: ['run_r/plan/01-a', 'run_r/plan/04-a'],
        rejections: [{ by: 'r', round: 1, remarks: 'shorter', run_id: 'run_r/plan/01-a' }],
        skip: null,
        error_type: 'model.timeout',
        error: 'too slow',
      },
      {
        ...none,
        id: 'r',
        agent_id: 'agent-r',
        depends_on: ['a'],
        review_of: ['a'],
        status: 'skipped',
        round: 1,
        child_run_ids: ['run_r/plan/02-r'],
        rejections: [],
        skip: { reason: 'upstream_failed', blocked_by: 'a' },
      },
      {
        ...none,
        id: 'x',
        agent_id: 'agent-x',
        depends_on: ['a'],
        review_of: [],
        status: 'skipped',
        round: 1,
        child_run_ids: ['run_r/plan/03-x'],
        rejections: [],
        skip: { reason: 'upstream_failed', blocked_by: 'a' },
      },
    ]);
  });

  it('is not there before the plan started', () => {
    const { state } = new PlanPlay(planOf([task('a')]));
    expect(planView({ ...state, spec: null }, false)).toBeNull();
  });

  it('the id of a run names the task that it does, and none where no plan launched it itself', () => {
    expect(taskIdOf(childRunId('run_a', 'plan', 4, 'b.answer-2'))).toBe('b.answer-2');
    expect(taskIdOf(childRunId('run_a/plan/04-b', 'delegate', 1))).toBeNull();
    expect(taskIdOf('run_a')).toBeNull();
  });
});
