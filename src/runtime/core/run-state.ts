import type { JsonObject } from '../../base/json.ts';
import type { Message } from './message.ts';
import type { Usage } from './model.ts';
import type { AnswerBook } from './plan-answers.ts';
import { launchOf, type PlanState, workingChildren } from './plan-state.ts';
import { Rows } from './rows.ts';
import { type Agenda, EMPTY_AGENDA } from './run-agenda.ts';
import type { AnsweredCall, Note, RunStatusEnded, StopData, TerminalData } from './run-event.ts';
import type { RunSpec } from './run-spec.ts';
import type { Effect } from './tool.ts';
import { NO_USAGE } from './usage.ts';

export type RunPhase =
  /** No event yet. */
  | 'pending'
  /** Between two turns. */
  | 'turning'
  /** Waiting for the model. */
  | 'asking'
  /** Carrying out the calls of its answer. */
  | 'calling'
  | 'ended';

/** A child of a call that has several (SPEC D8). */
export interface PartState {
  readonly ordinal: number;
  readonly end: {
    readonly isError: boolean;
    readonly text: string;
    readonly fullPath: string | null;
    readonly structured: JsonObject & { readonly effect: Effect };
  } | null;
}

export interface CallState extends AnsweredCall {
  /** 1 for the first call of the answer. */
  readonly index: number;
  readonly status: 'waiting' | 'asking' | 'approved' | 'running' | 'done';
  /** The child it launched, if it is a delegation; of a parallel one the first. */
  readonly ordinal: number | null;
  /** Of a parallel delegation: its children so far, in the order of its entries. */
  readonly parts: readonly PartState[];
  readonly result: {
    readonly text: string;
    readonly isError: boolean;
    readonly fullPath: string | null;
  } | null;
  /** Place in the run of the event that a later one about this call follows from. */
  readonly cause: number;
}

export interface ChildState {
  readonly ordinal: number;
  readonly runId: string;
  readonly agentId: string;
  readonly call: number;
  readonly kind: 'delegate' | 'subagent' | 'plan';
  readonly status: 'running' | RunStatusEnded;
  /** Place of its `delegation.started`. */
  readonly startedAt: number;
  /** Of a background child (SPEC D9), which takes no part of the width and which nobody waits for; else `null`. */
  readonly taskId: string | null;
}

export interface UnreadNote extends Note {
  /** Place of its `run.user_note`. */
  readonly at: number;
}

/** A run as the fold of its events: the tree view, `result()` and every decision read this and nothing else. */
export interface RunState {
  readonly runId: string;
  readonly phase: RunPhase;
  /** How many events it has. */
  readonly count: number;
  readonly spec: RunSpec | null;
  readonly turn: number;
  readonly history: readonly Message[];
  readonly unread: readonly UnreadNote[];
  /** Calls of the current turn, in call order: the one with index n at place n - 1. */
  readonly calls: Rows<CallState>;
  /** Places of the calls, by their ids. */
  readonly places: ReadonlyMap<string, number>;
  readonly agenda: Agenda;
  /** In the order of their launch. */
  readonly children: Rows<ChildState>;
  /** How many of the children have not ended. */
  readonly childrenRunning: number;
  /** How many of those are background children. */
  readonly backgroundRunning: number;
  /** All children before this place have ended, or nobody waits for them. */
  readonly firstRunning: number;
  /** Highest launch ordinal given out. */
  readonly lastOrdinal: number;
  /** Every plan of the run, in the order in which they started. */
  readonly plans: readonly PlanState[];
  /** What tasks of ended plans answered (SPEC P11). */
  readonly answers: AnswerBook;
  /** SPEC P10: its time was up while a plan ran. */
  readonly isOutOfTime: boolean;
  readonly usage: Usage;
  readonly costCents: number | null;
  readonly effect: Effect;
  readonly operations: readonly string[];
  readonly lastText: string;
  /** How often its host was lost under its own work since the last turn that nothing interrupted (SPEC J5). */
  readonly hostLosses: number;
  /** Place of its last `run.resumed`, 0 where there is none. */
  readonly resumedAt: number;
  /** A call of this turn was cut off by a loss. */
  readonly isInterrupted: boolean;
  readonly stopping: StopData | null;
  readonly status: 'pending' | 'running' | RunStatusEnded;
  readonly ended: TerminalData | null;
  /** Places of the events that later ones follow from. */
  readonly causes: { readonly turn: number; readonly ask: number; readonly answer: number };
}

