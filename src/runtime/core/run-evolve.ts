import { addChild, childEnded, evolveCall } from './call-evolve.ts';
import { clip, fairShares } from './clip.ts';
import type { Message, ToolResultPart } from './message.ts';
import { withAnswers } from './plan-answers.ts';
import type { PlanEvent } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { PENDING_PLAN } from './plan-state.ts';
import { Rows } from './rows.ts';
import { agendaOf } from './run-agenda.ts';
import { draftOf, type RunDraft } from './run-draft.ts';
import {
  type AnsweredCall,
  callIndexOf,
  type RunEvent,
  type RunEventData,
  type RunStatusEnded,
} from './run-event.ts';
import type { RunSpec } from './run-spec.ts';
import { type CallState, NO_CALLS, type RunState } from './run-state.ts';
import { addKnown, addUsage } from './usage.ts';

/** The state after an event. Total: an event that does not fit changes nothing but the count. */
export function evolveRun(before: RunState, event: RunEvent): RunState {
  const run = draftOf(before);
  run.count += 1;
  evolveLife(run, event);
  return run;
}

function evolveLife(run: RunDraft, event: RunEvent): void {
  switch (event.type) {
    case 'run.started':
      run.phase = 'turning';
      run.status = 'running';
      run.spec = event.data;
      run.history = [{ role: 'user', text: event.data.prompt }];
      turnCause(run);
      return;
    case 'run.user_note': {
      const { note_id, text } = event.data;
      run.unread = [...run.unread, { note_id, text, at: run.count }];
      return;
    }
    case 'note.read': {
      const note = run.unread.find((each) => each.note_id === event.data.note_id);
      if (note === undefined) return;
      dropNote(run, event.data.note_id);
      run.history = [...run.history, { role: 'user', text: note.text }];
      return;
    }
    case 'note.too_late':
    case 'note.dead_letter':
      dropNote(run, event.data.note_id);
      return;
    case 'run.cron_skipped':
      return;
    case 'run.resumed':
      run.resumedAt = run.count;
      run.hostLosses += Number(event.data.why === 'host_lost' && event.data.suspect);
      return;
    case 'run.stopping':
      run.stopping ??= event.data;
      return;
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.incomplete':
      end(run, event);
      return;
    default:
      evolveTurn(run, event);
  }
}

type EndEvent = Extract<RunEvent, { data: RunEventData<'run.completed'> }>;
type LifeEvent = Extract<RunEvent, { type: `run.${string}` | `note.${string}` }>;
type TurnEvent = Exclude<RunEvent, LifeEvent>;

function end(run: RunDraft, event: EndEvent): void {
  if (run.ended !== null) return;
  run.phase = 'ended';
  run.status = event.type.slice('run.'.length) as RunStatusEnded;
  run.ended = event.data;
  dropCalls(run);
}

function dropCalls(run: RunDraft): void {
  run.calls = NO_CALLS.calls;
  run.places = NO_CALLS.places;
  run.agenda = NO_CALLS.agenda;
}

function turnCause(run: RunDraft): void {
  run.causes = { turn: run.count, ask: run.causes.ask, answer: run.causes.answer };
}

function answerCause(run: RunDraft): void {
  run.causes = { turn: run.causes.turn, ask: run.causes.ask, answer: run.count };
}

function evolveTurn(run: RunDraft, event: TurnEvent): void {
  switch (event.type) {
    case 'turn.started':
      run.phase = 'asking';
      run.turn = event.data.turn;
      turnCause(run);
      return;
    case 'model.started':
      run.causes = { turn: run.causes.turn, ask: run.count, answer: run.causes.answer };
      return;
    case 'model.completed':
      answered(run, event.data);
      return;
    case 'model.failed':
      unreported(run, event.data.error_type);
      answerCause(run);
      return;
    case 'turn.completed':
      turnCompleted(run);
      return;
    default:
      if (isPlanEvent(event)) planned(run, event);
      else evolveCall(run, event);
  }
}

/** A request that reached a model and failed may have cost something, and nobody said what (SPEC M4). */
const REACHED_A_MODEL = ['model.aborted', 'model.malformed', 'model.server-error', 'model.timeout'];

