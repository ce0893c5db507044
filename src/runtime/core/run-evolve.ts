import { childEnded, evolveCall, withChild } from './call-evolve.ts';
import { clip, fairShares } from './clip.ts';
import type { Message, ToolResultPart } from './message.ts';
import { withAnswers } from './plan-answers.ts';
import type { PlanEvent } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { PENDING_PLAN } from './plan-state.ts';
import { Rows } from './rows.ts';
import { agendaOf } from './run-agenda.ts';
import { callIndexOf, type RunEvent, type RunEventData } from './run-event.ts';
import { type CallState, NO_CALLS, type RunState } from './run-state.ts';
import { addKnown, addUsage } from './usage.ts';

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
    case 'run.resumed':
      return {
        ...state,
        resumedAt: state.count,
        hostLosses: state.hostLosses + Number(event.data.why === 'host_lost' && event.data.suspect),
      };
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

/** SPEC R12: one result a call, in call order, all of them within the turn's share of characters. */
function turnCompleted(state: RunState): RunState {
  const spec = state.spec;
  const hostLosses = state.isInterrupted ? state.hostLosses : 0;
  const again = { hostLosses, isInterrupted: false };
  const next = { ...state, phase: 'turning' as const, ...again, ...NO_CALLS };
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

function placeById(call: CallState, place: number): readonly [string, number] {
  return [call.id, place];
}
