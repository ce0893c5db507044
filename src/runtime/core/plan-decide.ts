import { type PlanEvent, planEvent, type ReviewVerdict, type TaskRunEnd } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { reviewAnswer } from './plan-review.ts';
import type { PlanSpec } from './plan-spec.ts';
import {
  isReviewer,
  type Launch,
  launchOf,
  type PlanState,
  type TaskState,
  taskOf,
  UNREPORTED,
} from './plan-state.ts';
import type { ChildOutcome } from './run-event.ts';

/**
 * What the end of a task's run means for the plan; `verdict` is what a reviewer submitted. Nothing for an ordinal that
 * is not the plan's or has ended before. The end of a run whose task was invalidated meanwhile frees its slot and
 * changes no task, whatever it answered. `followPlan` says what follows.
 */
export function endTask(
  state: PlanState,
  ordinal: number,
  outcome: ChildOutcome,
  verdict: ReviewVerdict | null,
): PlanEvent[] {
  const launch = launchOf(state, ordinal);
  if (state.spec === null || launch?.status !== 'running') return [];
  const ended = endOf(launch, outcome);
  if (launch.superseded) {
    const data = { ...ended, child_status: outcome.status };
    return [planEvent('plan.task.discarded', state.frame, data)];
  }
  const task = taskOf(state, launch.task_id);
  if (task === undefined) return [];
  const said = isReviewer(task.task) ? validVerdict(task, verdict) : null;
  const events = [endingOf(state, task, ended, outcome, said)];
  if (said?.verdict === 'rework') {
    events.push(...returned(events.reduce(evolve, state), state.spec, task, said));
  }
  const stopping = stopAfter(state, state.spec, events);
  return stopping === null ? events : [...events, stopping];
}

function evolve(state: PlanState, event: PlanEvent): PlanState {
  return evolvePlan(state, event);
}

function endOf(launch: Launch, outcome: ChildOutcome): TaskRunEnd {
  return {
    task_id: launch.task_id,
    child_run_id: launch.child_run_id,
    agent_id: launch.agent_id,
    ordinal: launch.ordinal,
    round: launch.round,
    turns: outcome.turns,
    effect: outcome.effect,
    operations: outcome.operations,
    usage: outcome.usage,
    cost_cents: outcome.cost_cents,
  };
}

/** Remarks on anything but the reviewed tasks are nobody's, and a rework without remarks is no verdict (SPEC P7). */
function validVerdict({ task }: TaskState, verdict: ReviewVerdict | null): ReviewVerdict | null {
  if (verdict === null) return null;
  const feedback = Object.fromEntries(
    Object.entries(verdict.feedback).filter(([id]) => task.review_of.includes(id)),
  );
  const isEmpty = verdict.verdict === 'rework' && Object.keys(feedback).length === 0;
  return isEmpty ? null : { ...verdict, feedback };
}

function endingOf(
  state: PlanState,
  { task }: TaskState,
  ended: TaskRunEnd,
  outcome: ChildOutcome,
  said: ReviewVerdict | null,
): PlanEvent {
  const hasVerdict = said !== null || (isReviewer(task) && acceptsByDefault(state, outcome));
  if (hasVerdict) {
    return planEvent('plan.task.completed', state.frame, {
      ...ended,
      child_status: outcome.status,
      answer: reviewAnswer(said, outcome),
      full_path: said === null ? outcome.full_path : null,
      verdict: said?.verdict ?? 'accept',
      verdict_source: said === null ? 'default' : 'submit_review',
      feedback: said?.feedback ?? {},
      summary: said?.summary ?? null,
    });
  }
  if (outcome.status === 'completed') {
    return planEvent('plan.task.completed', state.frame, {
      ...ended,
      child_status: outcome.status,
      answer: outcome.answer,
      full_path: outcome.full_path,
      verdict: null,
      verdict_source: null,
      feedback: {},
      summary: null,
    });
  }
  return unanswered(state, ended, outcome);
}

/** Failures and limits of a reviewer block nothing (SPEC P7). One that never began failed by SPEC P12 or at a limit. */
const NEVER_BEGAN = ['agent_resolution_failed', 'runs_limit', 'action_budget', 'cost_budget'];

/** A run that its parent called off was no review that failed: it is not stored as a completed one (SPEC R13). */
function acceptsByDefault(state: PlanState, outcome: ChildOutcome): boolean {
  if (outcome.status === 'failed') return !NEVER_BEGAN.includes(outcome.error_type ?? '');
  if (outcome.status !== 'cancelled' || outcome.stopped_by === 'deadline') return true;
  return outcome.stopped_by !== 'parent' && state.stop?.kind !== 'aborted';
}

