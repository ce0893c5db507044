/**
 * Opens what was judged, and nothing else. Owns every descriptor it hands out until `close`.
 *
 * 1. A path comes from `resolveInScope` and has no symlink in it. The last component is opened with O_NOFOLLOW; where
 *    any other has been swapped since, the descriptor's own path differs from the judged one and the call fails.
 * 2. Where the kernel names descriptors (`/proc/self/fd`), all further steps in a directory go through its descriptor,
 *    so that a directory swapped afterwards changes nothing. Elsewhere they go by path, a moment apart.
 * 3. O_NONBLOCK: a fifo without a writer must not hold the call. Only regular files and directories pass.
 * 4. What is known of a file is asked of its descriptor, also whether it has another name that is forbidden.
 * 5. That is asked before, too: closing a descriptor of the lock of the state directory would drop the host's lock.
 */
import { existsSync, constants as O, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Failure, failed, type Step, step } from './core/failure.ts';
import type { ForbiddenNames } from './hard-links.ts';
import { codeOf, fileFailure, type ScopedPath } from './resolve-path.ts';

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

export interface OpenedDir {
  readonly handle: FileHandle;
  /** Prefix for the names in it; the same directory for as long as `handle` is open (2). */
  readonly base: string;
}

const FD_DIR = '/proc/self/fd';
let namesDescriptors: boolean | null = null;

/** `names` refuses a file with a forbidden name; `null` where nothing is forbidden. The caller closes the handle. */
export async function openRealFile(
  real: string,
  asked: string,
  names: ForbiddenNames | null,
): Promise<Step<OpenedFile>> {
  let handle: FileHandle;
  try {
    const before = names === null ? null : await names.fault(await lstat(real), asked); // 5
    if (before !== null) return before;
    handle = await open(real, O.O_RDONLY | O.O_NOFOLLOW | O.O_NONBLOCK); // 1, 3
  } catch (thrown) {
    return codeOf(thrown) === 'ELOOP' ? moved(asked) : fileFailure(thrown, asked);
  }
  const checked = await check(handle, real, asked, async (stats) =>
    stats.isFile()
      ? ((await names?.fault(stats, asked)) ?? null) // 4
      : failed('not_a_file', `${JSON.stringify(asked)} is ${kindOf(stats)}`),
  );
  return checked.ok ? step({ handle, stats: checked.value }) : checked;
}

/** The caller closes the handle. */
export async function openRealDir(real: string, asked: string): Promise<Step<OpenedDir>> {
  let handle: FileHandle;
  try {
    handle = await open(real, O.O_RDONLY | O.O_DIRECTORY | O.O_NOFOLLOW | O.O_NONBLOCK); // 1
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOTDIR') {
      return codeOf(thrown) === 'ELOOP' ? moved(asked) : fileFailure(thrown, asked);
    }
    return failed('not_a_directory', `${JSON.stringify(asked)} is not a directory`);
  }
  const checked = await check(handle, real, asked, async () => null);
  return checked.ok ? step({ handle, base: baseOf(handle, real) }) : checked;
}

/**
 * The directory a file is to be written into, made where it is missing. `mayMake` judges each directory that would be
 * made. The caller closes the handle.
 */
export async function openParentDir(
  target: ScopedPath,
  asked: string,
  mayMake: (dir: string) => Failure | null,
): Promise<Step<OpenedDir>> {
  const missing: string[] = [];
  let dir = dirname(target.real);
  while (!(await isThere(dir))) {
    const refused = mayMake(dir);
    if (refused !== null) return refused;
    missing.unshift(dir);
    dir = dirname(dir);
  }
  let opened = await openRealDir(dir, asked);
  for (const next of missing) {
    if (!opened.ok) return opened;
    opened = await makeDir(opened.value, next, asked);
  }
  return opened;
}

async function makeDir(parent: OpenedDir, dir: string, asked: string): Promise<Step<OpenedDir>> {
  try {
    await mkdir(join(parent.base, dir.slice(dir.lastIndexOf('/') + 1))); // 2
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') return fileFailure(thrown, asked);
  } finally {
    await parent.handle.close();
  }
  return openRealDir(dir, asked);
}

/** Closes the handle where it is not what was judged. */
async function check(
  handle: FileHandle,
  real: string,
  asked: string,
  fileFault: (stats: Stats) => Promise<Failure | null>,
): Promise<Step<Stats>> {
  let failure: Failure | null;
  try {
    const stats = await handle.stat();
    failure = await fileFault(stats);
    if (failure === null && !(await isAt(handle, stats, real))) failure = moved(asked);
    if (failure === null) return step(stats);
  } catch (thrown) {
    failure = fileFailure(thrown, asked);
  }
  await handle.close();
  return failure;
}

/** Is the open file still the one at the path without symlinks that was judged (1)? */
async function isAt(handle: FileHandle, stats: Stats, real: string): Promise<boolean> {
  if (canNameDescriptors()) return (await readlink(`${FD_DIR}/${handle.fd}`)) === real;
  const [path, there] = await Promise.all([realpath(real), lstat(real)]);
  return path === real && there.dev === stats.dev && there.ino === stats.ino;
}

function baseOf(handle: FileHandle, real: string): string {
  return canNameDescriptors() ? `${FD_DIR}/${handle.fd}` : real;
}

function canNameDescriptors(): boolean {
  namesDescriptors ??= existsSync(FD_DIR) && process.platform === 'linux';
  return namesDescriptors;
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a named pipe, not a regular file';
  if (stats.isSocket()) return 'a socket, not a regular file';
  if (stats.isSymbolicLink()) return 'a symlink';
  return stats.isFile() ? 'a file' : 'a device, not a regular file';
}

function moved(asked: string): Failure {
  return failed('path_changed', `${JSON.stringify(asked)} was replaced while it was being opened`);
}
