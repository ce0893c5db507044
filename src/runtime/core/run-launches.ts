import type { PlanSpec } from './plan-spec.ts';
import { isInReach, type PlanState } from './plan-state.ts';
import type { CallVerdict, RunEvent } from './run-event.ts';
import { callOf, livePlans, type RunState } from './run-state.ts';

/** Launches that a plan is certain of when it starts: one a task, of a wave only those of its first layer (SPEC P6). */
export function launchesOfPlan({ mode, tasks }: PlanSpec): number {
  return tasks.filter((task) => mode !== 'wave' || task.depends_on.length === 0).length;
}

/**
 * How many reserved launches an event gives back, because what they were reserved for will not begin (SPEC R11): a call
 * that ends before it began, tasks that an ended plan never started.
 */
export function launchesFreed(before: RunState, event: RunEvent): number {
  switch (event.type) {
    case 'tool.failed': {
      const call = callOf(before, event.data.call_id);
      const began = call?.status === 'running' || call?.status === 'done';
      return call === undefined || began ? 0 : reservedFor(call.verdict);
    }
    case 'plan.completed': {
      const plan = livePlans(before).find((each) => each.frame === event.frame);
      return plan === undefined ? 0 : unstarted(plan);
    }
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.incomplete':
      return livePlans(before).reduce((sum, plan) => sum + unstarted(plan), 0);
    default:
      return 0;
  }
}

/** Runs that a call is certain to launch. */
export function reservedFor(verdict: CallVerdict): number {
  if (verdict.kind === 'plan') return launchesOfPlan(verdict.plan);
  return verdict.kind === 'delegate' || verdict.kind === 'subagent' ? 1 : 0;
}

/** First runs of tasks that a plan has promised and not begun. */
export function unstarted(plan: PlanState): number {
  return plan.tasks.filter(({ task, round }) => round === 0 && isInReach(plan, task)).length;
}
