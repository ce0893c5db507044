import type { FindingCode } from './audit-finding.ts';
import type { JournalEvent } from './event.ts';
import type { PlanTask } from './plan-spec.ts';
import type {
  AnsweredCall,
  RunEvent,
  RunStatusEnded,
  StopData,
  TerminalData,
} from './run-event.ts';
import type { RunSpec } from './run-spec.ts';
import type { Effect } from './tool.ts';

/** An event whose data has its shape, as the run machine made it, with the line of the journal that it stands in. */
export type AuditedEvent = RunEvent & { readonly at: JournalEvent };

export interface AuditedCall extends AnsweredCall {
  readonly index: number;
  status: 'waiting' | 'asking' | 'approved' | 'denied' | 'running' | 'done';
  /** The children it launched, in the order of their launch. */
  readonly launched: number[];
}

export interface AuditedChild {
  readonly ordinal: number;
  readonly runId: string;
  readonly agentId: string;
  readonly kind: 'delegate' | 'subagent' | 'plan';
  /** Where the run that launched it was then. */
  readonly frame: string | null;
  /** Id of its `delegation.started` or `plan.task.started`. */
  readonly startedBy: string;
  readonly reviewOf: readonly string[];
  /** Of a background child (SPEC D9). */
  readonly taskId: string | null;
  ended: boolean;
}

export interface AuditedTask {
  readonly task: PlanTask;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'incomplete' | 'skipped';
  round: number;
  returns: number;
  /** The run that `status` speaks of. */
  ordinal: number | null;
  verdict: 'accept' | 'rework' | null;
}

export interface AuditedPlan {
  readonly frame: string | null;
  readonly maxRework: number;
  readonly onFailure: 'continue' | 'stop' | 'abort';
  readonly tasks: ReadonlyMap<string, AuditedTask>;
  /** Ordinals of runs that were going when their task was invalidated. */
  readonly superseded: Set<number>;
  launches: number;
  /** SPEC P5, P10: after either nothing of it starts. */
  stop: 'plan.stopped' | 'plan.aborted' | null;
  isOutOfTime: boolean;
  ended: boolean;
}

/**
 * What an audit knows of one run. Kept apart from the fold that the run machine decides on (`RunState`), so that a defect
 * of the one is seen by the other.
 */
export interface AuditedRun {
  readonly runId: string;
  readonly parentRunId: string | null;
  /** Its last event so far. */
  last: JournalEvent;
  /** n of the last event. */
  count: number;
  /** Type and frame of each event, by n - 1. */
  readonly types: string[];
  readonly frames: (string | null)[];
  /** Events are missing, or one cannot be read: what follows from them is not judged. */
  torn: boolean;
  spec: RunSpec | null;
  phase: 'turning' | 'begun' | 'asking' | 'calling';
  turn: number;
  calls: AuditedCall[];
  readonly children: Map<number, AuditedChild>;
  /** Ordinals of children that have not ended and are waited for, in the order of their launch. */
  readonly live: Set<number>;
  /** Ordinals of background children that have not ended (SPEC D9). */
  readonly detached: Set<number>;
  lastOrdinal: number;
  readonly plans: AuditedPlan[];
  readonly notes: Map<string, 'unread' | 'settled'>;
  /** Notes that its parent says it was handed. */
  readonly owedNotes: Set<string>;
  usage: Sum;
  /** A request of it failed: what it may have cost nobody said, so its sums may be unknown (SPEC M4). */
  mayBeUnknown: boolean;
  cost: number | null;
  effect: Effect;
  lastText: string;
  stopping: StopData | null;
  ended: (TerminalData & { readonly status: RunStatusEnded }) | null;
}

/** Tokens; `null` = a part of them is unknown (SPEC M4). */
export interface Sum {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens: number | null;
}

export function newRun(first: JournalEvent): AuditedRun {
  return {
    runId: first.run_id,
    parentRunId: first.parent_run_id,
    last: first,
    count: 0,
    types: [],
    frames: [],
    torn: false,
    spec: null,
    phase: 'turning',
    turn: 0,
    calls: [],
    children: new Map(),
    live: new Set(),
    detached: new Set(),
    lastOrdinal: 0,
    plans: [],
    notes: new Map(),
    owedNotes: new Set(),
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    mayBeUnknown: false,
    cost: 0,
    effect: 'none',
    lastText: '',
    stopping: null,
    ended: null,
  };
}

/** What the checks of one event work with. */
export interface AuditDesk {
  readonly runs: ReadonlyMap<string, AuditedRun>;
  report(code: FindingCode, at: JournalEvent, words: string): void;
}

/** Reports unless the condition holds. @returns the condition. */
export function expectThat(
  holds: boolean,
  desk: AuditDesk,
  code: FindingCode,
  at: JournalEvent,
  words: string,
): boolean {
  if (!holds) desk.report(code, at, words);
  return holds;
}

const WORSE: Readonly<Record<Effect, number>> = { none: 0, applied: 1, uncertain: 2 };

/** The graver of two effects. */
export function worseEffect(left: Effect, right: Effect): Effect {
  return WORSE[right] > WORSE[left] ? right : left;
}

export function callById(run: AuditedRun, id: string): AuditedCall | undefined {
  return run.calls.find((call) => call.id === id);
}
