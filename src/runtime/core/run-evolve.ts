import { clip, fairShares } from './clip.ts';
import type { Message, ToolResultPart } from './message.ts';
import { withAnswers } from './plan-answers.ts';
import type { PlanEvent } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { PENDING_PLAN } from './plan-state.ts';
import { Rows } from './rows.ts';
import { agendaAfter, agendaOf } from './run-agenda.ts';
import {
  callFrame,
  callIndexOf,
  type RunEvent,
  type RunEventData,
  type RunStatusEnded,
} from './run-event.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  callOf,
  childAt,
  isRunning,
  NO_CALLS,
  type RunState,
} from './run-state.ts';
import type { Effect } from './tool.ts';
import { addKnown, addUsage } from './usage.ts';

/** Operations named in a result; the rest are counted by the journal, not by a warning to a model. */
const OPERATIONS_MAX = 20;

/** The state after an event. Total: an event that does not fit changes nothing but the count. */
export function evolveRun(before: RunState, event: RunEvent): RunState {
  const state = { ...before, count: before.count + 1 };
  switch (event.type) {
    case 'run.started':
      return {
        ...state,
        phase: 'turning',
        status: 'running',
        spec: event.data,
        history: [{ role: 'user', text: event.data.prompt }],
        causes: { ...state.causes, turn: state.count },
      };
    case 'run.user_note': {
      const { note_id, text } = event.data;
      return { ...state, unread: [...state.unread, { note_id, text, at: state.count }] };
    }
    case 'note.read': {
      const note = state.unread.find((each) => each.note_id === event.data.note_id);
      if (note === undefined) return state;
      return {
        ...withoutNote(state, event.data.note_id),
        history: [...state.history, { role: 'user', text: note.text }],
      };
    }
    case 'note.too_late':
    case 'note.dead_letter':
      return withoutNote(state, event.data.note_id);
    case 'run.stopping':
      return { ...state, stopping: state.stopping ?? event.data };
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.incomplete':
      return ended(state, event);
    default:
      return evolveTurn(state, event);
  }
}

type EndEvent = Extract<RunEvent, { data: RunEventData<'run.completed'> }>;
type LifeEvent = Extract<RunEvent, { type: `run.${string}` | `note.${string}` }>;
type TurnEvent = Exclude<RunEvent, LifeEvent>;

function ended(state: RunState, event: EndEvent): RunState {
  if (state.ended !== null) return state;
  const status = event.type.slice('run.'.length) as Exclude<
    RunState['status'],
    'pending' | 'running'
  >;
  return { ...state, phase: 'ended', status, ended: event.data, ...NO_CALLS };
}

function evolveTurn(state: RunState, event: TurnEvent): RunState {
  switch (event.type) {
    case 'turn.started':
      return {
        ...state,
        phase: 'asking',
        turn: event.data.turn,
        causes: { ...state.causes, turn: state.count },
      };
    case 'model.started':
      return { ...state, causes: { ...state.causes, ask: state.count } };
    case 'model.completed':
      return answered(state, event.data);
    case 'model.failed':
      return {
        ...unreported(state, event.data.error_type),
        causes: { ...state.causes, answer: state.count },
      };
    case 'turn.completed':
      return turnCompleted(state);
    default:
      return isPlanEvent(event) ? planned(state, event) : evolveCall(state, event);
  }
}

/** A request that reached a model and failed may have cost something, and nobody said what (SPEC M4). */
const REACHED_A_MODEL = ['model.aborted', 'model.malformed', 'model.server-error', 'model.timeout'];

function unreported(state: RunState, errorType: string): RunState {
  if (!REACHED_A_MODEL.includes(errorType)) return state;
  const usage = { inputTokens: null, outputTokens: null, cachedInputTokens: null };
  return { ...state, usage, costCents: null };
}

type CallEvent = Exclude<
  TurnEvent,
  { type: `turn.${string}` | `model.${string}` | `plan.${string}` }
>;

function isPlanEvent(event: RunEvent): event is PlanEvent {
  return event.type.startsWith('plan.');
}

