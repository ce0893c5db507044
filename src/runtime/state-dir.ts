import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Fault, messageOf } from '../base/fault.ts';
import { openSqlite, type SqliteDatabase, sqliteFailure } from './sqlite.ts';

/*
 * Owns the state directory: its layout, who may look into it, and the lock that makes one host its owner (SPEC J6).
 *
 * O1. The lock is the operating system's, taken by SQLite on `lock.db`; it goes with its process, however that ends.
 * O2. Nothing but SQLite opens `lock.db`: closing any other descriptor of it in this process would drop the lock.
 * O3. `host.json` only says who the owner is; whether there is one, the lock alone decides.
 */

/** Where things are in a state directory. */
export interface StateLayout {
  /** Absolute, without symlinks. */
  readonly path: string;
  readonly journalFile: string;
  readonly memoryFile: string;
  readonly lockFile: string;
  /** Where the host listens (SPEC K2); short enough for a Unix socket, so not always inside `path`. */
  readonly socketFile: string;
  readonly resultsDir: string;
  readonly hostFile: string;
}

export interface StateDir extends StateLayout {
  /** The host before this one ended without giving it up. */
  readonly wasLeft: boolean;
  /**
   * `release` gives the directory up, `abandon` leaves it as the host before left it; the second call of either does
   * nothing.
   */
  readonly lock: { release(): void; abandon(): void };
}

/** What `host.json` says about the host that owns the directory. */
export interface HostRecord {
  readonly pid: number;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly socketFile: string;
}

/** A Unix socket's path ends at 107 bytes on Linux, 103 on macOS. */
const SOCKET_PATH_BYTES_MAX = 100;

/** Two openers that meet at the same instant may each make the other wait; the one that got it holds it for good. */
const LOCK_TIMEOUT_MS = 200;

/** A lock lives as long as its connection, so no collector may take one that nobody refers to any more. */
const held = new Set<SqliteDatabase>();

/**
 * Makes the directory where it is missing (its parent must exist), mode 0700, and becomes its owner.
 * @throws Fault `state.locked` if another host owns it, in this process or another; `argument.invalid` if the path
 * cannot be a state directory; `sqlite.absent`.
 */
export function openStateDir(path: string): StateDir {
  const layout = stateLayout(makeDir(resolve(path)));
  const lock = takeLock(layout);
  const abandon = (): void => {
    if (held.delete(lock)) lock.close();
  };
  const release = (): void => {
    if (!held.has(lock)) return;
    try {
      rmSync(layout.socketFile, { force: true });
      rmSync(layout.hostFile, { force: true });
    } catch {
      // The disk takes no change any more: O3, they bind nobody.
    }
    abandon();
  };
  const wasLeft = existsSync(layout.hostFile);
  try {
    // Whoever listened there is gone, since the lock was free.
    rmSync(layout.socketFile, { force: true });
    mkdirSync(layout.resultsDir, { recursive: true, mode: 0o700 });
    writeHostRecord(layout);
  } catch (error) {
    release();
    throw unusable(layout.path, `it cannot be written (${messageOf(error)})`);
  }
  return { ...layout, wasLeft, lock: { release, abandon } };
}

/** The places of an existing state directory, for those who only look. Takes no lock and makes nothing. */
export function stateLayout(path: string): StateLayout {
  const absolute = existsSync(path) ? realpathSync(path) : resolve(path);
  return {
    path: absolute,
    journalFile: join(absolute, 'journal.db'),
    memoryFile: join(absolute, 'memory.db'),
    lockFile: join(absolute, 'lock.db'),
    socketFile: socketPath(absolute),
    resultsDir: join(absolute, 'results'),
    hostFile: join(absolute, 'host.json'),
  };
}

