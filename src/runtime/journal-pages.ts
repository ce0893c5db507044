import type { Fault } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import { type EventType, eventId, type JournalEvent } from './core/event.ts';
import type { EventFilter } from './journal.ts';
import { corrupt, unreadable } from './journal-fault.ts';
import {
  indexedSeqs,
  prepareRow,
  scanRows,
  wantsEveryEvent,
  wantsNothing,
} from './journal-select.ts';
import { type SqliteDatabase, type SqliteRow, sqliteFailure } from './sqlite.ts';

export interface PageSource {
  readonly file: string;
  /** `null` = SQLite does not open the file at all, for the reason in `damage`. */
  readonly db: SqliteDatabase | null;
  readonly damage: unknown;
  /** Last position to read; `null` where the file is damaged and nobody knows. */
  readonly end: number | null;
  /** May rows be read past SQLite where it gives up? */
  readonly salvage: boolean;
}

const PAGE_EVENTS_MAX = 128;
/** A page ends with the row that passes this many characters of data: parsing them takes about a millisecond. */
const PAGE_CHARS_MAX = 128 * 1024;
/** Positions that one page looks through for matches. */
const SCAN_SEQS_MAX = 4096;

/**
 * The matching events in pages of bounded size; some may be empty. Each page is a transaction of its own, so a reader
 * that dawdles never holds back the writer's checkpoints. Throws only after all that precedes the damage (SPEC J8).
 */
export function* readPages(
  source: PageSource,
  filter: EventFilter,
): Generator<readonly JournalEvent[], void, undefined> {
  if (wantsNothing(filter) || source.end === 0) return;
  const cursor = new Cursor(source.file, filter, source.end);
  let fill: ((page: JournalEvent[]) => boolean) | null = null;
  let damage = source.damage;
  for (;;) {
    const page: JournalEvent[] = [];
    let more = true;
    try {
      if (source.db === null) throw damage;
      fill ??= cursor.over(source.db);
      more = fill(page);
    } catch (error) {
      damage = error;
    }
    yield page;
    if (damage !== null) break;
    if (!more) return;
  }
  if (source.salvage && isDamage(damage)) {
    if (yield* cursor.salvaged()) return;
  }
  throw unreadable(source.file, `table events after seq ${cursor.after}`, damage, cursor.after);
}

class Cursor {
  /** Everything wanted up to here has been handed out. */
  after: number;
  #left: number;
  #at = 0;
  readonly #source: PageSource;
  readonly #filter: EventFilter;
  readonly #gapless: boolean;
  readonly #seqs: readonly number[] | null;
  readonly #row: (seq: number) => SqliteRow | undefined;

  constructor(source: PageSource, filter: EventFilter) {
    this.#source = source;
    this.#filter = filter;
    this.after = Math.max(0, filter.afterSeq ?? 0);
    this.#left = filter.limit ?? Number.POSITIVE_INFINITY;
    this.#gapless = wantsEveryEvent(filter);
    this.#seqs = seqsByIndex(source, filter, this.after);
    this.#row = prepareRow(source.db);
  }

  /** False = this was the last page. */
  fill(page: JournalEvent[]): boolean {
    return this.#seqs === null ? this.#scan(page) : this.#pick(page, this.#seqs);
  }

  #pick(page: JournalEvent[], seqs: readonly number[]): boolean {
    let chars = 0;
    for (; this.#at < seqs.length; this.#at += 1) {
      if (isFull(page, chars)) return true;
      const seq = seqs[this.#at] ?? 0;
      const row = this.#row(seq);
      if (row === undefined) throw this.#damagedAt(seq, 'an index names it, the table lacks it');
      chars += this.#take(page, row);
      if (this.#left === 0) return false;
    }
    return false;
  }

  #scan(page: JournalEvent[]): boolean {
    const { db, end, damage } = this.#source;
    const to = end === null ? Number.MAX_SAFE_INTEGER : Math.min(this.after + SCAN_SEQS_MAX, end);
    if (to <= this.after) return false;
    let chars = 0;
    for (const row of scanRows(db, this.#filter, { after: this.after, to })) {
      chars += this.#take(page, row);
      if (this.#left === 0) return false;
      if (isFull(page, chars)) return true;
    }
    if (damage !== null) throw damage;
    if (end === null) return false;
    if (this.#gapless && this.after < to) throw this.#damagedAt(this.after + 1, 'it is missing');
    this.after = to;
    return to < end;
  }

  /** Takes a row; its size in characters. */
  #take(page: JournalEvent[], row: SqliteRow): number {
    const seq = Number(row['seq']);
    if (this.#gapless && seq > this.after + 1)
      throw this.#damagedAt(this.after + 1, 'it is missing');
    if (!(seq > this.after)) throw this.#damagedAt(this.after + 1, 'the rows are out of order');
    const event = toEvent(row, seq);
    if (event === null)
      throw this.#damagedAt(seq, 'its cells or its data are not those of an event');
    page.push(event);
    this.after = seq;
    this.#left -= 1;
    return String(row['data']).length;
  }

  #damagedAt(seq: number, what: string): Fault {
    return corrupt(this.#source.file, `table events, seq ${seq}: ${what}`, this.after);
  }
}

function isFull(page: readonly JournalEvent[], chars: number): boolean {
  return page.length >= PAGE_EVENTS_MAX || chars >= PAGE_CHARS_MAX;
}

/** `null` = scan the table: no index serves, or the one that would is damaged. */
function seqsByIndex(
  { db, end, damage }: PageSource,
  filter: EventFilter,
  after: number,
): readonly number[] | null {
  if (damage !== null) return null;
  try {
    return indexedSeqs(db, filter, { after, to: end ?? Number.MAX_SAFE_INTEGER });
  } catch (error) {
    if (sqliteFailure(error) === 'corrupt') return null;
    throw error;
  }
}

/** `null` = not what the writer wrote. The parser's own words would quote the data (SPEC C6), so they are dropped. */
function toEvent(row: SqliteRow, seq: number): JournalEvent | null {
  const { run_id, n, parent_run_id, parent_event_id, frame_id, ts, type, v } = row as Cells;
  if (typeof run_id !== 'string' || typeof n !== 'number' || typeof v !== 'number') return null;
  if (typeof ts !== 'string' || typeof type !== 'string') return null;
  if (!isText(parent_run_id) || !isText(parent_event_id) || !isText(frame_id)) return null;
  const data = parseObject(row['data']);
  if (data === null) return null;
  return {
    seq,
    event_id: eventId(run_id, n),
    run_id,
    parent_run_id,
    parent_event_id,
    frame_id,
    ts,
    type: type as EventType,
    v,
    data,
  };
}

interface Cells extends SqliteRow {
  readonly run_id: unknown;
  readonly n: unknown;
  readonly parent_run_id: unknown;
  readonly parent_event_id: unknown;
  readonly frame_id: unknown;
  readonly ts: unknown;
  readonly type: unknown;
  readonly v: unknown;
}

function isText(cell: unknown): cell is string | null {
  return cell === null || typeof cell === 'string';
}

function parseObject(cell: unknown): JsonObject | null {
  if (typeof cell !== 'string') return null;
  try {
    const value: unknown = JSON.parse(cell);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return value as JsonObject;
  } catch {
    return null;
  }
}
