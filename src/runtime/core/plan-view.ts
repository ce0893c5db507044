import type { FinalStatus, SkipReason } from './plan-event.ts';
import type { FailurePolicy, PlanMode } from './plan-spec.ts';
import type { PlanState, TaskState, TaskStatus } from './plan-state.ts';

/** A task of a plan as `troupe tree` shows it (SPEC K1). */
export interface PlanTaskView {
  readonly id: string;
  readonly agent_id: string;
  readonly depends_on: readonly string[];
  /** Empty = not a reviewer. */
  readonly review_of: readonly string[];
  readonly status: TaskStatus | FinalStatus;
  /** Its runs so far. */
  readonly round: number;
  /** In the order of their launch; the last one is the one that `status` speaks of. */
  readonly child_run_ids: readonly string[];
  readonly verdict: 'accept' | 'rework' | null;
  /** `default`: the reviewer gave none (SPEC P7). */
  readonly verdict_source: 'submit_review' | 'default' | null;
  /** Every time that it was sent back; `run_id` is the run whose answer that was. */
  readonly rejections: readonly {
    readonly by: string;
    readonly round: number;
    readonly remarks: string;
    readonly run_id: string;
  }[];
  readonly skip: { readonly reason: SkipReason; readonly blocked_by: string | null } | null;
  /** Of a failed task. */
  readonly error_type: string | null;
  readonly error: string | null;
  /** Why it was incomplete. */
  readonly reason: string | null;
}

/** A plan as `troupe tree` shows it. Plain JSON. */
export interface PlanView {
  readonly operation_id: string;
  /** The call that it runs in, `turn-2/call-1`. */
  readonly frame_id: string | null;
  readonly goal: string | null;
  readonly mode: PlanMode;
  readonly on_failure: FailurePolicy;
  readonly max_rework: number;
  /** `stopped`, `aborted`: also while the last of its runs are still ending. `unfinished`: its own run ended first. */
  readonly status: 'running' | 'completed' | 'stopped' | 'aborted' | 'unfinished';
  /** The task that stopped or aborted it. */
  readonly ended_by: string | null;
  /** SPEC P10: nothing new started after the run's time was up. */
  readonly out_of_time: boolean;
  /** In the order of the plan. */
  readonly tasks: readonly PlanTaskView[];
}

/** `null` before it started. `isCutOff`: the run that it is a call of has ended. */
export function planView(state: PlanState, isCutOff: boolean): PlanView | null {
  const { spec, stop } = state;
  if (spec === null) return null;
  return {
    operation_id: state.operationId,
    frame_id: state.frame,
    goal: spec.goal,
    mode: spec.mode,
    on_failure: spec.on_failure,
    max_rework: spec.max_rework,
    status: statusOf(state, isCutOff),
    ended_by: stop?.by ?? null,
    out_of_time: state.isOutOfTime,
    tasks: state.tasks.map((each) => taskView(state, each, isCutOff)),
  };
}

function statusOf({ ended, stop }: PlanState, isCutOff: boolean): PlanView['status'] {
  if (ended === null && isCutOff) return 'unfinished';
  if (stop !== null) return stop.kind;
  return ended === null ? 'running' : 'completed';
}

function taskView(state: PlanState, each: TaskState, isCutOff: boolean): PlanTaskView {
  const { task, verdict, end } = each;
  const open = isCutOff && each.status === 'pending' ? 'not_started' : each.status;
  return {
    id: task.id,
    agent_id: task.agent_id,
    depends_on: task.depends_on,
    review_of: task.review_of,
    status: state.ended?.statuses[task.id] ?? open,
    round: each.round,
    child_run_ids: state.launches
      .filter((launch) => launch.task_id === task.id)
      .map((launch) => launch.child_run_id),
    verdict: verdict?.verdict ?? null,
    verdict_source: verdict?.source ?? null,
    rejections: state.rejections
      .filter((rejection) => rejection.task_id === task.id)
      .map(({ by, round, remarks, child_run_id }) => ({
        by,
        round,
        remarks,
        run_id: child_run_id,
      })),
    skip: end?.kind === 'skipped' ? { reason: end.reason, blocked_by: end.blocked_by } : null,
    error_type: end?.kind === 'failed' ? end.error_type : null,
    error: end?.kind === 'failed' ? end.error : null,
    reason: end?.kind === 'incomplete' ? end.reason : null,
  };
}
