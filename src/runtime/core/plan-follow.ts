import { type FinalStatus, type PlanEvent, planEvent, type SkipReason } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { launchBudget, type PlanSpec } from './plan-spec.ts';
import { isInReach, liveLaunches, type PlanState, type TaskState, taskOf } from './plan-state.ts';
import { childRunId } from './run-id.ts';

/** What a plan must know of the run it is a call of. */
export interface PlanSurroundings {
  /** Slots of the parent's width that nobody holds now, delegations beside the plan counted too (SPEC D3). */
  readonly free: number;
  /** The parent's next launch ordinal; the plan takes as many as it admits tasks, without a gap. */
  readonly nextOrdinal: number;
  /** Levels from the root at which the tasks run: the parent's own plus one (SPEC G3). */
  readonly childDepth: number;
  readonly parentRunId: string;
  /** Given once the run's time is up: nothing new may start (SPEC P10). */
  readonly nothingNew: 'run_time_limit' | null;
}

/**
 * All that follows of itself from a state, to the last step: skips, admissions in the plan's order into the free slots,
 * and the end of the plan. Nothing where the plan waits for a run of its own or for a slot.
 */
export function followPlan(state: PlanState, around: PlanSurroundings): PlanEvent[] {
  const events: PlanEvent[] = [];
  let now = state;
  let { free, nextOrdinal } = around;
  for (;;) {
    const next = step(now, { ...around, free, nextOrdinal });
    if (next === null) return events;
    if (next.type === 'plan.task.started') {
      free -= 1;
      nextOrdinal += 1;
    }
    events.push(next);
    now = evolvePlan(now, next);
  }
}

/** One step at a time: each is decided on the state that the one before it left. */
function step(state: PlanState, around: PlanSurroundings): PlanEvent | null {
  const { spec } = state;
  if (spec === null || state.ended !== null) return null;
  const pending = state.tasks.filter((each) => each.status === 'pending');
  for (const task of pending) {
    const block = blockOf(state, task);
    if (block !== null) return skipped(state, task, block.reason, block.by);
  }
  const wanted = pending.filter((each) => isInReach(state, each.task));
  if (wanted.length === 0 && liveLaunches(state).length === 0) return completed(state, spec);
  if (around.nothingNew !== null && !state.isOutOfTime && state.stop === null) {
    return planEvent('plan.time_limit', state.frame, { reason: around.nothingNew });
  }
  const [first] = wanted;
  const closed = closedBecause(state, spec);
  if (first !== undefined && closed !== null) {
    return skipped(state, first, closed.reason, closed.by);
  }
  const ready = around.free > 0 ? wanted.find((each) => isReady(state, each)) : undefined;
  return ready === undefined ? null : admission(state, ready, around);
}

interface Block {
  readonly reason: SkipReason;
  readonly by: string | null;
}

/** SPEC P4, P9: what a task waits for in vain, named by the task at the root of it. */
function blockOf(state: PlanState, { task }: TaskState): Block | null {
  for (const each of state.tasks) {
    const { end } = each;
    if (end === null || !task.depends_on.includes(each.task.id)) continue;
    if (end.kind === 'skipped') return { reason: end.reason, by: end.blocked_by };
    if (end.kind === 'incomplete') return { reason: 'upstream_incomplete', by: each.task.id };
    const isExhausted = end.error_type === 'rework_exhausted';
    const reason = isExhausted ? 'upstream_rework_exhausted' : 'upstream_failed';
    return { reason, by: each.task.id };
  }
  return null;
}

/** Why nothing new may start at all; the first cause that holds. */
function closedBecause(state: PlanState, spec: PlanSpec): Block | null {
  const { stop } = state;
  if (stop !== null) {
    return { reason: stop.kind === 'aborted' ? 'plan_aborted' : 'plan_stopped', by: stop.by };
  }
  if (state.isOutOfTime) return { reason: 'run_time_limit', by: null };
  if (state.launches.length >= launchBudget(spec)) return { reason: 'execution_budget', by: null };
  return null;
}

/**
 * SPEC P2. Tasks share one workspace, so a task also waits for the cancelled runs of whatever builds on it: they may
 * write until they have stopped, and the chain between them says that they must not do so beside it. A task's own
 * cancelled run needs no word: what it builds on waits for that run, and the task for that.
 */
function isReady(state: PlanState, { task }: TaskState): boolean {
  if (task.depends_on.some((id) => taskOf(state, id)?.status !== 'completed')) return false;
  return !liveLaunches(state).some(
    ({ task_id, superseded }) =>
      superseded && taskOf(state, task_id)?.upstream.includes(task.id) === true,
  );
}

/** Who gets the slot is decided once and journaled, never computed again. */
function admission(state: PlanState, each: TaskState, around: PlanSurroundings): PlanEvent {
  const { task } = each;
  return planEvent('plan.task.started', state.frame, {
    task_id: task.id,
    child_run_id: childRunId(around.parentRunId, 'plan', around.nextOrdinal, task.id),
    agent_id: task.agent_id,
    ordinal: around.nextOrdinal,
    depth: around.childDepth,
    depends_on: task.depends_on,
    round: each.round + 1,
    max_turns: task.max_turns,
  });
}

function skipped(
  state: PlanState,
  { task }: TaskState,
  reason: SkipReason,
  by: string | null,
): PlanEvent {
  return planEvent('plan.task.skipped', state.frame, { task_id: task.id, reason, blocked_by: by });
}

function completed(state: PlanState, spec: PlanSpec): PlanEvent {
  const statuses = Object.fromEntries(
    state.tasks.map(({ task, status }): [string, FinalStatus] => [task.id, finalStatus(status)]),
  );
  const unstarted = state.tasks.filter(({ round }) => round === 0).map(({ task }) => task.id);
  const { stop } = state;
  return planEvent('plan.completed', state.frame, {
    operation_id: state.operationId,
    statuses,
    ...(stop?.kind === 'stopped' ? { stopped_by: stop.by } : {}),
    ...(stop?.kind === 'aborted' ? { aborted_by: stop.by } : {}),
    ...(spec.mode === 'wave' ? { remaining: unstarted } : {}),
  });
}

/** Nothing is running by then, and what is still pending was left to the parent's model. */
function finalStatus(status: TaskState['status']): FinalStatus {
  return status === 'pending' || status === 'running' ? 'not_started' : status;
}
