import type { JsonObject } from '../../base/json.ts';

/** The version of the shapes written today. Readers accept this and every older one (`upcast.ts`). */
export const EVENT_VERSION = 1;

/** Every type of event, with the actor that writes it: the run's own supervisor, always (SPEC J2). */
export const EVENT_TYPES = [
  'run.started',
  'run.resumed',
  'run.user_note',
  'run.cron_skipped',
  'run.stopping',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.incomplete',
  'note.read',
  'note.too_late',
  'note.dead_letter',
  'turn.started',
  'turn.completed',
  'model.started',
  'model.completed',
  'model.failed',
  'tool.started',
  'tool.completed',
  'tool.failed',
  'approval.requested',
  'approval.granted',
  'approval.denied',
  'delegation.started',
  'delegation.completed',
  'delegation.failed',
  'plan.started',
  'plan.task.started',
  'plan.task.completed',
  'plan.task.failed',
  'plan.task.skipped',
  'plan.task.incomplete',
  'plan.task.rejected',
  'plan.task.reopened',
  'plan.task.invalidated',
  'plan.task.discarded',
  'plan.time_limit',
  'plan.stopped',
  'plan.aborted',
  'plan.completed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** One line of the journal, in the form that `troupe log --json` prints (SPEC J1). Plain JSON throughout. */
export interface JournalEvent<Type extends string = EventType, Data = JsonObject> {
  /** Position in the whole journal, from 1, without a gap. */
  readonly seq: number;
  /** `<run_id>#<n>`, n from 1 in each run, without a gap. */
  readonly event_id: string;
  readonly run_id: string;
  readonly parent_run_id: string | null;
  /** The event that caused this one; `null` only for the `run.started` of a root run. */
  readonly parent_event_id: string | null;
  /** `turn-3` or `turn-3/call-2`; `null` for what concerns the run as a whole. */
  readonly frame_id: string | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
  readonly type: Type;
  /** Version of the shape of `data`. */
  readonly v: number;
  readonly data: Data;
}

export const TERMINAL_TYPES = [
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.incomplete',
] as const satisfies readonly EventType[];

export type TerminalType = (typeof TERMINAL_TYPES)[number];

export function isTerminal(type: string): type is TerminalType {
  return (TERMINAL_TYPES as readonly string[]).includes(type);
}

export function eventId(runId: string, n: number): string {
  return `${runId}#${n}`;
}
