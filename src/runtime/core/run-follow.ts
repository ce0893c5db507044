import type { BudgetRefusal } from './budget-line.ts';
import { surelyWhole } from './clip.ts';
import { startPlan } from './plan-answers.ts';
import { followPlan } from './plan-follow.ts';
import type { PlanState } from './plan-state.ts';
import { summaryOf } from './plan-summary.ts';
import { standingOf } from './run-agenda.ts';
import {
  callFrame,
  callIndexOf,
  type RunEvent,
  type RunEventType,
  runEvent,
  type TerminalData,
  turnFrame,
} from './run-event.ts';
import { childRunId } from './run-id.ts';
import type { RunSpec } from './run-spec.ts';
import { type CallState, callAt, livePlans, type RunState, turnsOf } from './run-state.ts';

/** What a decision must know beside the state of the run; what was decided is in the events. */
export interface RunSurroundings {
  /** SPEC R3, X2: why the run may make no further request, `unrecorded` cents of its own counted as well. */
  overspent(runId: string, unrecorded: number): BudgetRefusal | null;
}

/** A run with nothing around it. */
export const ALONE: RunSurroundings = { overspent: () => null };

/** What follows of itself from a state: the next turn, an admission, the end. Nothing where the run waits. */
export function following(
  state: RunState,
  around: RunSurroundings = ALONE,
  /** Cents of the answer that is being carried out. */
  unrecorded = 0,
): readonly RunEvent[] {
  if (state.spec === null || state.ended !== null || state.stopping !== null) return [];
  if (state.phase === 'turning')
    return nextTurn(state, state.spec, around.overspent(state.runId, unrecorded));
  if (state.phase === 'calling') return nextCall(state, state.spec);
  return [];
}

/** The unread notes' last receipts and the one terminal event, in this order (SPEC N1, R13). */
export function endOf(
  state: RunState,
  type: Extract<RunEventType, `run.${'completed' | 'failed' | 'cancelled' | 'incomplete'}`>,
  said: Partial<TerminalData>,
): RunEvent[] {
  const late = type === 'run.completed' || type === 'run.incomplete';
  const receipts = state.unread.map(({ note_id }) =>
    late
      ? runEvent('note.too_late', null, { note_id })
      : runEvent('note.dead_letter', null, { note_id, why: `the run ended as ${type.slice(4)}` }),
  );
  const data: TerminalData = {
    answer: '',
    turns: turnsOf(state),
    usage: state.usage,
    cost_cents: state.costCents,
    effect: state.effect,
    operations: state.operations,
    error_type: null,
    error: null,
    reason: null,
    by: null,
    review: null,
    ...said,
  };
  return [...receipts, runEvent(type, null, data)];
}

/** R3: notes are drained into the history where a turn begins, then the model is asked. */
function nextTurn(state: RunState, spec: RunSpec, spent: BudgetRefusal | null): RunEvent[] {
  if (state.turn >= spec.max_turns) {
    return endOf(state, 'run.incomplete', { reason: 'turn_limit', answer: state.lastText });
  }
  if (state.isOutOfTime) {
    return endOf(state, 'run.incomplete', { reason: 'run_time_limit', answer: state.lastText });
  }
  if (spent !== null) {
    const { errorType, words } = spent;
    const why = { reason: errorType, error_type: errorType, error: words };
    return endOf(state, 'run.incomplete', { ...why, answer: state.lastText });
  }
  const turn = state.turn + 1;
  const frame = turnFrame(turn);
  return [
    runEvent('turn.started', frame, { turn }),
    ...state.unread.map(({ note_id }) => runEvent('note.read', frame, { note_id, turn })),
    runEvent('model.started', frame, {
      turn,
      provider: spec.model.provider,
      model: spec.model.model,
    }),
  ];
}

/** One step at a time: each is decided on the state that the one before it left. */
function nextCall(state: RunState, spec: RunSpec): RunEvent[] {
  const { calls, agenda } = state;
  if (agenda.counts.done === calls.length) {
    const frame = turnFrame(state.turn);
    return calls.length === 0 ? [] : [runEvent('turn.completed', frame, { turn: state.turn })];
  }
  if (agenda.counts.refused > 0) {
    return callsThatStand(state, 'refused').map((call) => refusalOf(state, call));
  }
  if (agenda.owed.length > 0) {
    return agenda.owed.flatMap((place) => {
      const shared = calls.at(place);
      return shared === undefined ? [] : [copyOf(state, shared)];
    });
  }
  const late = state.isOutOfTime ? lateCalls(state) : [];
  if (late.length > 0) return late;
  if (agenda.counts.unasked > 0) {
    return callsThatStand(state, 'unasked').map((call) => approvalOf(state, call));
  }
  const planned = planSteps(state, spec);
  return planned.length > 0 ? planned : admission(state, spec);
}

/** SPEC P10: once the time is up nothing new starts, whatever it waited for. */
function lateCalls(state: RunState): RunEvent[] {
  const waiting = ['unasked', 'asking', 'launch', 'start'];
  return state.calls
    .filter((call) => waiting.includes(standingOf(call)))
    .map((call) => {
      const words = `Not executed: the run's time limit was reached before '${call.name}' began.`;
      return unexecuted(state, call, 'run_time_limit', words);
    });
}

