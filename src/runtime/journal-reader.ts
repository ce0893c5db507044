import { existsSync } from 'node:fs';
import { Fault, messageOf } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type { EventFilter } from './journal.ts';
import { copyJournal } from './journal-copy.ts';
import { unreadable } from './journal-fault.ts';
import { readPages } from './journal-pages.ts';
import { isAsWritten } from './journal-row.ts';
import { readLastSeq, readVersion } from './journal-schema.ts';
import { scanRows } from './journal-select.ts';
import { isDamage, openSqlite, type SqliteDatabase, sqliteFailure } from './sqlite.ts';

export type Integrity = { readonly ok: true } | { readonly ok: false; readonly place: string };

/** Read-only access to a journal's file from any process, with a host writing or without one (SPEC J6, K2). */
export interface JournalReader {
  /**
   * Matching events by `seq`, up to the last one that was committed when the reading began.
   * @throws Fault `journal.corrupt`, after all that precedes the damage (SPEC J8).
   */
  read(filter?: EventFilter): Iterable<JournalEvent>;
  /** The same in pages of bounded size, for a thread that has other things to do between them. */
  pages(filter?: EventFilter, upToSeq?: number): Iterable<readonly JournalEvent[]>;
  /**
   * Position of the last committed event; 0 = none.
   * @throws Fault `journal.corrupt`
   */
  lastSeq(): number;
  /** Looks at every page and every row: seconds for a million events. */
  integrity(): Integrity;
  /** Looks at the pages alone: do the indexes hold what the table does? Runs are found by them. */
  structure(): Integrity;
  close(): void;
}

export interface JournalReaderOptions {
  /**
   * May rows be read past SQLite where it gives up on a damaged file? Default yes; never in a process that also writes
   * the file (see `journal-salvage.ts`).
   */
  readonly salvage?: boolean;
}

/**
 * A damaged file opens all the same: what can be read is read, and reading it ends with the fault.
 * @throws Fault `argument.invalid` if there is no such file or it is not a journal; `sqlite.absent`.
 */
export function openJournalReader(file: string, options: JournalReaderOptions = {}): JournalReader {
  if (!existsSync(file)) {
    throw new Fault(
      'argument.invalid',
      `there is no journal at ${file}: nothing has run with this state directory yet; check --state`,
      { detail: { file } },
    );
  }
  const salvage = options.salvage ?? true;
  const { db, damage, close } = openForReading(file);
  const pages = (filter: EventFilter = {}, upToSeq = Number.POSITIVE_INFINITY) => {
    const last = db === null ? null : endOf(db, file);
    const end = last === null ? null : Math.min(last, upToSeq);
    return readPages({ file, db, damage, end, salvage }, filter);
  };
  return {
    read: function* (filter) {
      for (const page of pages(filter)) yield* page;
    },
    pages,
    lastSeq: () => {
      try {
        if (db === null) throw damage;
        return lastSeqOf(db, file);
      } catch (error) {
        throw unreadable(file, 'the way to its last event', error, null);
      }
    },
    integrity: () =>
      db === null ? { ok: false, place: `${file}: ${messageOf(damage)}` } : check(db, file),
    structure: () =>
      db === null ? { ok: false, place: `${file}: ${messageOf(damage)}` } : checkPages(db, file),
    close,
  };
}

/**
 * Why no run may be taken up from this journal: it would be read by indexes that do not hold what the table does, and what
 * is finished would be done again. `null` where nothing speaks against it.
 */
export function structureFault(file: string): Fault | null {
  const reader = openJournalReader(file, { salvage: false });
  try {
    const found = reader.structure();
    if (found.ok) return null;
    const words = `the journal is damaged: ${found.place}; nothing was taken up. Keep a copy of the state directory; \`troupe doctor\` says what can still be read`;
    return new Fault('journal.corrupt', words, { detail: { file } });
  } finally {
    reader.close();
  }
}

function checkPages(db: SqliteDatabase, file: string): Integrity {
  try {
    if (readVersion(db, file) === 0) return { ok: true };
    const pages = Object.values(db.pragma('integrity_check(1)')[0] ?? {})[0];
    return pages === 'ok' ? { ok: true } : { ok: false, place: `${file}: ${pages}` };
  } catch (error) {
    return { ok: false, place: `${file}: ${messageOf(error)}` };
  }
}

interface Opened {
  /** `null` where SQLite gives up on the file as a whole: no header, or shorter than that says. */
  readonly db: SqliteDatabase | null;
  readonly damage: unknown;
  close(): void;
}

function openForReading(file: string): Opened {
  try {
    return openAt(file, file);
  } catch (error) {
    const failure = sqliteFailure(error);
    const copy = failure === 'readonly' || failure === 'cannot-open' ? copyJournal(file) : null;
    if (copy === null) throw unreadable(file, 'the file as a whole', error, null);
    try {
      const opened = openAt(copy.file, file);
      const close = (): void => {
        opened.close();
        copy.drop();
      };
      return { ...opened, close };
    } catch (thrown) {
      copy.drop();
      throw unreadable(file, 'the file as a whole', thrown, null);
    }
  }
}

/** Opens the file at `path` as the journal `file`. */
function openAt(path: string, file: string): Opened {
  let db: SqliteDatabase | null = null;
  const close = (): void => db?.close();
  try {
    db = openSqlite(path, { readonly: true });
    readVersion(db, file);
    return { db, damage: null, close };
  } catch (error) {
    db?.close();
    if (isDamage(error)) return { db: null, damage: error, close: () => undefined };
    throw error;
  }
}

/** `null` where the way to the last event is damaged: then it is read until the damage shows. */
function endOf(db: SqliteDatabase, file: string): number | null {
  try {
    return lastSeqOf(db, file);
  } catch (error) {
    if (isDamage(error)) return null;
    throw unreadable(file, 'its last event', error, null);
  }
}

function lastSeqOf(db: SqliteDatabase, file: string): number {
  return readVersion(db, file) === 0 ? 0 : readLastSeq(db);
}

function check(db: SqliteDatabase, file: string): Integrity {
  try {
    if (lastSeqOf(db, file) === 0) return { ok: true };
    const pages = checkPages(db, file);
    if (!pages.ok) return pages;
    const unreadableSeq = firstSeq(db, 'SELECT seq FROM events WHERE NOT json_valid(data)');
    if (unreadableSeq !== null) {
      return {
        ok: false,
        place: `${file}: table events, seq ${unreadableSeq}: its data is not JSON`,
      };
    }
    const changed = firstChanged(db);
    if (changed !== null) {
      return {
        ok: false,
        place: `${file}: table events, seq ${changed}: it is not as it was written`,
      };
    }
    const missing = firstSeq(
      db,
      'SELECT place AS seq FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM events) WHERE seq <> place',
    );
    if (missing === null) return { ok: true };
    return { ok: false, place: `${file}: table events, seq ${missing}: it is missing` };
  } catch (error) {
    return { ok: false, place: `${file}: ${messageOf(error)}` };
  }
}

function firstChanged(db: SqliteDatabase): number | null {
  const rows = scanRows(db, {}, { after: 0, to: Number.MAX_SAFE_INTEGER });
  for (const row of rows) if (!isAsWritten(row)) return Number(row['seq']);
  return null;
}

function firstSeq(db: SqliteDatabase, sql: string): number | null {
  const row = db.prepare(`${sql} ORDER BY seq LIMIT 1`).get();
  return row === undefined ? null : Number(row['seq']);
}
