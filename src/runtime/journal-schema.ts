import { Fault } from '../base/fault.ts';
import type { SqliteDatabase } from './sqlite.ts';

/** Cells of a row as they cross to the writer and enter the table, after `seq`. */
export const COLUMNS = [
  'run_id',
  'n',
  'parent_run_id',
  'parent_event_id',
  'frame_id',
  'ts',
  'type',
  'v',
  'data',
] as const;

/** The last column: `sumOf` of all others. */
export const SUM = 'sum';

export type Cell = string | number | null;

/** One entry a version: the step that leads to it. `PRAGMA user_version` counts the steps taken. */
const STEPS = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     run_id TEXT NOT NULL,
     n INTEGER NOT NULL,
     parent_run_id TEXT,
     parent_event_id TEXT,
     frame_id TEXT,
     ts TEXT NOT NULL,
     type TEXT NOT NULL,
     v INTEGER NOT NULL,
     data TEXT NOT NULL
   ) STRICT;
   CREATE INDEX events_by_run ON events (run_id, n);
   CREATE INDEX events_of_runs ON events (type) WHERE type GLOB 'run.*';`,
  // NULL in rows of before: nothing is known of them.
  'ALTER TABLE events ADD COLUMN sum INTEGER;',
  // Sums are made another way since: those of before say nothing.
  'UPDATE events SET sum = NULL;',
] as const;

/** The layout from which on sums are as `sumOf` makes them. */
const SUMS_SINCE = 3;

/** What `readVersion` finds: 0 = an empty file, which is a journal without events. */
export function readVersion(db: SqliteDatabase, file: string): number {
  const version = numberOf(db.pragma('user_version')[0], 'user_version');
  if (version > STEPS.length) {
    throw new Fault(
      'argument.invalid',
      `journal ${file} was written by a newer troupe (layout ${version}, this one knows ${STEPS.length}); update troupe`,
      { detail: { file, version } },
    );
  }
  if (version === 0 && tableCount(db) > 0) {
    throw new Fault(
      'argument.invalid',
      `${file} is a SQLite database but not a journal of troupe; choose another --state`,
      { detail: { file } },
    );
  }
  return version;
}

/** The columns that a row of this file has, in the order of the table. */
export function columnsIn(db: SqliteDatabase): readonly string[] {
  const version = numberOf(db.pragma('user_version')[0], 'user_version');
  return version < SUMS_SINCE ? ['seq', ...COLUMNS] : ['seq', ...COLUMNS, SUM];
}

/** Brings an empty or older file to this version's layout, all of it or nothing. */
export function migrate(db: SqliteDatabase, file: string): void {
  const version = readVersion(db, file);
  if (version === STEPS.length) return;
  db.transaction(() => {
    for (const step of STEPS.slice(readVersion(db, file))) db.exec(step);
    db.exec(`PRAGMA user_version = ${STEPS.length}`);
  });
}

export function readLastSeq(db: SqliteDatabase): number {
  return numberOf(db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get(), 'seq');
}

function tableCount(db: SqliteDatabase): number {
  return numberOf(db.prepare('SELECT count(*) AS count FROM sqlite_master').get(), 'count');
}

function numberOf(row: Record<string, unknown> | undefined, column: string): number {
  return Number(row?.[column]);
}
