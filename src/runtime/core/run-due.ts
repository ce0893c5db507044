import type { RunEvent } from './run-event.ts';
import { isDelegation } from './run-follow.ts';
import type { CallState, ChildState, RunState } from './run-state.ts';
import { runningChildren } from './run-state.ts';

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
  | { readonly type: 'child.cancel'; readonly key: string; readonly child: ChildState }
  | {
      readonly type: 'deadline';
      readonly key: string;
      readonly kind: 'run_time_limit' | 'delegation_timeout';
      readonly atMs: number;
      readonly limitMs: number;
    }
  /** Wait until all that was in flight has settled, terminate what does not, and say so. */
  | { readonly type: 'halt'; readonly key: string };

export function dueOfRun(state: RunState): readonly RunEffect[] {
  if (state.spec === null || state.ended !== null) return [];
  const children = runningChildren(state);
  if (state.stopping !== null) return dueOfStopping(children);
  const due: RunEffect[] = [];
  if (state.phase === 'asking') {
    due.push({ type: 'model.ask', key: `ask:${state.turn}`, turn: state.turn });
  }
  for (const call of state.calls) due.push(...dueOfCall(state, call));
  const awaited = state.spec.order === 'fifo' ? children.slice(0, 1) : children;
  for (const child of awaited) {
    due.push({ type: 'child.await', key: `await:${child.ordinal}`, child });
  }
  due.push(...deadlines(state.spec));
  return due;
}

function dueOfCall(state: RunState, call: CallState): RunEffect[] {
  const place = `${state.turn}/${call.index}`;
  if (call.status === 'asking') {
    return [{ type: 'approval.ask', key: `approval:${place}`, turn: state.turn, call }];
  }
  if (call.status !== 'running') return [];
  if (!isDelegation(call.verdict)) {
    return [{ type: 'tool.run', key: `tool:${place}`, turn: state.turn, call }];
  }
  const child = state.children.find((each) => each.ordinal === call.ordinal);
  if (child === undefined || child.status !== 'running') return [];
  return [{ type: 'child.run', key: `child:${child.ordinal}`, child, call }];
}

/** Children first (SPEC N4), all of them awaited whatever the order; then the run's own activity. */
function dueOfStopping(children: readonly ChildState[]): RunEffect[] {
  if (children.length === 0) return [{ type: 'halt', key: 'halt' }];
  return children.flatMap((child): RunEffect[] => [
    { type: 'child.run', key: `child:${child.ordinal}`, child, call: null },
    { type: 'child.cancel', key: `cancel:${child.ordinal}`, child },
    { type: 'child.await', key: `await:${child.ordinal}`, child },
  ]);
}

function deadlines(spec: NonNullable<RunState['spec']>): RunEffect[] {
  const due: RunEffect[] = [];
  const from = spec.started_at_ms;
  if (spec.max_run_ms !== null) {
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
      return (
        state.calls.find((call) => call.id === event.data.call_id)?.cause ?? state.causes.answer
      );
    case 'delegation.started':
      return state.calls.find((call) => call.index === event.data.call)?.cause ?? state.count;
    case 'delegation.completed':
    case 'delegation.failed':
      return (
        state.children.find((child) => child.ordinal === event.data.ordinal)?.startedAt ??
        state.count
      );
    default:
      return state.count;
  }
}
