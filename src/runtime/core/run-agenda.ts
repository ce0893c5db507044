import type { Rows } from './rows.ts';
import { countsOf } from './run-draft.ts';
import type { CallVerdict } from './run-event.ts';
import type { CallState } from './run-state.ts';

/** What a call is about to do, or what it waits for. */
export type Standing =
  | 'refused'
  /** To be asked a person about. */
  | 'unasked'
  | 'asking'
  /** Its result will be another call's. */
  | 'shared'
  /** A delegation that may begin. */
  | 'launch'
  /** A delegation that may begin whether there is room or not (SPEC D9). */
  | 'detach'
  /** A tool that may begin. */
  | 'start'
  | 'delegated'
  | 'working'
  | 'done';

/**
 * What the calls of a turn wait for, counted. It follows from the calls alone and is kept beside them, so that a turn of
 * thousands of calls is not searched at each of its events.
 */
export interface Agenda {
  readonly counts: Readonly<Record<Standing, number>>;
  /** No call before this place stands at `launch`. */
  readonly launchFrom: number;
  /** No call before this place stands at `start`. */
  readonly startFrom: number;
  /** By the index of a call: the places of those that share its result. */
  readonly sharers: Readonly<Record<number, readonly number[]>>;
  /** Places of calls whose shared result is there. */
  readonly owed: readonly number[];
}

const NOTHING: Readonly<Record<Standing, number>> = {
  refused: 0,
  unasked: 0,
  asking: 0,
  shared: 0,
  launch: 0,
  detach: 0,
  start: 0,
  delegated: 0,
  working: 0,
  done: 0,
};

export const EMPTY_AGENDA: Agenda = {
  counts: NOTHING,
  launchFrom: 0,
  startFrom: 0,
  sharers: {},
  owed: [],
};

export function isDelegation(verdict: CallVerdict): boolean {
  const { kind } = verdict;
  return kind === 'delegate' || kind === 'subagent' || kind === 'parallel' || kind === 'plan';
}

/** A parallel delegation that has not launched all of its children (SPEC D8). */
function isPartly({ verdict, parts }: CallState): boolean {
  return verdict.kind === 'parallel' && parts.length < verdict.entries.length;
}

export function standingOf(call: CallState): Standing {
  const { status, verdict } = call;
  switch (status) {
    case 'done':
    case 'asking':
      return status;
    case 'running':
      if (isPartly(call)) return 'launch';
      return isDelegation(verdict) ? 'delegated' : 'working';
    case 'approved':
      return isDelegation(verdict) ? launchOf(verdict) : 'start';
    default:
      break;
  }
  if (verdict.kind === 'refused' || verdict.kind === 'shared') return verdict.kind;
  if (verdict.kind === 'review') return 'working';
  if (verdict.approval) return 'unasked';
  return isDelegation(verdict) ? launchOf(verdict) : 'start';
}

function launchOf(verdict: CallVerdict): 'launch' | 'detach' {
  return isBackground(verdict) ? 'detach' : 'launch';
}

/** SPEC D9: the call has its result as soon as its child has begun. */
export function isBackground(
  verdict: CallVerdict,
): verdict is CallVerdict & { readonly task_id: string } {
  return verdict.kind === 'delegate' && verdict.task_id !== undefined;
}

/** For the calls of an answer, none of which has begun. */
export function agendaOf(calls: Rows<CallState>): Agenda {
  const counts = { ...NOTHING };
  const sharers: Record<number, number[]> = {};
  for (const call of calls) {
    counts[standingOf(call)] += 1;
    if (call.verdict.kind !== 'shared') continue;
    const others = sharers[call.verdict.with] ?? [];
    others.push(call.index - 1);
    sharers[call.verdict.with] = others;
  }
  return { ...EMPTY_AGENDA, counts, sharers };
}

/** After the call at its place went from `before` to `after`. */
export function agendaAfter(agenda: Agenda, before: CallState, after: CallState): Agenda {
  const from = standingOf(before);
  const to = standingOf(after);
  if (from === to) return agenda;
  const place = after.index - 1;
  const counts = countsOf(agenda.counts);
  counts[from] -= 1;
  counts[to] += 1;
  const { sharers } = agenda;
  let { launchFrom, startFrom, owed } = agenda;
  if (to === 'launch') launchFrom = Math.min(launchFrom, place);
  else if (to === 'start') startFrom = Math.min(startFrom, place);
  else if (to === 'delegated' && from === 'launch') launchFrom = passed(launchFrom, place);
  else if (to === 'working') startFrom = passed(startFrom, place);
  else if (to === 'done') owed = owedAfter(agenda, after.index, place);
  return { counts, launchFrom, startFrom, sharers, owed };
}

/** Calls begin in their order: the one that just did is the first that could. */
function passed(from: number, place: number): number {
  return Math.max(from, place + 1);
}

function owedAfter({ owed, sharers }: Agenda, index: number, place: number): readonly number[] {
  const more = sharers[index];
  if (more === undefined && owed.length === 0) return owed;
  const left = owed[0] === place ? owed.slice(1) : owed.filter((other) => other !== place);
  return more === undefined ? left : [...left, ...more];
}