/** Who owned the directory last, be that host alive or not (O3); `null` = nobody left word. */
export function readHostRecord(path: string): HostRecord | null {
  try {
    const record: unknown = JSON.parse(readFileSync(stateLayout(path).hostFile, 'utf8'));
    const { pid, started_at, socket_file } = record as Record<string, unknown>;
    if (typeof pid !== 'number' || typeof started_at !== 'string') return null;
    if (typeof socket_file !== 'string') return null;
    return { pid, startedAt: started_at, socketFile: socket_file };
  } catch {
    return null;
  }
}

function makeDir(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw unmakeable(path, error);
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw unusable(path, 'it is a symlink that leads nowhere');
  if (!stats.isDirectory()) throw unusable(path, 'there is a file of that name, not a directory');
  const real = realpathSync(path);
  keepPrivate(real, stats);
  return real;
}

/** What others may read is closed to them, but only where the directory is clearly troupe's to change. */
function keepPrivate(path: string, stats: Stats): void {
  if ((stats.mode & 0o077) === 0) return;
  try {
    const names = readdirSync(path);
    if (names.length === 0 || names.includes('lock.db') || names.includes('journal.db')) {
      chmodSync(path, 0o700);
      return;
    }
  } catch (error) {
    throw unusable(path, `it is open to other users and cannot be closed (${messageOf(error)})`);
  }
  const mode = (stats.mode & 0o7777).toString(8);
  throw unusable(
    path,
    `it holds other things and is open to other users (mode ${mode}); make it private with "chmod 700 ${path}"`,
  );
}

function takeLock(layout: StateLayout): SqliteDatabase {
  let db: SqliteDatabase | null = null;
  try {
    db = openSqlite(layout.lockFile, { busyTimeoutMs: LOCK_TIMEOUT_MS });
    db.exec('BEGIN EXCLUSIVE'); // O1
  } catch (error) {
    db?.close();
    if (sqliteFailure(error) === 'busy') throw locked(layout);
    if (error instanceof Fault) throw error;
    throw unusable(layout.path, `its lock.db cannot be taken (${messageOf(error)})`);
  }
  held.add(db);
  return db;
}

function writeHostRecord({ hostFile, socketFile }: StateLayout): void {
  const record = {
    pid: process.pid,
    started_at: new Date().toISOString(),
    socket_file: socketFile,
  };
  const draft = `${hostFile}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(draft, hostFile);
}

function socketPath(path: string): string {
  const inside = join(path, 'host.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const name = `troupe-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`;
  const outside = join(tmpdir(), name);
  return Buffer.byteLength(outside) <= SOCKET_PATH_BYTES_MAX ? outside : join('/tmp', name);
}

function locked({ path }: StateLayout): Fault {
  const owner = readHostRecord(path);
  const who = owner === null ? 'another host' : `process ${owner.pid}, started ${owner.startedAt}`;
  return new Fault(
    'state.locked',
    `state directory ${path} is in use by ${who}; "troupe ps --state ${path}" still works. ` +
      'Stop that host, or choose another --state.',
    {
      retry: 'safe',
      detail: { path, pid: owner?.pid ?? null, startedAt: owner?.startedAt ?? null },
    },
  );
}

function unmakeable(path: string, error: unknown): Fault {
  const parent = dirname(path);
  if (isCode(error, 'ENOENT') && !existsSync(parent)) {
    return unusable(path, `its parent directory ${parent} does not exist; make that first`);
  }
  if (isCode(error, 'ENOTDIR')) return unusable(path, 'a part of the path is a file');
  return unusable(path, `it cannot be made (${messageOf(error)})`);
}

function unusable(path: string, why: string): Fault {
  return new Fault(
    'argument.invalid',
    `${path} cannot be the state directory: ${why}. Or choose another --state.`,
    { detail: { path } },
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** What no tool may read either: the records of every run, the memories of every agent, and the lock (O2). */
export function closedFiles({ journalFile, memoryFile, lockFile }: StateLayout): readonly string[] {
  const beside = ['', '-wal', '-shm', '-journal'];
  return [journalFile, memoryFile, lockFile].flatMap((file) => beside.map((end) => file + end));
}
