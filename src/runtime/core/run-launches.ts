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
      if (call === undefined || call.status === 'done') return 0;
      const { verdict, status, parts } = call;
      if (verdict.kind === 'parallel') return verdict.entries.length - parts.length;
      return status === 'running' ? 0 : reservedFor(verdict);
    }
    case 'plan.completed': {
      const plan = livePlans(before).find((each) => each.frame === event.frame);
      return plan === undefined ? 0 : unstarted(plan);
    }
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.incomplete':
      return grantedLaunches(before);
    default:
      return 0;
  }
}

/** Runs that a call is certain to launch. */
export function reservedFor(verdict: CallVerdict): number {
  if (verdict.kind === 'plan') return launchesOfPlan(verdict.plan);
  if (verdict.kind === 'parallel') return verdict.entries.length;
  return verdict.kind === 'delegate' || verdict.kind === 'subagent' ? 1 : 0;
}

/** Launches that are granted to a run and have not begun: what it has reserved and `launchesFreed` has not given back. */
export function grantedLaunches(state: RunState): number {
  const { calls } = state;
  const waiting = calls.filter(({ status }) => status !== 'running' && status !== 'done');
  return waiting.reduce((sum, { verdict }) => sum + reservedFor(verdict), launchesUnderWay(state));
}

/** Of these, the ones that come of calls which have begun. */
export function launchesUnderWay(state: RunState): number {
  let sum = 0;
  for (const { status, verdict, parts } of state.calls) {
    if (status === 'running' && verdict.kind === 'parallel') {
      sum += verdict.entries.length - parts.length;
    }
  }
  return livePlans(state).reduce((all, plan) => all + unstarted(plan), sum);
}

/** First runs of tasks that a plan has promised and not begun. */
function unstarted(plan: PlanState): number {
  return plan.tasks.filter(({ task, round }) => round === 0 && isInReach(plan, task)).length;
}
