import type { BudgetRefusal } from './budget-line.ts';
import { callFailed, callSaid } from './call-end.ts';
import { unlaunchedWords } from './child-end.ts';
import { surelyWhole } from './clip.ts';
import { isParallelOver, parallelResult } from './parallel-result.ts';
import { startPlan } from './plan-answers.ts';
import { followPlan } from './plan-follow.ts';
import type { PlanState } from './plan-state.ts';
import { summaryOf } from './plan-summary.ts';
import { standingOf } from './run-agenda.ts';
import { endOf } from './run-end.ts';
import {
  type CallVerdict,
  callFrame,
  callIndexOf,
  type RunEvent,
  runEvent,
  turnFrame,
} from './run-event.ts';
import { childRunId } from './run-id.ts';
import type { RunSpec } from './run-spec.ts';
import { type CallState, callAt, livePlans, type RunState, widthInUse } from './run-state.ts';

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
  const waiting = ['unasked', 'asking', 'launch', 'detach', 'start'];
  return state.calls
    .filter((call) => waiting.includes(standingOf(call)))
    .flatMap((call) => {
      if (call.status === 'running') return lateParallel(state, call);
      const words = `Not executed: the run's time limit was reached before '${call.name}' began.`;
      return callFailed(state, call, 'run_time_limit', words);
    });
}

/** SPEC D8: of a call that had begun some of its children, once those have ended. */
function lateParallel(state: RunState, call: CallState): RunEvent[] {
  return isParallelOver(state, call) ? [parallelResult(state, call, unlaunchedWords(state))] : [];
}

/** What follows in the plans of this turn, the earliest first; a plan that has ended gives its call its result. */
function planSteps(state: RunState, spec: RunSpec): RunEvent[] {
  for (const plan of livePlans(state)) {
    const events = followPlan(plan, {
      free: spec.width_max - widthInUse(state),
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
  return callSaid(state, call, text, structured);
}

function callsThatStand(state: RunState, standing: 'refused' | 'unasked'): CallState[] {
  return state.calls.filter((call) => standingOf(call) === standing);
}

/** The first call that stands so, at `from` or after it. */
function firstThatStands(
  state: RunState,
  standing: 'launch' | 'detach' | 'start',
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
  const hasRoom = widthInUse(state) < spec.width_max && !state.isOutOfTime;
  const roomy = hasRoom ? firstThatStands(state, 'launch', launchFrom) : undefined;
  const detached = firstThatStands(state, 'detach', 0);
  const isDetachedFirst = (detached?.index ?? Infinity) < (roomy?.index ?? Infinity);
  const delegation = isDetachedFirst ? detached : roomy;
  if (delegation !== undefined) return launch(state, spec, delegation);
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
    ...(call.status === 'running' ? [] : [started(state, call)]),
    runEvent('delegation.started', callFrame(state.turn, call.index), {
      child_run_id: childRunId(state.runId, kind, ordinal),
      agent_id: targetOf(call) ?? spec.agent_id,
      ordinal,
      depth: spec.depth + 1,
      call: call.index,
      kind,
      ...taskOf(call.verdict),
    }),
  ];
}

function taskOf(verdict: CallVerdict): { readonly task_id?: string } {
  const taskId = verdict.kind === 'delegate' ? verdict.task_id : undefined;
  return taskId === undefined ? {} : { task_id: taskId };
}

/** Whom a call launches next; `null` = a sub-agent, which is the same agent. */
function targetOf({ verdict, parts }: CallState): string | null {
  if (verdict.kind === 'delegate') return verdict.agent_id;
  return verdict.kind === 'parallel' ? (verdict.entries[parts.length]?.agent_id ?? null) : null;
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
    ? callFailed(state, call, verdict.error_type, verdict.words)
    : callFailed(state, call, 'refused', 'refused');
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
