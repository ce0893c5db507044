import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage, openSqlite, type SqliteDatabase, sqliteFailure } from './sqlite.ts';
import type { StateLayout } from './state-dir.ts';

/** Whether a host owns a state directory, as far as one can tell who only looks. */
export type LockStanding = 'free' | 'held' | 'unknown';

/** Milliseconds; an owner keeps its lock for good, so there is nothing to wait for. */
const LOOK_TIMEOUT_MS = 20;

/** Asks SQLite for a share of the lock, which an owner lets nobody have. Takes nothing and makes nothing. */
export function lookAtLock({ path }: StateLayout): LockStanding {
  const file = join(path, 'lock.db');
  if (!existsSync(file)) return 'free';
  let db: SqliteDatabase | null = null;
  try {
    db = openSqlite(file, { readonly: true, busyTimeoutMs: LOOK_TIMEOUT_MS });
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    return 'free';
  } catch (error) {
    if (sqliteFailure(error) === 'busy') return 'held';
    return isDamage(error) ? 'free' : 'unknown';
  } finally {
    db?.close();
  }
}

/** A file that keeps the whole of a result which the journal holds a part of (SPEC R12). */
export interface ResultFile {
  readonly runId: string;
  /** `<folder>/<name>` below the results directory. */
  readonly name: string;
}

/** Every result that is kept; none where nothing can be read. */
export function listResults({ resultsDir }: StateLayout): readonly ResultFile[] {
  return namesIn(resultsDir).flatMap((folder) =>
    namesIn(join(resultsDir, folder)).map((name) => ({
      runId: folder.replaceAll('~', '/'),
      name: `${folder}/${name}`,
    })),
  );
}

/** The name of a result file, from the path that an event gives: the directory may have been moved since. */
export function resultName(fullPath: string): string {
  return fullPath.split(/[\\/]/).slice(-2).join('/');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