/** What follows in the plans of this turn, the earliest first; a plan that has ended gives its call its result. */
function planSteps(state: RunState, spec: RunSpec): RunEvent[] {
  for (const plan of livePlans(state)) {
    const events = followPlan(plan, {
      free: spec.width_max - state.childrenRunning,
      nextOrdinal: state.lastOrdinal + 1,
      childDepth: spec.depth + 1,
      parentRunId: state.runId,
      nothingNew: state.isOutOfTime ? 'run_time_limit' : null,
    });
    if (events.length > 0) return events;
  }
  const ended = state.plans.find((plan) => plan.ended !== null && openCallOf(state, plan) !== null);
  const call = ended === undefined ? null : openCallOf(state, ended);
  return ended === undefined || call === null ? [] : [planResult(state, spec, ended, call)];
}

function openCallOf(state: RunState, plan: PlanState): CallState | null {
  const call = callAt(state, callIndexOf(plan.frame));
  const isOwn = plan.frame === callFrame(state.turn, call?.index ?? 0);
  return isOwn && call?.status === 'running' ? call : null;
}

/** SPEC P11. */
function planResult(state: RunState, spec: RunSpec, plan: PlanState, call: CallState): RunEvent {
  const { result_chars_max: resultMax, turn_result_chars_max: turnMax } = spec;
  // Cut here, where every answer keeps its frame and its file, and not again for the turn's sake (SPEC R12).
  const charsMax = surelyWhole(resultMax, turnMax, state.calls.length);
  const { text, structured } = summaryOf(plan, charsMax);
  return runEvent('tool.completed', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    text,
    chars: text.length,
    full_path: null,
    structured,
  });
}

function callsThatStand(state: RunState, standing: 'refused' | 'unasked'): CallState[] {
  return state.calls.filter((call) => standingOf(call) === standing);
}

/** The first call that stands so, at `from` or after it. */
function firstThatStands(
  state: RunState,
  standing: 'launch' | 'start',
  from: number,
): CallState | undefined {
  if (state.agenda.counts[standing] === 0) return undefined;
  return state.calls.findFrom(from, (call) => standingOf(call) === standing);
}

/**
 * Who starts next, decided once and journaled. SPEC D3: delegations at once and in call order, up to the width; the
 * other calls beside them, one by one where the profile says so.
 */
function admission(state: RunState, spec: RunSpec): RunEvent[] {
  const { counts, launchFrom, startFrom } = state.agenda;
  if (state.childrenRunning < spec.width_max) {
    const delegation = firstThatStands(state, 'launch', launchFrom);
    if (delegation !== undefined) return launch(state, spec, delegation);
  }
  if (!spec.parallel_tools && counts.working > 0) return [];
  const tool = firstThatStands(state, 'start', startFrom);
  return tool === undefined ? [] : [started(state, tool)];
}

function launch(state: RunState, spec: RunSpec, call: CallState): RunEvent[] {
  const { verdict } = call;
  if (verdict.kind === 'plan') {
    const frame = callFrame(state.turn, call.index);
    const operationId = `${state.runId}/${frame}`;
    const about = { operationId, frame, book: state.answers };
    return [started(state, call), startPlan(verdict.plan, about)];
  }
  const kind = call.verdict.kind === 'subagent' ? 'subagent' : 'delegate';
  const ordinal = state.lastOrdinal + 1;
  return [
    started(state, call),
    runEvent('delegation.started', callFrame(state.turn, call.index), {
      child_run_id: childRunId(state.runId, kind, ordinal),
      agent_id: call.verdict.kind === 'delegate' ? call.verdict.agent_id : spec.agent_id,
      ordinal,
      depth: spec.depth + 1,
      call: call.index,
      kind,
    }),
  ];
}

function started(state: RunState, call: CallState): RunEvent {
  return runEvent('tool.started', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    effect_class: call.verdict.kind === 'tool' ? call.verdict.effect : 'effectful',
  });
}

export function refusalOf(state: RunState, call: CallState): RunEvent {
  const { verdict } = call;
  return verdict.kind === 'refused'
    ? unexecuted(state, call, verdict.error_type, verdict.words)
    : unexecuted(state, call, 'refused', 'refused');
}

function unexecuted(state: RunState, call: CallState, errorType: string, words: string): RunEvent {
  return runEvent('tool.failed', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    error_type: errorType,
    error: words,
    effect: 'none',
    text: '',
    chars: 0,
    full_path: null,
  });
}

function approvalOf(state: RunState, call: CallState): RunEvent {
  return runEvent('approval.requested', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    args_text: call.args_text,
  });
}

function masterResult(state: RunState, call: CallState): CallState['result'] {
  const { verdict } = call;
  if (verdict.kind !== 'shared') return null;
  return callAt(state, verdict.with)?.result ?? null;
}

/** SPEC R6: one child, its result to every identical call. */
function copyOf(state: RunState, call: CallState): RunEvent {
  const result = masterResult(state, call) ?? { text: '', isError: true, fullPath: null };
  const sharedWith = call.verdict.kind === 'shared' ? call.verdict.with : 0;
  const frame = callFrame(state.turn, call.index);
  const about = {
    call_id: call.id,
    name: call.name,
    chars: result.text.length,
    full_path: result.fullPath,
    shared_with: sharedWith,
  };
  return result.isError
    ? runEvent('tool.failed', frame, {
        ...about,
        error_type: 'shared_failure',
        error: result.text,
        effect: 'none',
        text: '',
      })
    : runEvent('tool.completed', frame, { ...about, text: result.text });
}
