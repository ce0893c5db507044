import type { AuditDesk, AuditedRun } from './audit-run.ts';
import type { EventType, JournalEvent } from './event.ts';

/** The place of an event in its run; `null` where the id is not `<run>#<n>`. */
export function placeInRun(id: string): { readonly runId: string; readonly n: number } | null {
  const found = /^(.+)#([1-9]\d*)$/s.exec(id);
  return found === null ? null : { runId: found[1] ?? '', n: Number(found[2]) };
}

/** SPEC J1: ids of a run have no gap. A run whose events are not all there is torn: nothing further is judged of it. */
export function auditPlace(desk: AuditDesk, run: AuditedRun, event: JournalEvent): void {
  const own = placeInRun(event.event_id);
  if (own === null || own.runId !== event.run_id) {
    desk.report('event-id', event, 'its event_id is not its run_id with a place from 1');
    run.torn = true;
    return;
  }
  if (own.n > run.count + 1) {
    desk.report(
      'event-id-gap',
      event,
      `it follows place ${run.count} of its run: ${missing(run.count + 1, own.n - 1)}`,
    );
    run.torn = true;
  } else if (own.n <= run.count) {
    desk.report('event-id-repeated', event, `its run already has an event at place ${own.n}`);
    run.torn = true;
  }
  if (event.parent_run_id !== run.parentRunId) {
    desk.report('parent-differs', event, 'its parent_run_id is not that of its run');
  }
}

function missing(from: number, to: number): string {
  return from === to ? `place ${from} is missing` : `places ${from} to ${to} are missing`;
}

/** SPEC R1: an id says whose child a run is. */
export function auditRunId(desk: AuditDesk, event: JournalEvent): void {
  const { run_id: id, parent_run_id: parent } = event;
  const fits =
    parent === null
      ? /^run_[^/]+$/.test(id)
      : id.startsWith(`${parent}/`) &&
        /^(delegate|subagent|plan)\/\d{2,}(-[^/]+)?$/.test(id.slice(parent.length + 1));
  if (!fits) desk.report('run-id', event, 'its run_id is not one that its parent could have given');
}

/** Events that have one certain kind of cause; every other follows from any event of its run that precedes it. */
const CAUSES: Partial<Record<EventType, readonly string[]>> = {
  'turn.started': ['run.started', 'turn.completed'],
  'model.started': ['turn.started'],
  'model.completed': ['model.started'],
  'model.failed': ['model.started'],
  'approval.requested': ['model.completed'],
  'approval.granted': ['approval.requested'],
  'approval.denied': ['approval.requested'],
  'tool.started': ['model.completed', 'approval.granted'],
  'tool.completed': [
    'model.completed',
    'tool.started',
    'delegation.completed',
    'delegation.failed',
  ],
  'tool.failed': [
    'model.completed',
    'approval.requested',
    'approval.granted',
    'approval.denied',
    'tool.started',
    'delegation.completed',
    'delegation.failed',
  ],
  'delegation.started': ['tool.started'],
  'delegation.completed': ['delegation.started'],
  'delegation.failed': ['delegation.started'],
  'plan.started': ['tool.started'],
  'run.cron_skipped': ['run.started'],
  'note.read': ['run.user_note'],
  'note.too_late': ['run.user_note'],
  'note.dead_letter': ['run.user_note'],
};

/** Causes that another run may hold: a child begins, and gets a note, because of its parent. */
const FROM_PARENT: Partial<Record<string, readonly string[]>> = {
  'run.started': ['delegation.started', 'plan.task.started'],
  'run.user_note': ['run.user_note'],
};

/**
 * SPEC J1: no event without its cause, and the cause precedes it. `unknown` is told of a cause that is not there, since
 * only the end of the journal can tell whether it comes later.
 */
export function auditCause(
  desk: AuditDesk,
  run: AuditedRun,
  event: JournalEvent,
  unknown: (event: JournalEvent) => void,
): void {
  const { parent_event_id: id, type } = event;
  if (type === 'run.started' && event.parent_run_id === null) {
    if (id !== null) desk.report('cause-kind', event, 'a root run follows from nothing');
    return;
  }
  if (id === null) {
    desk.report('cause-missing', event, 'it names no cause');
    return;
  }
  const cause = placeInRun(id);
  const causeRun = cause === null ? undefined : desk.runs.get(cause.runId);
  const causeType = causeRun?.types[(cause?.n ?? 0) - 1];
  if (cause === null || causeRun === undefined || causeType === undefined) {
    unknown(event);
    return;
  }
  const from = { type: causeType, frame: causeRun.frames[cause.n - 1] ?? null };
  const fits =
    causeRun === run
      ? followsInRun(event, from)
      : causeRun.runId === run.parentRunId && FROM_PARENT[type]?.includes(from.type) === true;
  if (!fits)
    desk.report('cause-kind', event, `a ${type} does not follow from a ${from.type} there`);
}

function followsInRun(event: JournalEvent, from: { type: string; frame: string | null }): boolean {
  if (event.type === 'run.started') return false;
  const allowed = CAUSES[event.type];
  if (allowed === undefined) {
    if (!event.type.startsWith('plan.')) return true;
    return from.type.startsWith('plan.') && from.frame === event.frame_id;
  }
  if (!allowed.includes(from.type)) return false;
  const { frame_id: frame } = event;
  if (event.type === 'turn.started' || frame === null || from.frame === null) return true;
  return isWithinFrame(frame, from.frame);
}

/** `turn-3/call-2` is within `turn-3` and within itself. */
function isWithinFrame(frame: string, outer: string): boolean {
  return frame === outer || frame.startsWith(`${outer}/`);
}