/** A plan's events fold into the plan they belong to; its runs are the run's children like all others. */
function planned(before: RunState, event: PlanEvent): RunState {
  const { count, plans } = before;
  const state = {
    ...before,
    plans:
      event.type === 'plan.started'
        ? [...plans, evolvePlan(PENDING_PLAN, event, count)]
        : plans.map((plan) => (plan.frame === event.frame ? evolvePlan(plan, event, count) : plan)),
  };
  switch (event.type) {
    case 'plan.task.started': {
      const { ordinal, child_run_id: runId, agent_id: agentId } = event.data;
      const call = callIndexOf(event.frame);
      return withChild(state, { ordinal, runId, agentId, call, kind: 'plan' });
    }
    case 'plan.task.completed':
    case 'plan.task.incomplete':
    case 'plan.task.discarded':
      return childEnded(state, event.data, event.data.child_status);
    case 'plan.task.failed':
      return childEnded(state, event.data, 'failed');
    case 'plan.time_limit':
      return { ...state, isOutOfTime: true };
    case 'plan.completed': {
      const plan = state.plans.find((each) => each.frame === event.frame);
      const answers = plan === undefined ? state.answers : withAnswers(state.answers, plan);
      return { ...state, answers };
    }
    default:
      return state;
  }
}

function evolveCall(state: RunState, event: CallEvent): RunState {
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

function answered(state: RunState, data: RunEventData<'model.completed'>): RunState {
  const message: Message = {
    role: 'assistant',
    text: data.text,
    calls: data.calls.map((call) => ({
      id: call.id,
      name: call.name,
      argsText: call.args_text,
      ...(call.provider_meta === undefined ? {} : { providerMeta: call.provider_meta }),
    })),
    ...(data.provider_meta === undefined ? {} : { providerMeta: data.provider_meta }),
  };
  const calls = Rows.of(
    data.calls.map(
      (call, at): CallState => ({
        ...call,
        index: at + 1,
        status: 'waiting',
        ordinal: null,
        result: null,
        cause: state.count,
      }),
    ),
  );
  return {
    ...state,
    phase: 'calling',
    history: [...state.history, message],
    ...(calls.length === 0
      ? NO_CALLS
      : { calls, places: new Map(calls.map(placeById)), agenda: agendaOf(calls) }),
    usage: addUsage(state.usage, data.usage),
    costCents: addKnown(state.costCents, data.cost_cents),
    lastText: data.text,
    causes: { ...state.causes, answer: state.count },
  };
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

function withChild(state: RunState, child: Omit<ChildState, 'status' | 'startedAt'>): RunState {
  const began: ChildState = { ...child, status: 'running', startedAt: state.count };
  return {
    ...state,
    children: state.children.adding(began),
    childrenRunning: state.childrenRunning + 1,
    lastOrdinal: Math.max(state.lastOrdinal, child.ordinal),
  };
}

function childEnded(
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

/** SPEC R12: one result a call, in call order, all of them within the turn's share of characters. */
function turnCompleted(state: RunState): RunState {
  const spec = state.spec;
  const next = { ...state, phase: 'turning' as const, ...NO_CALLS };
  const turnDone = { ...next, causes: { ...state.causes, turn: state.count } };
  if (spec === null || state.calls.length === 0) return turnDone;
  const cut = state.calls.map((call) => {
    const result = call.result ?? { text: '', isError: true, fullPath: null };
    return { ...result, text: clip(result.text, spec.result_chars_max, result.fullPath) };
  });
  const shares = fairShares(
    cut.map((result) => result.text.length),
    spec.turn_result_chars_max,
  );
  const results = state.calls.map((call, at): ToolResultPart => {
    const result = cut[at];
    return {
      callId: call.id,
      name: call.name,
      text: clip(result?.text ?? '', shares[at] ?? 0, result?.fullPath ?? null),
      isError: result?.isError ?? true,
    };
  });
  return { ...turnDone, history: [...state.history, { role: 'tool', results }] };
}

function withoutNote(state: RunState, noteId: string): RunState {
  return { ...state, unread: state.unread.filter((note) => note.note_id !== noteId) };
}

function firstRunningFrom(children: Rows<ChildState>, from: number): number {
  let place = from;
  for (let child = children.at(place); child !== undefined && !isRunning(child); ) {
    place += 1;
    child = children.at(place);
  }
  return place;
}

function placeById(call: CallState, place: number): readonly [string, number] {
  return [call.id, place];
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
