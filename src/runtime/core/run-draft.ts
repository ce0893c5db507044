import type { Agenda } from './run-agenda.ts';
import type { CallState, RunState } from './run-state.ts';

/** The next state in the making: `evolve` changes it and hands it on; nobody changes it after that. */
export type RunDraft = { -readonly [Key in keyof RunState]: RunState[Key] };

/* Copies are spelled out: a spread of so many fields, of a copy of a copy, takes thirty times as long. */

export function draftOf(state: RunState): RunDraft {
  return {
    runId: state.runId,
    phase: state.phase,
    count: state.count,
    spec: state.spec,
    turn: state.turn,
    history: state.history,
    unread: state.unread,
    calls: state.calls,
    places: state.places,
    agenda: state.agenda,
    children: state.children,
    childrenRunning: state.childrenRunning,
    backgroundRunning: state.backgroundRunning,
    firstRunning: state.firstRunning,
    lastOrdinal: state.lastOrdinal,
    plans: state.plans,
    answers: state.answers,
    isOutOfTime: state.isOutOfTime,
    usage: state.usage,
    costCents: state.costCents,
    effect: state.effect,
    operations: state.operations,
    lastText: state.lastText,
    stopping: state.stopping,
    status: state.status,
    ended: state.ended,
    causes: state.causes,
    resumedAt: state.resumedAt,
    hostLosses: state.hostLosses,
    isInterrupted: state.isInterrupted,
  };
}

export type CallChange = Partial<
  Pick<CallState, 'status' | 'ordinal' | 'parts' | 'result' | 'cause'>
>;

export function changedCall(call: CallState, change: CallChange): CallState {
  const { provider_meta, status, ordinal, result, cause } = call;
  const next = {
    id: call.id,
    name: call.name,
    args_text: call.args_text,
    verdict: call.verdict,
    index: call.index,
    status: change.status ?? status,
    ordinal: change.ordinal ?? ordinal,
    parts: change.parts ?? call.parts,
    result: change.result ?? result,
    cause: change.cause ?? cause,
  };
  return provider_meta === undefined ? next : { ...next, provider_meta };
}

export function countsOf(counts: Agenda['counts']): Record<keyof Agenda['counts'], number> {
  return {
    refused: counts.refused,
    unasked: counts.unasked,
    asking: counts.asking,
    shared: counts.shared,
    launch: counts.launch,
    detach: counts.detach,
    start: counts.start,
    delegated: counts.delegated,
    working: counts.working,
    done: counts.done,
  };
}
