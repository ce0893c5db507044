import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { Fault, messageOf } from '../base/fault.ts';

export type SqliteValue = string | number | null;
export type SqliteRow = Record<string, unknown>;

export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown;
  get(...values: SqliteValue[]): SqliteRow | undefined;
  all(...values: SqliteValue[]): SqliteRow[];
  iterate(...values: SqliteValue[]): IterableIterator<SqliteRow>;
}

export interface SqliteDatabase {
  readonly driver: 'better-sqlite3' | 'node:sqlite';
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  /** The rows that `PRAGMA <text>` answers. */
  pragma(text: string): SqliteRow[];
  /** Runs `work` between BEGIN IMMEDIATE and COMMIT; whatever it throws rolls back and is thrown on. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export interface SqliteOptions {
  readonly readonly?: boolean;
  /** Milliseconds to wait for another connection's lock. */
  readonly busyTimeoutMs?: number;
}

/** What went wrong, for both drivers alike. */
export type SqliteFailure =
  | 'busy'
  | 'cannot-open'
  | 'corrupt'
  | 'full'
  | 'io'
  | 'not-a-database'
  | 'other'
  | 'readonly';

const DEFAULT_BUSY_TIMEOUT_MS = 5000;

type Open = (path: string, options: SqliteOptions) => SqliteDatabase;
type Load = (name: string) => unknown;

let chosen: Open | null = null;

/**
 * Opens a file with better-sqlite3 where its binding loads, else with Node's own SQLite.
 * @throws Fault `sqlite.absent` where there is neither; whatever SQLite says otherwise (see `sqliteFailure`).
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteDatabase {
  chosen ??= chooseDriver(createRequire(import.meta.url));
  return chosen(path, options);
}

/** `load` is a `require`; tests pass one that misses a module. */
export function chooseDriver(load: Load): Open {
  const missing: string[] = [];
  for (const [name, driver] of [
    ['better-sqlite3', betterSqlite3],
    ['node:sqlite', nodeSqlite],
  ] as const) {
    try {
      const open = driver(load(name));
      // The binding is looked for when the first database opens, not when the module loads.
      open(':memory:', {}).close();
      return open;
    } catch (error) {
      missing.push(`${name}: ${firstLine(messageOf(error))}`);
    }
  }
  throw new Fault(
    'sqlite.absent',
    `no SQLite to keep the journal with (${missing.join('; ')}). Run ` +
      '"npm install-scripts approve better-sqlite3 && npm rebuild better-sqlite3"; ' +
      'with npm older than 12: "npm rebuild better-sqlite3"',
    { detail: { missing } },
  );
}

/** The kind of an error that SQLite threw through either driver; `null` = it did not come from SQLite. */
export function sqliteFailure(thrown: unknown): SqliteFailure | null {
  if (!(thrown instanceof Error)) return null;
  const { code, errcode } = thrown as Error & { code?: unknown; errcode?: unknown };
  if (code === 'ERR_SQLITE_ERROR') return BY_NUMBER.get(Number(errcode) & 0xff) ?? 'other';
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return null;
  return BY_NAME.get(code.split('_')[1] ?? '') ?? 'other';
}

/** The file itself is at fault, not the way it is used. */
export function isDamage(thrown: unknown): boolean {
  const failure = sqliteFailure(thrown);
  return failure === 'corrupt' || failure === 'not-a-database';
}

const CODES: readonly (readonly [name: string, primaryCode: number, SqliteFailure])[] = [
  ['PERM', 3, 'readonly'],
  ['BUSY', 5, 'busy'],
  ['LOCKED', 6, 'busy'],
  ['READONLY', 8, 'readonly'],
  ['IOERR', 10, 'io'],
  ['CORRUPT', 11, 'corrupt'],
  ['FULL', 13, 'full'],
  ['CANTOPEN', 14, 'cannot-open'],
  ['AUTH', 23, 'readonly'],
  ['NOTADB', 26, 'not-a-database'],
];
const BY_NAME = new Map(CODES.map(([name, , failure]) => [name, failure]));
const BY_NUMBER = new Map(CODES.map(([, primaryCode, failure]) => [primaryCode, failure]));

function betterSqlite3(module: unknown): Open {
  const Database = module as typeof BetterSqlite3;
  return (path, options) => {
    const readonly = options.readonly ?? false;
    const db = openedBy(
      () =>
        new Database(path, {
          readonly,
          timeout: options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS,
        }),
    );
    return {
      driver: 'better-sqlite3',
      exec: (sql) => void db.exec(sql),
      prepare: (sql) => db.prepare(sql) as unknown as SqliteStatement,
      pragma: (text) => db.pragma(text) as SqliteRow[],
      transaction: (work) => inTransaction((sql) => void db.exec(sql), work),
      close: () => void db.close(),
    };
  };
}

/** What is used of `node:sqlite`, whose types come with newer Nodes only. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => {
    exec(sql: string): void;
    prepare(sql: string): SqliteStatement;
    close(): void;
  };
}

function nodeSqlite(module: unknown): Open {
  const { DatabaseSync } = module as NodeSqlite;
  return (path, options) => {
    const db = new DatabaseSync(path, { readOnly: options.readonly ?? false });
    db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS}`);
    return {
      driver: 'node:sqlite',
      exec: (sql) => db.exec(sql),
      prepare: (sql) => db.prepare(sql),
      pragma: (text) => db.prepare(`PRAGMA ${text}`).all(),
      transaction: (work) => inTransaction((sql) => db.exec(sql), work),
      close: () => db.close(),
    };
  };
}

function inTransaction<T>(exec: (sql: string) => void, work: () => T): T {
  exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    exec('COMMIT');
    return result;
  } catch (error) {
    try {
      exec('ROLLBACK');
    } catch {
      // A full disk or a failed sync has rolled back already.
    }
    throw error;
  }
}

/** better-sqlite3 refuses a missing directory with an error of its own; callers see SQLite's code for it. */
function openedBy<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw Object.assign(new Error(error.message, { cause: error }), { code: 'SQLITE_CANTOPEN' });
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
