import type { Fault } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type { EventFilter } from './journal.ts';
import { corrupt, unreadable } from './journal-fault.ts';
import { eventOf } from './journal-row.ts';
import { salvageRows } from './journal-salvage.ts';
import {
  indexedSeqs,
  isWanted,
  prepareRow,
  scanRows,
  wantsEveryEvent,
  wantsNothing,
} from './journal-select.ts';
import { isDamage, type SqliteDatabase, type SqliteRow } from './sqlite.ts';

/*
 * I1. No statement stays open between two pages: a reader that dawdles never holds back the writer's checkpoints.
 * I2. What precedes damage is handed out before the fault that names its place (SPEC J8).
 */

export interface PageSource {
  readonly file: string;
  /** `null` = SQLite does not open the file at all, for the reason in `damage`. */
  readonly db: SqliteDatabase | null;
  readonly damage: unknown;
  /** Last position to read; `null` where the file is damaged and nobody knows. */
  readonly end: number | null;
  /** May rows be read past SQLite where it gives up? See `journal-salvage.ts`. */
  readonly salvage: boolean;
}

const PAGE_EVENTS_MAX = 128;
/** A page ends with the row that passes this many characters of data: parsing them takes about a millisecond. */
const PAGE_CHARS_MAX = 128 * 1024;
/** Positions that one page looks through for matches. */
const SCAN_SEQS_MAX = 4096;

/** The matching events in pages of bounded size, some of them empty. */
export function* readPages(
  source: PageSource,
  filter: EventFilter,
): Generator<readonly JournalEvent[], void, undefined> {
  if (wantsNothing(filter) || source.end === 0) return;
  const progress = new Progress(source.file, filter);
  let damage: unknown;
  try {
    if (source.db === null) throw source.damage;
    yield* pagesOf(chunksOf(source.db, filter, source.end, progress), progress);
    return;
  } catch (error) {
    damage = error;
  }
  if (source.salvage && isDamage(damage)) {
    try {
      yield* pagesOf(chunks(salvageRows(source.file, progress.after)), progress);
    } catch (error) {
      damage = error;
    }
    if (progress.left === 0) return;
  }
  const place = `table events after seq ${progress.after}`;
  throw unreadable(source.file, place, damage, progress.after);
}

/** How far a read has come, and what it makes of a row. */
class Progress {
  /** Everything wanted up to here has been handed out. */
  after: number;
  left: number;
  readonly #file: string;
  readonly #filter: EventFilter;
  /** A missing position is damage. */
  readonly #gapless: boolean;

  constructor(file: string, filter: EventFilter) {
    this.#file = file;
    this.#filter = filter;
    this.#gapless = wantsEveryEvent(filter);
    this.after = Math.max(0, filter.afterSeq ?? 0);
    this.left = filter.limit ?? Number.POSITIVE_INFINITY;
  }

  take(row: SqliteRow, page: JournalEvent[]): void {
    const seq = Number(row['seq']);
    if (this.#gapless && seq > this.after + 1) throw this.at(this.after + 1, 'it is missing');
    if (!(seq > this.after)) throw this.at(this.after + 1, 'the rows are out of order');
    const event = eventOf(row);
    if (event === null) throw this.at(seq, 'its cells or its data are not those that were written');
    this.after = seq;
    if (!isWanted(this.#filter, event)) return;
    page.push(event);
    this.left -= 1;
  }

  /** There is nothing more to take up to `seq`. */
  reach(seq: number): void {
    if (this.#gapless && this.after < seq) throw this.at(this.after + 1, 'it is missing');
    this.after = seq;
  }

  at(seq: number, what: string): Fault {
    return corrupt(this.#file, `table events, seq ${seq}: ${what}`, this.after);
  }
}

function* pagesOf(
  chunked: Iterable<readonly SqliteRow[]>,
  progress: Progress,
): Generator<readonly JournalEvent[], void, undefined> {
  for (const rows of chunked) {
    const page: JournalEvent[] = [];
    let fault: unknown = null;
    try {
      for (const row of rows) if (progress.left > 0) progress.take(row, page);
    } catch (error) {
      fault = error;
    }
    yield page; // I2
    if (fault !== null) throw fault;
    if (progress.left === 0) return;
  }
}

function chunksOf(
  db: SqliteDatabase,
  filter: EventFilter,
  end: number | null,
  progress: Progress,
): Iterable<readonly SqliteRow[]> {
  const seqs = seqsByIndex(db, filter, { after: progress.after, to: end ?? UNKNOWN_END });
  return seqs === null
    ? scannedChunks(db, filter, end, progress)
    : chunks(pickedRows(db, seqs, progress));
}

const UNKNOWN_END = Number.MAX_SAFE_INTEGER;

/** `null` = scan the table: no index serves, or the one that would is damaged. */
function seqsByIndex(
  db: SqliteDatabase,
  filter: EventFilter,
  range: { readonly after: number; readonly to: number },
): readonly number[] | null {
  try {
    return indexedSeqs(db, filter, range);
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

function* pickedRows(
  db: SqliteDatabase,
  seqs: readonly number[],
  progress: Progress,
): Generator<SqliteRow, void, undefined> {
  const rowAt = prepareRow(db);
  for (const seq of seqs) {
    const row = rowAt(seq);
    if (row === undefined) throw progress.at(seq, 'an index names it, the table lacks it');
    yield row;
  }
}

function* scannedChunks(
  db: SqliteDatabase,
  filter: EventFilter,
  end: number | null,
  progress: Progress,
): Generator<readonly SqliteRow[], void, undefined> {
  for (;;) {
    const to = end === null ? UNKNOWN_END : Math.min(progress.after + SCAN_SEQS_MAX, end);
    if (to <= progress.after) return;
    const rows = scanRows(db, filter, { after: progress.after, to });
    const chunk = collect(rows);
    rows.return?.(); // I1
    yield chunk.rows;
    if (chunk.ended === 'thrown') throw chunk.error;
    if (chunk.ended === 'full') continue;
    if (end === null) return;
    progress.reach(to);
  }
}

/** Cuts a stream of rows that holds nothing open between two of them. */
function* chunks(rows: Iterator<SqliteRow>): Generator<readonly SqliteRow[], void, undefined> {
  try {
    for (;;) {
      const chunk = collect(rows);
      yield chunk.rows;
      if (chunk.ended === 'thrown') throw chunk.error;
      if (chunk.ended === 'done') return;
    }
  } finally {
    rows.return?.();
  }
}

interface Chunk {
  readonly rows: readonly SqliteRow[];
  readonly ended: 'done' | 'full' | 'thrown';
  readonly error?: unknown;
}

function collect(source: Iterator<SqliteRow>): Chunk {
  const rows: SqliteRow[] = [];
  let chars = 0;
  try {
    while (rows.length < PAGE_EVENTS_MAX && chars < PAGE_CHARS_MAX) {
      const next = source.next();
      if (next.done === true) return { rows, ended: 'done' };
      rows.push(next.value);
      chars += String(next.value['data']).length;
    }
    return { rows, ended: 'full' };
  } catch (error) {
    return { rows, ended: 'thrown', error };
  }
}
