import type { PlanEvent } from './plan-event.ts';
import { launchOf, type PlanState, taskOf } from './plan-state.ts';

/**
 * The place in its run of the event that a plan's event follows from (SPEC J1); `null` for `plan.started`, whose cause
 * is its call's. `state` is the one that the event was decided on.
 */
export function causeOfPlanEvent(state: PlanState, event: PlanEvent): number | null {
  const { places } = state;
  switch (event.type) {
    case 'plan.started':
      return null;
    case 'plan.time_limit':
      return places.started;
    case 'plan.completed':
      return places.last;
    case 'plan.stopped':
    case 'plan.aborted':
    case 'plan.task.reopened':
      return placeOf(state, event.data.task_id);
    case 'plan.task.rejected':
      return placeOf(state, event.data.by);
    case 'plan.task.invalidated':
      return placeOf(state, event.data.because_of);
    case 'plan.task.skipped':
      return causeOfSkip(state, event.data.reason, event.data.blocked_by);
    case 'plan.task.started': {
      const before = [event.data.task_id, ...event.data.depends_on];
      return Math.max(...before.map((id) => placeOf(state, id)));
    }
    default: {
      const run = launchOf(state, event.data.ordinal);
      return run?.status === 'running' ? run.startedAt : placeOf(state, event.data.task_id);
    }
  }
}

function causeOfSkip(state: PlanState, reason: string, by: string | null): number {
  if (reason.startsWith('upstream_') && by !== null) return placeOf(state, by);
  return reason === 'execution_budget' ? state.places.last : state.places.closed;
}

function placeOf(state: PlanState, id: string): number {
  return taskOf(state, id)?.place ?? state.places.started;
}
