import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { eventWords } from '../../../src/cli/core/event-words.ts';
import { EVENT_TYPES } from '../../../src/runtime/core/event.ts';
import type { PlanEvent } from '../../../src/runtime/core/plan-event.ts';
import { accept, PlanPlay, planOf, reviewer, rework, task } from '../../support/plan-fixtures.ts';

/** The words of all that happened to a plan, by type. */
function wordsOf(events: readonly PlanEvent[]): string[] {
  return events.map(
    ({ type, data }) =>
      `${type.slice('plan.'.length)} | ${eventWords(type, data as unknown as JsonObject)}`,
  );
}

const REVIEWED = [task('a'), reviewer('r', ['a']), task('x', ['a'])];

describe('the words of a plan in the log', () => {
  it('J2: tell a rework from verdict to the second answer', () => {
    const play = new PlanPlay(planOf(REVIEWED, { goal: 'one text' }));
    play.end('a', { turns: 2 });
    play.end('r', { turns: 1 }, rework({ a: 'Say it shorter.' }));
    play.endRun(3, { status: 'cancelled', stopped_by: 'parent' });
    play.end('a', { turns: 1 });
    play.end('r', { turns: 1 }, accept());
    expect(wordsOf(play.events).slice(0, 15)).toEqual([
      'started | 3 tasks: one text',
      'task.started | a: agent-a as run_r/plan/01-a',
      'task.completed | a: 2 turns',
      'task.started | r: agent-r as run_r/plan/02-r, after a',
      'task.started | x: agent-x as run_r/plan/03-x, after a',
      'task.completed | r: rework of a, 1 turn',
      'task.rejected | a sent back by r in round 1: Say it shorter.',
      'task.reopened | a again, round 2, with the remarks of r',
      'task.invalidated | r: its answer is dropped, because a was sent back',
      'task.invalidated | x: run_r/plan/03-x is cancelled, because a was sent back',
      'task.discarded | x: run_r/plan/03-x ended as cancelled, nobody waits for it',
      'task.started | a, round 2: agent-a as run_r/plan/04-a',
      'task.completed | a, round 2: 1 turn',
      'task.started | r, round 2: agent-r as run_r/plan/05-r, after a',
      'task.started | x, round 2: agent-x as run_r/plan/06-x, after a',
    ]);
    expect(wordsOf(play.events).at(-1)).toBe('task.completed | r, round 2: accept, 1 turn');
  });

  it('P4: explain a failure, its skips and the end of the plan', () => {
    const play = new PlanPlay(planOf([task('t3'), task('t4', ['t3']), task('t5')]));
    play.fail('t3');
    play.end('t5', { status: 'incomplete', reason: 'turn_limit' });
    expect(wordsOf(play.events).slice(3)).toEqual([
      'task.failed | t3, model.timeout: too slow',
      'task.skipped | t4 skipped: upstream_failed, blocked by t3',
      'task.incomplete | t5 ended as incomplete: turn_limit',
      'completed | 3 tasks: 1 failed, 1 incomplete, 1 skipped',
    ]);
  });

  it('P5: explain a stop and an abort', () => {
    const stopped = new PlanPlay(
      planOf([task('a'), task('b'), task('c', ['b'])], { on_failure: 'stop' }),
    );
    stopped.fail('a');
    stopped.end('b');
    const words = wordsOf(stopped.events);
    expect(words[0]).toBe('started | 3 tasks, stops at a failure');
    expect(words).toContain('stopped | nothing new starts, because of a');
    expect(words).toContain('task.skipped | c skipped: plan_stopped, blocked by a');
    expect(words.at(-1)).toBe(
      'completed | 3 tasks: 1 completed, 1 failed, 1 skipped; stopped by a',
    );
    const aborted = new PlanPlay(planOf([task('a'), task('b')], { on_failure: 'abort' }));
    aborted.fail('a');
    aborted.end('b', { status: 'cancelled', stopped_by: 'parent' });
    expect(wordsOf(aborted.events)).toContain(
      'aborted | nothing new starts and what runs is cancelled, because of a',
    );
    expect(wordsOf(aborted.events).at(-1)).toMatch(/; aborted by a$/);
  });

  it('P6, P10: explain what was not started', () => {
    const wave = new PlanPlay(planOf([task('a'), task('b', ['a'])], { mode: 'wave' }));
    wave.end('a');
    expect(wordsOf(wave.events)[0]).toBe('started | 2 tasks, first wave only');
    expect(wordsOf(wave.events).at(-1)).toBe(
      'completed | 2 tasks: 1 completed, 1 not started; remaining: b',
    );
    const late = new PlanPlay(planOf([task('a'), task('b', ['a'])]));
    late.say({ type: 'out-of-time' });
    expect(wordsOf(late.events)).toContain('time_limit | nothing new starts: run_time_limit');
    expect(wordsOf(late.events)).toContain('task.skipped | b skipped: run_time_limit');
  });

  it('P7: name a verdict that nobody gave', () => {
    const play = new PlanPlay(planOf([task('a'), reviewer('r', ['a'])]));
    play.end('a');
    play.fail('r');
    expect(wordsOf(play.events).at(-2)).toBe(
      'task.completed | r: accept by default, its run ended as failed without a verdict, 1 turn',
    );
  });

  it('exist for every type of a plan, so that none is shown as bare data', () => {
    const bare = EVENT_TYPES.filter((type) => type.startsWith('plan.')).filter(
      (type) => eventWords(type, {}) === '{}',
    );
    expect(bare).toEqual([]);
  });
});
