import type { Usage } from './model.ts';
import type { PlanSpec } from './plan-spec.ts';
import type { RunStatusEnded } from './run-event.ts';
import type { Effect } from './tool.ts';

/** An answer as it lasts for the run (SPEC P11), with where all of it is. */
export interface KeptAnswer {
  readonly task_id: string;
  readonly child_run_id: string;
  readonly answer: string;
  /** File that holds the whole answer, if its parent's model may not be shown all of it; else `null`. */
  readonly full_path: string | null;
}

/** How a task stands at the end of its plan. `not_started`: left to the parent's model by `wave` (SPEC P6). */
export type FinalStatus = 'completed' | 'failed' | 'incomplete' | 'skipped' | 'not_started';

/** Why a task was never started, or not started again after its answer was dropped. */
export type SkipReason =
  | 'upstream_failed'
  | 'upstream_incomplete'
  | 'upstream_rework_exhausted'
  | 'plan_stopped'
  | 'plan_aborted'
  | 'run_time_limit'
  | 'execution_budget';

/** What a reviewer said through `submit_review` (SPEC P7). */
export interface ReviewVerdict {
  readonly verdict: 'accept' | 'rework';
  /** Remarks by reviewed task, none of them blank; at least one where the verdict is `rework`. */
  readonly feedback: Readonly<Record<string, string>>;
  readonly summary: string | null;
}

/** Which run of which task an event speaks of. */
export interface TaskRun {
  readonly task_id: string;
  readonly child_run_id: string;
  readonly agent_id: string;
  /** Launch ordinal of the parent (SPEC R1). */
  readonly ordinal: number;
  /** 1 for the task's first run, one more for each further one, whatever made it necessary. */
  readonly round: number;
}

/** What the end of a run adds to its parent: counted exactly once for every run. */
export interface TaskRunEnd extends TaskRun {
  readonly turns: number;
  readonly effect: Effect;
  /** Operations that had an effect or may have had one, as the child names them. */
  readonly operations: readonly string[];
  readonly usage: Usage;
  readonly cost_cents: number | null;
}

interface Shapes {
  /** The call passed every check: the plan as it will run, and the earlier answers that its prompts place. */
  'plan.started': PlanSpec & {
    readonly operation_id: string;
    readonly earlier: readonly KeptAnswer[];
  };
  /** The admission of a task: it holds one slot of its parent's width until its run ends. */
  'plan.task.started': TaskRun & {
    readonly depth: number;
    readonly depends_on: readonly string[];
    readonly max_turns: number | null;
  };
  /**
   * The task has its answer. For a reviewer also with its verdict; `verdict_source: default` where it gave none, and
   * then `child_status` need not be `completed` (SPEC P7).
   */
  'plan.task.completed': TaskRunEnd & {
    readonly child_status: RunStatusEnded;
    readonly answer: string;
    readonly full_path: string | null;
    readonly verdict: 'accept' | 'rework' | null;
    readonly verdict_source: 'submit_review' | 'default' | null;
    readonly feedback: Readonly<Record<string, string>>;
    readonly summary: string | null;
  };
  /**
   * The task failed for good. With `rework_exhausted` its last run had ended long before: usage, cost and operations are
   * empty then, because that run's own end has counted them.
   */
  'plan.task.failed': TaskRunEnd & {
    readonly error_type: string;
    readonly error: string;
    readonly child_ops_completed: readonly string[];
    readonly child_ops_failed: readonly string[];
    readonly child_ops_uncertain: readonly string[];
  };
  /** The task's run ended without its own final answer: at a limit, or cancelled (SPEC P4). */
  'plan.task.incomplete': TaskRunEnd & {
    readonly child_status: RunStatusEnded;
    readonly reason: string;
    /** The run's last words, as far as there are any. */
    readonly answer: string;
    readonly full_path: string | null;
  };
  /** The task will not run. `blocked_by` is the task at the root of it, where there is one. */
  'plan.task.skipped': {
    readonly task_id: string;
    readonly reason: SkipReason;
    readonly blocked_by: string | null;
  };
  /** A reviewer sent the answer of the named round back. */
  'plan.task.rejected': {
    readonly task_id: string;
    readonly child_run_id: string;
    readonly by: string;
    readonly round: number;
    /** How often the task has been sent back, this time included. */
    readonly returns: number;
    readonly remarks: string;
  };
  /** Back to pending, to be done again with the remarks; `round` is the one to come. */
  'plan.task.reopened': { readonly task_id: string; readonly by: string; readonly round: number };
  /** Back to pending because `because_of` will answer anew or not at all. A run that was going is to be cancelled. */
  'plan.task.invalidated': {
    readonly task_id: string;
    readonly because_of: string;
    /** The run that is to be cancelled; `null` where the task had completed. */
    readonly ordinal: number | null;
    readonly child_run_id: string | null;
  };
  /** The end of a run whose task had been invalidated meanwhile: it frees its slot and changes nothing else. */
  'plan.task.discarded': TaskRunEnd & { readonly child_status: RunStatusEnded };
  /** SPEC P5: `task_id` failed or was incomplete, so nothing new starts. */
  'plan.stopped': { readonly task_id: string };
  /** SPEC P5: as `plan.stopped`, and whatever runs is to be cancelled. */
  'plan.aborted': { readonly task_id: string };
  /** SPEC P10: the run's time is up, so nothing new starts. */
  'plan.time_limit': { readonly reason: 'run_time_limit' };
  /** Nothing of the plan runs any more. */
  'plan.completed': {
    readonly operation_id: string;
    readonly statuses: Readonly<Record<string, FinalStatus>>;
    readonly stopped_by?: string;
    readonly aborted_by?: string;
    /** Only of a `wave`: the tasks that were never started, in the order of the plan. */
    readonly remaining?: readonly string[];
  };
}

export type PlanEventType = keyof Shapes;
export type PlanEventData<Type extends PlanEventType> = Shapes[Type];

/** What the plan machine decides on. The run's own driver adds ids, cause and time, as for every event of the run. */
export type PlanEvent = {
  [Type in PlanEventType]: {
    readonly type: Type;
    readonly frame: string | null;
    readonly data: Shapes[Type];
  };
}[PlanEventType];

export function planEvent<Type extends PlanEventType>(
  type: Type,
  frame: string | null,
  data: Shapes[Type],
): PlanEvent {
  return { type, frame, data } as PlanEvent;
}
