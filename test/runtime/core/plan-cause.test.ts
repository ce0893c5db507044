import { describe, expect, it } from 'vitest';
import { causeOfPlanEvent } from '../../../src/runtime/core/plan-cause.ts';
import { evolvePlan } from '../../../src/runtime/core/plan-evolve.ts';
import { PENDING_PLAN } from '../../../src/runtime/core/plan-state.ts';
import { accept, PlanPlay, planOf, reviewer, rework, task } from '../../support/plan-fixtures.ts';

/** Every event of a play with the one it follows from, both in short; `from` is where the plan begins in its run. */
function causes(play: PlanPlay, from = 1): string[] {
  const names = play.events.map(({ type, data }) => {
    const id = 'task_id' in data ? ` ${data.task_id}` : '';
    return `${type.replace('plan.', '').replace('task.', '')}${id}`;
  });
  let state = PENDING_PLAN;
  return play.events.map((event, at) => {
    const cause = causeOfPlanEvent(state, event);
    state = evolvePlan(state, event, from + at);
    return `${names[at]} <- ${cause === null ? 'the call' : names[cause - from]}`;
  });
}

describe('the cause of an event', () => {
  it('J1: from any answer one can walk back to the start, through every review', () => {
    const play = new PlanPlay(
      planOf([task('a'), task('x'), reviewer('r', ['a']), task('use', ['a'])]),
    );
    play.end('a');
    play.end('r', {}, rework({ a: 'again' }));
    play.endRun(4, { status: 'cancelled' });
    play.end('x');
    play.end('a');
    play.end('r', {}, accept());
    play.end('use');
    expect(causes(play)).toEqual([
      'started <- the call',
      'started a <- started',
      'started x <- started',
      'completed a <- started a',
      'started r <- completed a',
      'started use <- completed a',
      'completed r <- started r',
      'rejected a <- completed r',
      'reopened a <- rejected a',
      'invalidated r <- reopened a',
      'invalidated use <- reopened a',
      'discarded use <- started use',
      'started a <- reopened a',
      'completed x <- started x',
      'completed a <- started a',
      'started r <- completed a',
      'started use <- completed a',
      'completed r <- started r',
      'completed use <- started use',
      'completed <- completed use',
    ]);
  });

  it('J1: failures, skips and stops follow from what caused them', () => {
    const play = new PlanPlay(
      planOf([task('a'), task('b', ['a']), task('y'), task('z', ['y'])], { on_failure: 'stop' }),
    );
    play.fail('a');
    play.end('y');
    expect(causes(play, 20)).toEqual([
      'started <- the call',
      'started a <- started',
      'started y <- started',
      'failed a <- started a',
      'stopped a <- failed a',
      'skipped b <- failed a',
      'skipped z <- stopped a',
      'completed y <- started y',
      'completed <- completed y',
    ]);
  });

  it('J1: an exhausted task fails because it was rejected, and the time limit is its own cause', () => {
    const play = new PlanPlay(
      planOf([task('a'), reviewer('r', ['a']), task('y'), task('z', ['y'])], { max_rework: 0 }),
    );
    play.end('a');
    play.end('r', {}, rework({ a: 'no' }));
    play.say({ type: 'out-of-time' });
    play.end('y');
    expect(causes(play).slice(6)).toEqual([
      'rejected a <- completed r',
      'failed a <- rejected a',
      'invalidated r <- failed a',
      'skipped r <- failed a',
      'time_limit <- started',
      'skipped z <- time_limit',
      'completed y <- started y',
      'completed <- completed y',
    ]);
  });
});
