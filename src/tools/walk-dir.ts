import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileScope } from '../runtime/core/tool.ts';
import { type Failure, type Step, step } from './core/failure.ts';
import { judgeAll } from './core/path-scope.ts';
import { openRealDir } from './open-real.ts';
import { fileFailure } from './resolve-path.ts';

export interface WalkEntry {
  /** Relative to the start, `/` between components. */
  readonly path: string;
  /** Absolute, without symlinks but for the last component of a `link`. */
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
}

export interface WalkOptions {
  readonly scopes: readonly FileScope[];
  readonly signal: AbortSignal;
  /** Levels below the start, from 1. */
  readonly depthMax: number;
  /** Directories with these names are listed but not entered. */
  readonly skip: ReadonlySet<string>;
}

/** What a walk left out, counted as it goes. */
export interface WalkLeftOut {
  forbidden: number;
  unreadable: number;
  skipped: number;
  /** It gave up after this many entries. */
  stoppedAt: number | null;
}

/** Entries that one walk looks at before it gives up. */
export const WALK_ENTRIES_MAX = 200_000;
/** Deepest level any walk goes to. */
export const WALK_DEPTH_MAX = 64;

export function nothingLeftOut(): WalkLeftOut {
  return { forbidden: 0, unreadable: 0, skipped: 0, stoppedAt: null };
}

/** Directories that searches do not enter unless they are asked for by name. */
export const SKIPPED_DIRS: readonly string[] = ['.git', 'node_modules'];

/** The sentences that go below a result, one for each kind of thing that is not in it. */
export function leftOutWords(leftOut: WalkLeftOut): readonly string[] {
  const words: string[] = [];
  if (leftOut.stoppedAt !== null) words.push(`stopped after ${leftOut.stoppedAt} entries`);
  if (leftOut.skipped > 0)
    words.push(`${leftOut.skipped} not entered (${SKIPPED_DIRS.join(', ')})`);
  if (leftOut.forbidden > 0) words.push(`${leftOut.forbidden} out of scope`);
  if (leftOut.unreadable > 0) words.push(`${leftOut.unreadable} unreadable`);
  return words;
}

/**
 * Every entry below a directory, parents first, each directory's names in code-unit order: the same order every time.
 * Symlinks are reported, never followed. Entries that the scopes do not let be read are left out and counted. Throws
 * the signal's reason; a start that cannot be opened is the returned failure.
 */
export async function* walkDir(
  real: string,
  asked: string,
  options: WalkOptions,
  leftOut: WalkLeftOut,
): AsyncGenerator<WalkEntry, Failure | null> {
  const first = await namesIn(real, asked);
  if (!first.ok) return first;
  const levels: Level[] = [{ prefix: '', real, names: first.value, next: 0 }];
  let seen = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const dirent = level.names[level.next];
    level.next += 1;
    if (dirent === undefined) {
      levels.pop();
      continue;
    }
    options.signal.throwIfAborted();
    seen += 1;
    if (seen > WALK_ENTRIES_MAX) {
      leftOut.stoppedAt = WALK_ENTRIES_MAX;
      return null;
    }
    const entry = entryOf(level, dirent);
    if (!judgeAll(options.scopes, entry.real, 'read').ok) {
      leftOut.forbidden += 1;
      continue;
    }
    yield entry;
    const deeper = await enter(entry, dirent.name, levels.length, options, leftOut);
    if (deeper !== null) levels.push(deeper);
  }
  return null;
}

interface Level {
  readonly prefix: string;
  readonly real: string;
  readonly names: readonly Dirent[];
  next: number;
}

async function enter(
  entry: WalkEntry,
  name: string,
  depth: number,
  options: WalkOptions,
  leftOut: WalkLeftOut,
): Promise<Level | null> {
  if (entry.kind !== 'directory' || depth >= Math.min(options.depthMax, WALK_DEPTH_MAX))
    return null;
  if (options.skip.has(name)) {
    leftOut.skipped += 1;
    return null;
  }
  const names = await namesIn(entry.real, entry.path);
  if (names.ok) return { prefix: `${entry.path}/`, real: entry.real, names: names.value, next: 0 };
  leftOut.unreadable += 1;
  return null;
}

async function namesIn(real: string, asked: string): Promise<Step<readonly Dirent[]>> {
  const dir = await openRealDir(real, asked);
  if (!dir.ok) return dir;
  try {
    const names = await readdir(dir.value.base, { withFileTypes: true });
    return step(names.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)));
  } catch (thrown) {
    return fileFailure(thrown, asked);
  } finally {
    await dir.value.handle.close();
  }
}

function entryOf(level: Level, dirent: Dirent): WalkEntry {
  const kind = dirent.isDirectory()
    ? 'directory'
    : dirent.isFile()
      ? 'file'
      : dirent.isSymbolicLink()
        ? 'link'
        : 'other';
  return { path: level.prefix + dirent.name, real: join(level.real, dirent.name), kind };
}