function unanswered(state: PlanState, ended: TaskRunEnd, outcome: ChildOutcome): PlanEvent {
  const timedOut = outcome.status === 'cancelled' && outcome.stopped_by === 'deadline';
  if (outcome.status === 'failed' || timedOut) {
    return planEvent('plan.task.failed', state.frame, {
      ...ended,
      error_type: timedOut ? 'timeout' : (outcome.error_type ?? 'failed'),
      error: (timedOut ? outcome.reason : outcome.error) ?? 'unknown error',
      ...childOperations(outcome.operations),
    });
  }
  const isAborted = outcome.status === 'cancelled' && state.stop?.kind === 'aborted';
  return planEvent('plan.task.incomplete', state.frame, {
    ...ended,
    child_status: outcome.status,
    reason: isAborted ? 'plan_aborted' : (outcome.reason ?? outcome.status),
    answer: outcome.answer,
    full_path: outcome.full_path,
  });
}

/** A child names its operations as `name (place, done)` or `name (place, uncertain)`; a failed one had no effect. */
function childOperations(operations: readonly string[]) {
  const isDone = (name: string) => name.endsWith(', done)');
  return {
    child_ops_completed: operations.filter(isDone),
    child_ops_failed: [] as readonly string[],
    child_ops_uncertain: operations.filter((name) => !isDone(name)),
  };
}

/** SPEC P8, P9: every task with remarks goes back or is exhausted, and whatever built on one of them is dropped. */
function returned(
  state: PlanState,
  spec: PlanSpec,
  reviewer: TaskState,
  verdict: ReviewVerdict,
): PlanEvent[] {
  const sentBack = state.tasks.filter(
    ({ task, status }) => Object.hasOwn(verdict.feedback, task.id) && status === 'completed',
  );
  const events = sentBack.flatMap((each) =>
    sendBack(state, spec, each, reviewer.task.id, verdict.feedback[each.task.id] ?? ''),
  );
  for (const each of state.tasks) {
    const cause = sentBack.find(({ task }) => each.upstream.includes(task.id));
    if (cause === undefined || sentBack.includes(each)) continue;
    if (each.status !== 'completed' && each.status !== 'running') continue;
    const run = each.status === 'running' ? launchOf(state, each.ordinal ?? 0) : undefined;
    events.push(
      planEvent('plan.task.invalidated', state.frame, {
        task_id: each.task.id,
        because_of: cause.task.id,
        ordinal: run?.ordinal ?? null,
        child_run_id: run?.child_run_id ?? null,
      }),
    );
  }
  return events;
}

function sendBack(
  state: PlanState,
  spec: PlanSpec,
  each: TaskState,
  by: string,
  remarks: string,
): PlanEvent[] {
  const { task, round } = each;
  const run = launchOf(state, each.ordinal ?? 0);
  const returns = each.returns + 1;
  const child_run_id = run?.child_run_id ?? '';
  const rejected = planEvent('plan.task.rejected', state.frame, {
    task_id: task.id,
    child_run_id,
    by,
    round,
    returns,
    remarks,
  });
  if (returns <= spec.max_rework) {
    const next = { task_id: task.id, by, round: round + 1 };
    return [rejected, planEvent('plan.task.reopened', state.frame, next)];
  }
  const exhausted = planEvent('plan.task.failed', state.frame, {
    ...UNREPORTED,
    task_id: task.id,
    child_run_id,
    agent_id: task.agent_id,
    ordinal: run?.ordinal ?? 0,
    round,
    turns: run?.turns ?? 0,
    effect: run?.effect ?? 'none',
    error_type: 'rework_exhausted',
    error: `sent back ${returns} ${returns === 1 ? 'time' : 'times'}, at most ${spec.max_rework} allowed (max_rework); last by '${by}': ${remarks}`,
    ...childOperations(run?.operations ?? []),
  });
  return [rejected, exhausted];
}

/** SPEC P5: the first failed or incomplete task closes the plan where its policy says so. */
function stopAfter(
  state: PlanState,
  spec: PlanSpec,
  events: readonly PlanEvent[],
): PlanEvent | null {
  if (spec.on_failure === 'continue' || state.stop !== null) return null;
  for (const event of events) {
    if (event.type !== 'plan.task.failed' && event.type !== 'plan.task.incomplete') continue;
    const type = spec.on_failure === 'abort' ? 'plan.aborted' : 'plan.stopped';
    return planEvent(type, state.frame, { task_id: event.data.task_id });
  }
  return null;
}
