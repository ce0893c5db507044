import type { Usage } from './model.ts';
import type { KeptAnswer, PlanEventData, SkipReason, TaskRunEnd } from './plan-event.ts';
import type { PlanSpec, PlanTask } from './plan-spec.ts';
import type { RunStatusEnded } from './run-event.ts';
import { NO_USAGE } from './usage.ts';

export type TaskStatus = 'pending' | 'running' | 'completed' | 'failed' | 'incomplete' | 'skipped';

/** What stands between a task and its answer. */
export type TaskEnd =
  | { readonly kind: 'failed'; readonly error_type: string; readonly error: string }
  | { readonly kind: 'incomplete'; readonly reason: string }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly blocked_by: string | null };

/** One time that a reviewer sent a task back. */
export type Rejection = PlanEventData<'plan.task.rejected'>;

/** What a task that was sent back gets beside its original prompt (SPEC P8). */
export interface Rework {
  readonly by: string;
  readonly round: number;
  readonly remarks: string;
  readonly answer: KeptAnswer | null;
}

export interface TaskState {
  readonly task: PlanTask;
  /** All that it builds on, however far up, in the order of the plan. */
  readonly upstream: readonly string[];
  readonly status: TaskStatus;
  /** Runs begun. */
  readonly round: number;
  /** How often a reviewer sent it back. */
  readonly returns: number;
  /** The run that `status` speaks of; `null` where there is none. */
  readonly ordinal: number | null;
  /** Only while the status is `completed`: the one answer that dependents may read. */
  readonly answer: KeptAnswer | null;
  /** Last words of an incomplete run, or the answer that was sent back once too often. */
  readonly leftover: KeptAnswer | null;
  /** Set while it was sent back and has not answered since. */
  readonly rework: Rework | null;
  readonly verdict: {
    readonly verdict: 'accept' | 'rework';
    readonly source: 'submit_review' | 'default';
    readonly child_status: RunStatusEnded;
  } | null;
  readonly end: TaskEnd | null;
  /** Place in the run of the last event about it. */
  readonly place: number;
}

/** One run of a task, from its admission on. */
export interface Launch extends TaskRunEnd {
  readonly status: 'running' | RunStatusEnded;
  /** Its task was invalidated while it ran: it is to be cancelled, and its answer is nobody's. */
  readonly superseded: boolean;
  /** Place in the run of its `plan.task.started`. */
  readonly startedAt: number;
}

/** A plan as the fold of its events. Plain JSON throughout. */
export interface PlanState {
  /** `turn-1/call-2`: the call that the plan runs in. */
  readonly frame: string | null;
  readonly operationId: string;
  /** `null` before it started. */
  readonly spec: PlanSpec | null;
  readonly earlier: readonly KeptAnswer[];
  /** In the order of the plan. */
  readonly tasks: readonly TaskState[];
  /** In the order of their admission. */
  readonly launches: readonly Launch[];
  readonly rejections: readonly Rejection[];
  /** SPEC P5: why nothing new starts; the first cause stays. */
  readonly stop: { readonly kind: 'stopped' | 'aborted'; readonly by: string } | null;
  /** SPEC P10. */
  readonly isOutOfTime: boolean;
  readonly ended: PlanEventData<'plan.completed'> | null;
  /** Places in the run of the events that later ones follow from. */
  readonly places: { readonly started: number; readonly closed: number; readonly last: number };
}

export const PENDING_PLAN: PlanState = {
  frame: null,
  operationId: '',
  spec: null,
  earlier: [],
  tasks: [],
  launches: [],
  rejections: [],
  stop: null,
  isOutOfTime: false,
  ended: null,
  places: { started: 0, closed: 0, last: 0 },
};

export function taskOf(state: PlanState, id: string): TaskState | undefined {
  return state.tasks.find((each) => each.task.id === id);
}

/** A run by its ordinal, also one that has ended. */
export function launchOf(state: PlanState, ordinal: number): Launch | undefined {
  return state.launches.find((launch) => launch.ordinal === ordinal);
}

/** Runs that hold a slot of their parent's width: until they end, cancelled or not. */
export function liveLaunches(state: PlanState): readonly Launch[] {
  return state.launches.filter((launch) => launch.status === 'running');
}

/** Ordinals of the runs that must be cancelled now: what they would answer is no longer wanted. */
export function cancelledChildren(state: PlanState): readonly number[] {
  return liveLaunches(state)
    .filter((launch) => isUnwanted(state, launch))
    .map((launch) => launch.ordinal);
}

/** Ordinals of the runs whose answer is waited for: those that a note to the parent is passed on to (SPEC N1). */
export function workingChildren(state: PlanState): readonly number[] {
  return liveLaunches(state)
    .filter((launch) => !isUnwanted(state, launch))
    .map((launch) => launch.ordinal);
}

function isUnwanted(state: PlanState, launch: Launch): boolean {
  return launch.superseded || state.stop?.kind === 'aborted';
}

export function isReviewer(task: PlanTask): boolean {
  return task.review_of.length > 0;
}

/** A wave runs the tasks that wait for nothing, and never starts another (SPEC P6). */
export function isInReach(state: PlanState, task: PlanTask): boolean {
  return state.spec?.mode !== 'wave' || task.depends_on.length === 0;
}

/** The usage of a run that has not reported any. */
export const UNREPORTED: {
  readonly turns: 0;
  readonly effect: 'none';
  readonly operations: readonly string[];
  readonly usage: Usage;
  readonly cost_cents: number;
} = { turns: 0, effect: 'none', operations: [], usage: NO_USAGE, cost_cents: 0 };
