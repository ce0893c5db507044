import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { judgeSeed, judgeTwice, report } from '../support/sim-seeds.ts';
import type { Told } from '../support/sim-story.ts';

/** What the simulated worlds are meant to try; where they no longer reach it, they prove less than they say. */
const REACHED = [
  'run.cancelled',
  'run.failed',
  'run.incomplete',
  'run.resumed host_lost',
  'run.resumed thread_lost',
  'run.failed poisoned',
  'run.failed actor_crashed',
  'run.failed pool.closed',
  'run.cancelled timeout',
  'run.incomplete run_time_limit',
  'run.incomplete turn_limit',
  'note.read',
  'note.dead_letter',
  'note.too_late',
  'approval.granted',
  'approval.denied',
  'tool.failed interrupted',
  'tool.failed timeout',
  'tool.failed runs_limit',
  'tool.failed depth_limit',
  'tool.failed rights_widened',
  'run.started narrowed',
  'run.started below a narrowed one',
  'run.started independent',
  'tool.failed malformed_arguments',
  'tool.failed shared_failure',
  'tool.failed parallel_failed',
  'tool.failed task_failed',
  'tool.failed task_cancelled',
  'tool.failed not_running',
  'tool.failed await_timeout',
  'tool.failed not_found',
  'tool.completed kept',
  'delegation.failed',
  'delegation.failed agent_resolution_failed',
  'plan.task.rejected',
  'plan.task.reopened',
  'plan.task.invalidated',
  'plan.task.discarded',
  'plan.task.failed rework_exhausted',
  'plan.task.incomplete',
  'plan.task.skipped upstream_failed',
  'plan.task.skipped run_time_limit',
  'plan.stopped',
  'plan.aborted',
  'plan.time_limit',
  'plan.completed',
];

/** Few enough for a test; `npm run sim` plays as many as wanted. */
const SEEDS = 300;

/** What of a run's record says that its rights are not simply its agent's. */
function rightsIn(data: JsonObject): string[] {
  const { narrowings, independent, is_subagent } = data;
  const isNarrowed = Array.isArray(narrowings) && narrowings.length > 0;
  const how = is_subagent === true ? 'narrowed' : 'below a narrowed one';
  return [...(isNarrowed ? [how] : []), ...(independent === true ? ['independent'] : [])];
}

describe('simulated worlds', () => {
  const seen = new Set<string>();

  it(`J5, N4, R12: ${SEEDS} seeds keep every invariant, whatever is cancelled, fails, hangs or dies`, async () => {
    const failing: string[] = [];
    const look = ({ events }: Told) => {
      for (const { type, data } of events) {
        seen.add(type);
        for (const key of ['why', 'error_type', 'reason']) seen.add(`${type} ${data[key]}`);
        if (type === 'run.started') for (const how of rightsIn(data)) seen.add(`${type} ${how}`);
        if (type === 'tool.completed' && data['full_path'] !== null) seen.add(`${type} kept`);
      }
    };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const verdict = await judgeSeed(seed, look);
      if (verdict.violations.length > 0) failing.push(report(verdict));
    }
    expect(failing.join('\n')).toBe('');
  }, 120_000);

  it('those seeds reach everything that they are meant to try', () => {
    expect(REACHED.filter((what) => !seen.has(what))).toEqual([]);
  });

  it('the same seed goes the same way to the last event and act', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { violations } = await judgeTwice(seed);
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  }, 60_000);

  it('a seed that fails says how to play it again', () => {
    const violations = [{ invariant: 'one result a call', words: 'two of call_1' } as const];
    const words = report({ seed: 7, stories: 1, events: 9, violations });
    expect(words).toContain('npm run sim -- --first 7 --seeds 1');
    expect(words).toContain('one result a call: two of call_1');
  });
});