function unreported(run: RunDraft, errorType: string): void {
  if (!REACHED_A_MODEL.includes(errorType)) return;
  run.usage = { inputTokens: null, outputTokens: null, cachedInputTokens: null };
  run.costCents = null;
}

function isPlanEvent(event: RunEvent): event is PlanEvent {
  return event.type.startsWith('plan.');
}

/** A plan's events fold into the plan they belong to; its runs are the run's children like all others. */
function planned(run: RunDraft, event: PlanEvent): void {
  const { count, plans } = run;
  run.plans =
    event.type === 'plan.started'
      ? [...plans, evolvePlan(PENDING_PLAN, event, count)]
      : plans.map((plan) => (plan.frame === event.frame ? evolvePlan(plan, event, count) : plan));
  switch (event.type) {
    case 'plan.task.started': {
      const { ordinal, child_run_id: runId, agent_id: agentId } = event.data;
      const call = callIndexOf(event.frame);
      addChild(run, { ordinal, runId, agentId, call, kind: 'plan', taskId: null });
      return;
    }
    case 'plan.task.completed':
    case 'plan.task.incomplete':
    case 'plan.task.discarded':
      childEnded(run, event.data, event.data.child_status);
      return;
    case 'plan.task.failed':
      childEnded(run, event.data, 'failed');
      return;
    case 'plan.time_limit':
      run.isOutOfTime = true;
      return;
    case 'plan.completed': {
      const plan = run.plans.find((each) => each.frame === event.frame);
      if (plan !== undefined) run.answers = withAnswers(run.answers, plan);
      return;
    }
    default:
  }
}

function answered(run: RunDraft, data: RunEventData<'model.completed'>): void {
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
  run.phase = 'calling';
  run.history = [...run.history, message];
  dropCalls(run);
  if (data.calls.length > 0) {
    run.calls = Rows.of(data.calls.map((call, at) => waitingCall(call, at + 1, run.count)));
    run.places = new Map(run.calls.map(placeById));
    run.agenda = agendaOf(run.calls);
  }
  run.usage = addUsage(run.usage, data.usage);
  run.costCents = addKnown(run.costCents, data.cost_cents);
  run.lastText = data.text;
  answerCause(run);
}

/** One for all calls that have none. */
const NO_PARTS: readonly never[] = [];

function waitingCall(call: AnsweredCall, index: number, cause: number): CallState {
  const { id, name, args_text, verdict, provider_meta } = call;
  const own = { id, name, args_text, verdict, index };
  const waiting = {
    ...own,
    status: 'waiting',
    ordinal: null,
    parts: NO_PARTS,
    result: null,
    cause,
  } as const;
  return provider_meta === undefined ? waiting : { ...waiting, provider_meta };
}

/** SPEC R12: one result a call, in call order, all of them within the turn's share of characters. */
function turnCompleted(run: RunDraft): void {
  if (run.spec !== null && run.calls.length > 0) {
    const results = resultsOf(run.calls, run.spec);
    run.history = [...run.history, { role: 'tool', results }];
  }
  if (!run.isInterrupted) run.hostLosses = 0;
  run.isInterrupted = false;
  run.phase = 'turning';
  dropCalls(run);
  turnCause(run);
}

function resultsOf(calls: Rows<CallState>, spec: RunSpec): ToolResultPart[] {
  const cut = calls.map((call) => {
    const result = call.result ?? { text: '', isError: true, fullPath: null };
    return { ...result, text: clip(result.text, spec.result_chars_max, result.fullPath) };
  });
  const shares = fairShares(
    cut.map((result) => result.text.length),
    spec.turn_result_chars_max,
  );
  return calls.map((call, at): ToolResultPart => {
    const result = cut[at];
    return {
      callId: call.id,
      name: call.name,
      text: clip(result?.text ?? '', shares[at] ?? 0, result?.fullPath ?? null),
      isError: result?.isError ?? true,
    };
  });
}

function dropNote(run: RunDraft, noteId: string): void {
  run.unread = run.unread.filter((note) => note.note_id !== noteId);
}

function placeById(call: CallState, place: number): readonly [string, number] {
  return [call.id, place];
}
