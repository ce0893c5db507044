import type { JournalEvent } from './core/event.ts';
import type { EventFilter } from './journal.ts';
import { columnsIn } from './journal-schema.ts';
import type { SqliteDatabase, SqliteRow, SqliteValue } from './sqlite.ts';

/** Positions `after < seq <= to`. */
export interface SeqRange {
  readonly after: number;
  readonly to: number;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
}

/** Matching rows of the table itself, by `seq`, without any index: what is still right when an index is damaged. */
export function scanRows(
  db: SqliteDatabase,
  filter: EventFilter,
  range: SeqRange,
): IterableIterator<SqliteRow> {
  const where = both(inRange(range), both(anyOf(runsOf(filter)), ofTypes(filter.types)));
  const sql = `SELECT ${rowOf(db)} FROM events NOT INDEXED WHERE ${where.sql} ORDER BY seq`;
  return db.prepare(sql).iterate(...where.values);
}

/**
 * Positions of the matching events by `seq`, found by an index; `null` = no index serves this filter. Numbers only: the
 * rows themselves never go through a sort.
 */
export function indexedSeqs(
  db: SqliteDatabase,
  filter: EventFilter,
  range: SeqRange,
): readonly number[] | null {
  const runs = runsOf(filter);
  const rest = both(inRange(range), ofTypes(filter.types));
  const lookups =
    runs.length > 0
      ? runs.map((run) => lookup('events_by_run', both(run, rest)))
      : onlyRunTypes(filter.types)
        ? [lookup('events_of_runs', both({ sql: "type GLOB 'run.*'", values: [] }, rest))]
        : [];
  if (lookups.length === 0) return null;
  const sql = `${lookups.map((one) => one.sql).join(' UNION ALL ')} ORDER BY seq`;
  const rows = db.prepare(sql).all(...lookups.flatMap((one) => one.values));
  return rows.map((row) => Number(row['seq']));
}

export function prepareRow(db: SqliteDatabase): (seq: number) => SqliteRow | undefined {
  const statement = db.prepare(`SELECT ${rowOf(db)} FROM events WHERE seq = ?`);
  return (seq) => statement.get(seq);
}

function rowOf(db: SqliteDatabase): string {
  return columnsIn(db).join(', ');
}

/** Every event of the journal is wanted, so a missing position is damage. */
export function wantsEveryEvent(filter: EventFilter): boolean {
  return filter.runId === undefined && filter.subtreeOf === undefined && filter.types === undefined;
}

/** A run outside the subtree that is asked for, no type at all, or no event at all. */
export function wantsNothing({ runId, subtreeOf, types, limit }: EventFilter): boolean {
  if (limit !== undefined && limit <= 0) return true;
  if (types?.length === 0) return true;
  return runId !== undefined && subtreeOf !== undefined && !isWithin(runId, subtreeOf);
}

/** The same conditions as in SQL, position and number left out. */
export function isWanted({ runId, subtreeOf, types }: EventFilter, event: JournalEvent): boolean {
  if (runId !== undefined && event.run_id !== runId) return false;
  if (types !== undefined && !types.includes(event.type)) return false;
  return subtreeOf === undefined || isWithin(event.run_id, subtreeOf);
}

/** Is it that run, or one below it? */
function isWithin(runId: string, rootId: string): boolean {
  return runId === rootId || runId.startsWith(`${rootId}/`);
}

function runsOf({ runId, subtreeOf }: EventFilter): readonly Condition[] {
  if (runId !== undefined) return [{ sql: 'run_id = ?', values: [runId] }];
  if (subtreeOf === undefined) return [];
  return [
    { sql: 'run_id = ?', values: [subtreeOf] },
    // '0' is the character after '/': the range holds what starts with `R/` and nothing else.
    { sql: 'run_id > ? AND run_id < ?', values: [`${subtreeOf}/`, `${subtreeOf}0`] },
  ];
}

function onlyRunTypes(types: readonly string[] | undefined): boolean {
  return types?.every((type) => type.startsWith('run.')) ?? false;
}

function lookup(index: string, where: Condition): Condition {
  return {
    sql: `SELECT seq FROM events INDEXED BY ${index} WHERE ${where.sql}`,
    values: where.values,
  };
}

function inRange({ after, to }: SeqRange): Condition {
  return { sql: 'seq > ? AND seq <= ?', values: [after, to] };
}

function ofTypes(types: readonly string[] | undefined): Condition {
  if (types === undefined) return { sql: '1', values: [] };
  return { sql: `type IN (${types.map(() => '?').join(', ')})`, values: types };
}

function anyOf(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: '1', values: [] };
  return {
    sql: `(${conditions.map(({ sql }) => `(${sql})`).join(' OR ')})`,
    values: conditions.flatMap(({ values }) => values),
  };
}

function both(left: Condition, right: Condition): Condition {
  return { sql: `${left.sql} AND ${right.sql}`, values: [...left.values, ...right.values] };
}
