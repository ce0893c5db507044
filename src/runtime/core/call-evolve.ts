import { INTERRUPTED } from './resumption.ts';
import type { Rows } from './rows.ts';
import { agendaAfter } from './run-agenda.ts';
import { callFrame, type RunEvent, type RunEventData, type RunStatusEnded } from './run-event.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  callOf,
  childAt,
  isRunning,
  type RunState,
} from './run-state.ts';
import type { Effect } from './tool.ts';
import { addKnown, addUsage } from './usage.ts';

/** Operations named in a result; the rest are counted by the journal, not by a warning to a model. */
const OPERATIONS_MAX = 20;

export type CallEvent = Extract<
  RunEvent,
  { type: `tool.${string}` | `approval.${string}` | `delegation.${string}` }
>;

/** How an event changes a call of the turn, or the child that a call launched. */
export function evolveCall(state: RunState, event: CallEvent): RunState {
  switch (event.type) {
    case 'approval.requested':
      return withCall(state, event.data.call_id, { status: 'asking', cause: state.count });
    case 'approval.granted':
      return withCall(state, event.data.call_id, { status: 'approved', cause: state.count });
    case 'approval.denied':
      return withCall(state, event.data.call_id, { cause: state.count });
    case 'tool.started':
      return withCall(state, event.data.call_id, { status: 'running', cause: state.count });
    case 'tool.completed':
      return toolCompleted(state, event.data);
    case 'tool.failed':
      return toolFailed(state, event.data);
    case 'delegation.started':
      return childStarted(state, event.data);
    case 'delegation.completed':
      return childEnded(state, event.data, event.data.child_status);
    case 'delegation.failed':
      return childEnded(state, event.data, 'failed');
    default:
      // Total: a type that a later version writes changes nothing here.
      return state;
  }
}

function toolCompleted(state: RunState, data: RunEventData<'tool.completed'>): RunState {
  const verdict = callOf(state, data.call_id)?.verdict;
  const changedOutside = verdict?.kind === 'tool' && verdict.effect !== 'read';
  return {
    ...withCall(state, data.call_id, {
      status: 'done',
      result: { text: data.text, isError: false, fullPath: data.full_path },
    }),
    effect: changedOutside ? worse(state.effect, 'applied') : state.effect,
    operations: changedOutside
      ? named(state.operations, [operation(state, data.call_id, data.name, 'done')])
      : state.operations,
  };
}

function toolFailed(state: RunState, data: RunEventData<'tool.failed'>): RunState {
  const text = data.text === '' ? data.error : `${data.error}\n\n${data.text}`;
  const own = data.shared_with === undefined ? data.effect : 'none';
  return {
    ...withCall(state, data.call_id, {
      status: 'done',
      result: { text, isError: true, fullPath: data.full_path },
    }),
    effect: worse(state.effect, own),
    isInterrupted: state.isInterrupted || data.error_type === INTERRUPTED,
    operations:
      own === 'uncertain' && data.structured === undefined
        ? named(state.operations, [operation(state, data.call_id, data.name, 'uncertain')])
        : state.operations,
  };
}

function childStarted(state: RunState, data: RunEventData<'delegation.started'>): RunState {
  const { ordinal, child_run_id: runId, agent_id: agentId, call, kind } = data;
  const launched = withChild(state, { ordinal, runId, agentId, call, kind });
  return changed(launched, callAt(launched, call), { ordinal });
}

/** With a child that has just begun. */
export function withChild(
  state: RunState,
  child: Omit<ChildState, 'status' | 'startedAt'>,
): RunState {
  const began: ChildState = { ...child, status: 'running', startedAt: state.count };
  return {
    ...state,
    children: state.children.adding(began),
    childrenRunning: state.childrenRunning + 1,
    lastOrdinal: Math.max(state.lastOrdinal, child.ordinal),
  };
}

/** With the child's outcome in its parent's sums. */
export function childEnded(
  state: RunState,
  data: Pick<
    RunEventData<'delegation.completed'>,
    'ordinal' | 'usage' | 'cost_cents' | 'effect' | 'operations'
  >,
  status: RunStatusEnded,
): RunState {
  const child = childAt(state, data.ordinal);
  if (child === undefined || !isRunning(child)) return state;
  const call = callAt(state, child.call);
  const children = state.children.with(child.ordinal - 1, { ...child, status });
  return {
    ...(call?.ordinal === data.ordinal ? changed(state, call, { cause: state.count }) : state),
    children,
    childrenRunning: state.childrenRunning - 1,
    firstRunning: firstRunningFrom(children, state.firstRunning),
    usage: addUsage(state.usage, data.usage),
    costCents: addKnown(state.costCents, data.cost_cents),
    effect: worse(state.effect, data.effect),
    operations: named(state.operations, data.operations),
  };
}

function firstRunningFrom(children: Rows<ChildState>, from: number): number {
  let place = from;
  for (let child = children.at(place); child !== undefined && !isRunning(child); ) {
    place += 1;
    child = children.at(place);
  }
  return place;
}

function withCall(state: RunState, callId: string, change: Partial<CallState>): RunState {
  return changed(state, callOf(state, callId), change);
}

function changed(
  state: RunState,
  call: CallState | undefined,
  change: Partial<CallState>,
): RunState {
  if (call === undefined) return state;
  const next = { ...call, ...change };
  return {
    ...state,
    calls: state.calls.with(call.index - 1, next),
    agenda: agendaAfter(state.agenda, call, next),
  };
}

function operation(state: RunState, callId: string, name: string, how: string): string {
  const index = callOf(state, callId)?.index ?? 0;
  return `${name} (${callFrame(state.turn, index)}, ${how})`;
}

function named(before: readonly string[], more: readonly string[]): readonly string[] {
  return more.length === 0 ? before : [...before, ...more].slice(0, OPERATIONS_MAX);
}

const WORSE: Record<Effect, number> = { none: 0, applied: 1, uncertain: 2 };

function worse(left: Effect, right: Effect): Effect {
  return WORSE[right] > WORSE[left] ? right : left;
}