export const NO_CALLS = {
  calls: Rows.none<CallState>(),
  places: new Map<string, number>(),
  agenda: EMPTY_AGENDA,
} satisfies Pick<RunState, 'calls' | 'places' | 'agenda'>;

/** One for all that a run does not have. */
const NOTHING: readonly never[] = [];

export function pendingRun(runId: string): RunState {
  return {
    runId,
    phase: 'pending',
    count: 0,
    spec: null,
    turn: 0,
    history: NOTHING,
    unread: NOTHING,
    ...NO_CALLS,
    children: Rows.none(),
    childrenRunning: 0,
    backgroundRunning: 0,
    firstRunning: 0,
    lastOrdinal: 0,
    plans: NOTHING,
    answers: NOTHING,
    isOutOfTime: false,
    usage: NO_USAGE,
    costCents: 0,
    effect: 'none',
    operations: NOTHING,
    lastText: '',
    hostLosses: 0,
    isInterrupted: false,
    resumedAt: 0,
    stopping: null,
    status: 'pending',
    ended: null,
    causes: { turn: 0, ask: 0, answer: 0 },
  };
}

export function runningChildren(state: RunState): readonly ChildState[] {
  return state.childrenRunning === 0 ? [] : state.children.filter(isRunning);
}

/** Running children but for those that a plan has called off, which may still be stopping: nobody waits for their words. */
export function wantedChildren(state: RunState): readonly ChildState[] {
  const isWanted = (child: ChildState) => {
    const plan = child.kind === 'plan' ? planOf(state, child) : undefined;
    return plan === undefined || workingChildren(plan).includes(child.ordinal);
  };
  return runningChildren(state).filter(isWanted);
}

/** The first child, in the order of their launch, that has not ended and is waited for. */
export function firstRunningChild(state: RunState): ChildState | undefined {
  return widthInUse(state) === 0
    ? undefined
    : state.children.findFrom(state.firstRunning, isWaitedFor);
}

export function isWaitedFor(child: ChildState): boolean {
  return isRunning(child) && child.taskId === null;
}

/** SPEC D3, D9: running children but for those in the background, which are bounded by a limit of their own. */
export function widthInUse(state: RunState): number {
  return state.childrenRunning - state.backgroundRunning;
}

export function isRunning(child: ChildState): boolean {
  return child.status === 'running';
}

/** The call of the current turn with this id. */
export function callOf(state: RunState, callId: string): CallState | undefined {
  const place = state.places.get(callId);
  return place === undefined ? undefined : state.calls.at(place);
}

/** The call of the current turn with this index, 1 for the first. */
export function callAt(state: RunState, index: number): CallState | undefined {
  return state.calls.at(index - 1);
}

export function childAt(state: RunState, ordinal: number): ChildState | undefined {
  const likely = state.children.at(ordinal - 1);
  return likely?.ordinal === ordinal
    ? likely
    : state.children.find((child) => child.ordinal === ordinal);
}

/** The call of the current turn that launched this child. */
export function launcherOf(state: RunState, child: ChildState): CallState | undefined {
  const call = callAt(state, child.call);
  const isIts =
    call?.ordinal === child.ordinal || call?.parts.some((part) => part.ordinal === child.ordinal);
  return isIts === true ? call : undefined;
}

/** The plan that this child does a task of. */
export function planOf(state: RunState, child: ChildState): PlanState | undefined {
  return state.plans.find((plan) => launchOf(plan, child.ordinal) !== undefined);
}

/** Plans that have not ended. */
export function livePlans(state: RunState): readonly PlanState[] {
  return state.plans.length === 0 ? [] : state.plans.filter((plan) => plan.ended === null);
}

/** Turns begun so far: what `turns` means in every result. */
export function turnsOf(state: RunState): number {
  return state.turn;
}
