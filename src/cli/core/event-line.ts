import type { JournalEvent } from '../../runtime/core/event.ts';
import { eventWords } from './event-words.ts';
import { timeOfDay } from './figures.ts';
import { type Paint, statusColour } from './paint.ts';
import { safeLine } from './plain-text.ts';
import { belowTop } from './run-ref.ts';
import { cutText, padText } from './text-width.ts';

export interface EventLineOptions {
  readonly paint: Paint;
  /** Events of runs below it come too, and need a wider column for their place. */
  readonly subtree?: boolean;
  /** Columns of the terminal; `null` = not a terminal, `WORDS_MAX` alone cuts. */
  readonly width: number | null;
}

/** Words of an event in a line that is not for a terminal, where nothing else bounds them. */
const WORDS_MAX = 200;
const SEQ_COLUMNS = 5;
const TYPE_COLUMNS = 'plan.task.invalidated'.length;
const PLACE_COLUMNS = 'turn-1/call-1'.length;
const SUBTREE_PLACE_COLUMNS = 'delegate/01 turn-1/call-1'.length;

/** A line of `troupe log`: seq, time, place in the run (and below it), type, words. */
export function logLine(event: JournalEvent, top: string, options: EventLineOptions): string {
  const where = [belowTop(event.run_id, top), event.frame_id ?? ''].filter((part) => part !== '');
  const head = `${padText(String(event.seq), SEQ_COLUMNS, 'right')} ${timeOfDay(event.ts)} `;
  const columns = options.subtree === true ? SUBTREE_PLACE_COLUMNS : PLACE_COLUMNS;
  const place = padText(safeLine(where.join(' ')) || '-', columns);
  return line(head, place, event, options);
}

/** A line of `troupe run` where there is no live tree: time, whole run id, place in the run, type, words. */
export function progressLine(event: JournalEvent, options: EventLineOptions): string {
  const place = [event.run_id, event.frame_id ?? ''].filter((part) => part !== '').join(' ');
  return line(`${timeOfDay(event.ts)} `, safeLine(place), event, options);
}

/** What `troupe run` leaves out where it prints lines: what another line of the same moment says better. */
const PROGRESS_SKIPS: readonly string[] = [
  'turn.started',
  'turn.completed',
  'model.started',
  'model.completed',
  'delegation.started',
  'delegation.completed',
  'delegation.failed',
];

export function showsProgress(event: JournalEvent): boolean {
  return !PROGRESS_SKIPS.includes(event.type);
}

function line(head: string, place: string, event: JournalEvent, options: EventLineOptions): string {
  const { paint, width } = options;
  const type = padText(safeLine(event.type), TYPE_COLUMNS);
  const before = `${head}${place} ${type} `;
  const room = width === null ? WORDS_MAX : Math.max(0, width - before.length);
  const words = cutText(safeLine(eventWords(event.type, event.data)), Math.min(room, WORDS_MAX));
  const painted = paintType(type, event.type, paint);
  return `${paint('dim', head)}${place} ${painted} ${words}`.trimEnd();
}

function paintType(padded: string, type: string, paint: Paint): string {
  if (type.startsWith('run.') && type !== 'run.started' && type !== 'run.user_note') {
    return paint(statusColour(type.slice('run.'.length)), padded);
  }
  return type.endsWith('.failed') ? paint('red', padded) : padded;
}
