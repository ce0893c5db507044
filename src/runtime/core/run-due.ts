import { causeOfPlanEvent } from './plan-cause.ts';
import type { PlanEvent } from './plan-event.ts';
import { cancelledChildren } from './plan-state.ts';
import { isDelegation } from './run-agenda.ts';
import { callFrame, callIndexOf, type RunEvent } from './run-event.ts';
import { following } from './run-follow.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  callOf,
  childAt,
  firstRunningChild,
  isRunning,
  launcherOf,
  planOf,
  type RunState,
  runningChildren,
} from './run-state.ts';

/** What a run owes the world. `key` tells effects apart: the driver starts each key once and takes back what is gone. */
export type RunEffect =
  | { readonly type: 'model.ask'; readonly key: string; readonly turn: number }
  | {
      readonly type: 'tool.run';
      readonly key: string;
      readonly turn: number;
      readonly call: CallState;
    }
  | {
      readonly type: 'approval.ask';
      readonly key: string;
      readonly turn: number;
      readonly call: CallState;
    }
  | {
      readonly type: 'child.run';
      readonly key: string;
      readonly child: ChildState;
      readonly call: CallState | null;
    }
  | { readonly type: 'child.await'; readonly key: string; readonly child: ChildState }
  | {
      readonly type: 'child.cancel';
      readonly key: string;
      readonly child: ChildState;
      /** Words for people. */
      readonly reason: string;
    }
  | {
      readonly type: 'deadline';
      readonly key: string;
      readonly kind: 'run_time_limit' | 'delegation_timeout';
      readonly atMs: number;
      readonly limitMs: number;
    }
  /** Wait until all that was in flight has settled, terminate what does not, and say so. */
  | { readonly type: 'halt'; readonly key: string }
  /** Let others have their turn, then go on deciding. */
  | { readonly type: 'proceed'; readonly key: string };

/*
 * The parts of what is due: `run` for the run itself, a call's frame for the call, `child:n` for the life of the child
 * with that ordinal, `await:n` for its outcome.
 */
const RUN = 'run';

export function dueOfRun(state: RunState): readonly RunEffect[] {
  return partsOfRun(state).flatMap((part) => dueInPart(state, part));
}

/** The parts in which something may be due. */
export function partsOfRun(state: RunState): readonly string[] {
  if (state.spec === null || state.ended !== null) return [];
  const calls =
    state.stopping === null ? state.calls.map(({ index }) => callPart(state, index)) : [];
  const children = runningChildren(state).flatMap(({ ordinal }) => childParts(ordinal));
  return [RUN, ...calls, ...children];
}

/** The parts whose due may differ after `event`, which led to `state` or to a state before it; `null` = any. */
export function partsTouched(state: RunState, event: RunEvent): readonly string[] | null {
  switch (event.type) {
    case 'run.started':
    case 'run.user_note':
    case 'note.read':
    case 'note.too_late':
    case 'note.dead_letter':
    case 'turn.started':
    case 'turn.completed':
    case 'model.started':
    case 'model.completed':
    case 'model.failed':
      return [RUN];
    case 'approval.requested':
    case 'approval.granted':
    case 'approval.denied':
    case 'tool.started':
    case 'tool.completed':
    case 'tool.failed':
      return event.frame === null ? null : [RUN, event.frame];
    case 'delegation.started':
    case 'delegation.completed':
    case 'delegation.failed': {
      const head = firstRunningChild(state);
      const own = [RUN, ...childParts(event.data.ordinal)];
      return head === undefined ? own : [...own, awaitPart(head.ordinal)];
    }
    default:
      return null;
  }
}

/** Sticky: the same effects until an event settles them, wherever the part is asked for. */
export function dueInPart(state: RunState, part: string): readonly RunEffect[] {
  if (state.spec === null || state.ended !== null) return [];
  if (part === RUN) return dueOfRunItself(state, state.spec);
  const [kind, place] = part.split(':');
  if (place === undefined) {
    const index = Number(part.slice(part.lastIndexOf('-') + 1));
    const call = part === callPart(state, index) ? callAt(state, index) : undefined;
    return call === undefined || state.stopping !== null ? [] : dueOfCall(state, call);
  }
  const child = childAt(state, Number(place));
  if (child === undefined || !isRunning(child)) return [];
  return kind === 'await' ? dueOfOutcome(state, child) : dueOfChild(state, child);
}

function callPart(state: RunState, index: number): string {
  return callFrame(state.turn, index);
}

function awaitPart(ordinal: number): string {
  return `await:${ordinal}`;
}

function childParts(ordinal: number): string[] {
  return [`child:${ordinal}`, awaitPart(ordinal)];
}

