import { existsSync } from 'node:fs';
import { Fault, messageOf } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type { EventFilter } from './journal.ts';
import { unreadable } from './journal-fault.ts';
import { readPages } from './journal-pages.ts';
import { readLastSeq, readVersion } from './journal-schema.ts';
import { openSqlite, type SqliteDatabase, sqliteFailure } from './sqlite.ts';

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
  close(): void;
}

/**
 * @throws Fault `argument.invalid` if there is no such file or it is not a journal, `journal.corrupt` if not even its
 * first page can be read, `sqlite.absent`.
 */
export function openJournalReader(file: string): JournalReader {
  if (!existsSync(file)) {
    throw new Fault(
      'argument.invalid',
      `there is no journal at ${file}: nothing has run with this state directory yet; check --state`,
      { detail: { file } },
    );
  }
  const { db, damage } = openForReading(file);
  const pages = (filter: EventFilter = {}, upToSeq = Number.POSITIVE_INFINITY) => {
    const last = damage === null ? endOf(db, file) : null;
    const end = last === null ? null : Math.min(last, upToSeq);
    return readPages({ file, db, damage, end }, filter);
  };
  return {
    read: function* (filter) {
      for (const page of pages(filter)) yield* page;
    },
    pages,
    lastSeq: () => {
      if (damage !== null) throw damage;
      return lookingAt(file, 'its last event', () => lastSeqOf(db, file));
    },
    integrity: () =>
      damage === null ? check(db, file) : { ok: false, place: String(damage.detail['place']) },
    close: () => db.close(),
  };
}

/** A file shorter than its header says is opened all the same, to be read as far as it goes. */
function openForReading(file: string): { db: SqliteDatabase; damage: Fault | null } {
  const open = (salvage: boolean): SqliteDatabase => {
    const db = openSqlite(file, { readonly: true, salvage });
    try {
      readVersion(db, file);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  };
  try {
    return { db: open(false), damage: null };
  } catch (error) {
    const damage = unreadable(file, 'the file as a whole', error, null);
    if (sqliteFailure(error) !== 'corrupt') throw damage;
    return lookingAt(file, 'its first page', () => ({ db: open(true), damage }));
  }
}

/** `null` where the way to the last event is damaged: then it is read until the damage shows. */
function endOf(db: SqliteDatabase, file: string): number | null {
  try {
    return lastSeqOf(db, file);
  } catch (error) {
    if (sqliteFailure(error) === 'corrupt') return null;
    throw unreadable(file, 'its last event', error, null);
  }
}

function lastSeqOf(db: SqliteDatabase, file: string): number {
  return readVersion(db, file) === 0 ? 0 : readLastSeq(db);
}

function check(db: SqliteDatabase, file: string): Integrity {
  try {
    if (lastSeqOf(db, file) === 0) return { ok: true };
    const pages = Object.values(db.pragma('integrity_check(1)')[0] ?? {})[0];
    if (pages !== 'ok') return { ok: false, place: `${file}: ${pages}` };
    const unreadableSeq = firstSeq(db, 'SELECT seq FROM events WHERE NOT json_valid(data)');
    if (unreadableSeq !== null) {
      return {
        ok: false,
        place: `${file}: table events, seq ${unreadableSeq}: its data is not JSON`,
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

function firstSeq(db: SqliteDatabase, sql: string): number | null {
  const row = db.prepare(`${sql} ORDER BY seq LIMIT 1`).get();
  return row === undefined ? null : Number(row['seq']);
}

function lookingAt<T>(file: string, place: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw unreadable(file, place, error, null);
  }
}
