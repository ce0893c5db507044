import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { Act } from './sim-log.ts';
import type { Told } from './sim-story.ts';

/** Characters of an event's data that are worth a look. */
const DATA_CHARS = 160;

/** A story to be read: events by their place, and between them what the runtime had done in the world. */
export function linesOf({ events, log }: Told): readonly string[] {
  const acts = (log?.acts ?? []).map((act): Line => ({ at: act.given + 0.5, text: actLine(act) }));
  const ends = (log?.hostEnds ?? []).map(
    (end, host): Line => ({ at: end + 0.9, text: `      --- host ${host} ends; ${end} committed` }),
  );
  const lines = events.map((event): Line => ({ at: event.seq, text: eventLine(event) }));
  return [...lines, ...acts, ...ends].sort((a, b) => a.at - b.at).map(({ text }) => text);
}

interface Line {
  readonly at: number;
  readonly text: string;
}

function eventLine(event: JournalEvent): string {
  const { seq, ts, event_id, parent_event_id, frame_id, type, data } = event;
  const words = JSON.stringify(data).slice(0, DATA_CHARS);
  return `${seq} ${ts.slice(14)} ${event_id} <- ${parent_event_id} ${frame_id ?? ''} ${type} ${words}`;
}

function actLine({ kind, name, runId, turn, call, host, committed }: Act): string {
  return `      host ${host}: ${kind} ${name} ${runId} turn ${turn} call ${call} (${committed} committed)`;
}