function dueOfRunItself(state: RunState, spec: NonNullable<RunState['spec']>): RunEffect[] {
  if (state.stopping !== null) {
    // Children first (SPEC N4), then the run's own activity.
    return state.childrenRunning === 0 ? [{ type: 'halt', key: 'halt' }] : [];
  }
  const due: RunEffect[] = [];
  if (state.phase === 'asking') {
    due.push({ type: 'model.ask', key: `ask:${state.turn}`, turn: state.turn });
  } else if (following(state).length > 0) {
    due.push({ type: 'proceed', key: `proceed:${state.count}` });
  }
  due.push(...deadlines(state, spec));
  return due;
}

function dueOfCall(state: RunState, call: CallState): RunEffect[] {
  const place = `${state.turn}/${call.index}`;
  if (call.status === 'asking') {
    return [{ type: 'approval.ask', key: `approval:${place}`, turn: state.turn, call }];
  }
  if (call.status !== 'running' || isDelegation(call.verdict)) return [];
  return [{ type: 'tool.run', key: `tool:${place}`, turn: state.turn, call }];
}

/** A stopping run calls its children off; one that had been admitted and not begun still has to be told so. */
function dueOfChild(state: RunState, child: ChildState): RunEffect[] {
  const { ordinal } = child;
  const key = `child:${ordinal}`;
  if (state.stopping !== null) {
    return [{ type: 'child.run', key, child, call: null }, cancelOf(child, state.stopping.reason)];
  }
  const call = callAt(state, child.call) ?? null;
  if (child.kind !== 'plan') {
    const launcher = launcherOf(state, child);
    // SPEC D9: the call has its result once the child has begun.
    const isOwed = child.taskId === null ? launcher !== undefined : launcher?.status === 'running';
    return isOwed ? [{ type: 'child.run', key, child, call }] : [];
  }
  const plan = planOf(state, child);
  const run: RunEffect = { type: 'child.run', key, child, call };
  if (plan === undefined || !cancelledChildren(plan).includes(ordinal)) return [run];
  const { stop } = plan;
  const reason =
    stop?.kind === 'aborted'
      ? `the plan was aborted because of task '${stop.by}'`
      : 'its plan dropped it: what its task builds on is done again';
  return [run, cancelOf(child, reason)];
}

function cancelOf(child: ChildState, reason: string): RunEffect {
  return { type: 'child.cancel', key: `cancel:${child.ordinal}`, child, reason };
}

/** SPEC D4: outcomes are taken in the order of the calls or as they come; in a stopping run as they come. */
function dueOfOutcome(state: RunState, child: ChildState): RunEffect[] {
  const takesTurns = child.kind !== 'plan' && child.taskId === null;
  const inOrder = state.spec?.order === 'fifo' && state.stopping === null && takesTurns;
  if (inOrder && firstRunningChild(state) !== child) return [];
  return [{ type: 'child.await', key: `await:${child.ordinal}`, child }];
}

function deadlines(state: RunState, spec: NonNullable<RunState['spec']>): RunEffect[] {
  const due: RunEffect[] = [];
  const from = spec.started_at_ms;
  if (spec.max_run_ms !== null && !state.isOutOfTime) {
    due.push({
      type: 'deadline',
      key: 'deadline:run',
      kind: 'run_time_limit',
      atMs: from + spec.max_run_ms,
      limitMs: spec.max_run_ms,
    });
  }
  if (spec.delegation_timeout_ms !== null) {
    due.push({
      type: 'deadline',
      key: 'deadline:delegation',
      kind: 'delegation_timeout',
      atMs: from + spec.delegation_timeout_ms,
      limitMs: spec.delegation_timeout_ms,
    });
  }
  return due;
}

/** The place in its run of the event that `event` follows from, 0 where it is the very first (SPEC J1). */
export function causeOf(state: RunState, event: RunEvent): number {
  switch (event.type) {
    case 'note.read':
    case 'note.too_late':
    case 'note.dead_letter':
      return state.unread.find((note) => note.note_id === event.data.note_id)?.at ?? state.count;
    case 'run.cron_skipped':
      return 1;
    case 'turn.started':
    case 'model.started':
      return state.causes.turn;
    case 'model.completed':
    case 'model.failed':
      return state.causes.ask;
    case 'approval.requested':
    case 'approval.granted':
    case 'approval.denied':
    case 'tool.started':
    case 'tool.completed':
    case 'tool.failed':
      return callOf(state, event.data.call_id)?.cause ?? state.causes.answer;
    case 'delegation.started':
      return callAt(state, event.data.call)?.cause ?? state.count;
    case 'delegation.completed':
    case 'delegation.failed':
      return childAt(state, event.data.ordinal)?.startedAt ?? state.count;
    default:
      return event.type.startsWith('plan.') ? causeInPlan(state, event as PlanEvent) : state.count;
  }
}

function causeInPlan(state: RunState, event: PlanEvent): number {
  const plan = state.plans.find((each) => each.frame === event.frame);
  const own = plan === undefined ? null : causeOfPlanEvent(plan, event);
  return own ?? callAt(state, callIndexOf(event.frame))?.cause ?? state.count;
}
