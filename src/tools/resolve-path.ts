import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { FileScope, ToolScope } from '../runtime/core/tool.ts';
import { type Failure, failed, type Step, step } from './core/failure.ts';
import { judgeAll, PATH_CHARS_MAX, type PathMode, type PathRefusal } from './core/path-scope.ts';

/** A path that both as asked and in reality lies where the scopes let a tool go. */
export interface ScopedPath {
  /** Absolute, `.` and `..` resolved, symlinks as they were asked for. */
  readonly path: string;
  /** Without symlinks. What a tool opens is this one, never `path`. */
  readonly real: string;
  readonly exists: boolean;
}

/** Symlinks that are followed from one path, as many as Linux follows. */
const LINKS_MAX = 40;

const ERROR_TYPES: Record<PathRefusal, string> = {
  outside: 'outside_scope',
  forbidden: 'forbidden_path',
  protected: 'protected_path',
  'read-only': 'read_only_path',
  'write-only': 'write_only_path',
};

/**
 * Where a path that a model asked for leads, or the failure that says why it may not go there (SPEC X1). Relative
 * paths start in `workspaceDir`. The path as asked is judged first, so that a refused name is not even looked up; then
 * the real one, with every symlink followed: also a dangling one, to where it would create its target.
 */
export async function resolveInScope(
  scopes: readonly FileScope[],
  workspaceDir: string,
  asked: string,
  mode: PathMode,
): Promise<Step<ScopedPath>> {
  const why = pathFault(asked);
  if (why !== null) return failed('invalid_path', why);
  const path = resolve(workspaceDir, asked);
  const lexical = judgeAll(scopes, path, mode);
  if (!lexical.ok) return failed(ERROR_TYPES[lexical.reason], lexical.words);
  let found: { readonly real: string; readonly exists: boolean };
  try {
    found = await follow(path, LINKS_MAX);
  } catch (thrown) {
    return fileFailure(thrown, asked);
  }
  const verdict = judgeAll(scopes, found.real, mode);
  if (verdict.ok) return step({ path, ...found });
  const shown = JSON.stringify(asked);
  return failed(ERROR_TYPES[verdict.reason], `${shown} leads through a symlink: ${verdict.words}`);
}

/** Where relative paths of a call start: the workspace of the agent's own scope. */
export function workspaceOf(scope: ToolScope): string {
  return scope.files[0]?.workspaceDir ?? '/';
}

/** Where the kernel comes to from a folder by one name: `..` behind a symlink is above what the link leads to. */
export async function stepInto(folder: string, name: string): Promise<string> {
  if (name !== '..') return join(folder, name);
  return dirname(await realPathOf(folder).catch(() => folder));
}

/** A path from `dir` without `..`, as the kernel would walk it. */
export async function walkedPath(dir: string, path: string): Promise<string> {
  let at = path.startsWith('/') ? '/' : dir;
  for (const name of path.split('/')) at = await stepInto(at, name);
  return at;
}

/** Where a path leads when every symlink is followed, also a dangling one. Throws what the file system throws. */
export async function realPathOf(path: string): Promise<string> {
  return (await follow(path, LINKS_MAX)).real;
}

/** The real path of what exists; for what does not, of its nearest existing ancestor, plus the rest. */
async function follow(path: string, links: number): Promise<{ real: string; exists: boolean }> {
  try {
    return { real: await realpath(path), exists: true };
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT' || path === dirname(path)) throw thrown;
  }
  const { real: parent } = await follow(dirname(path), links);
  const leaf = join(parent, basename(path));
  const target = await readlink(leaf).catch((thrown: unknown) => {
    if (['ENOENT', 'EINVAL'].includes(codeOf(thrown))) return null;
    throw thrown;
  });
  if (target === null) return { real: leaf, exists: await isThere(leaf) };
  if (links <= 0) throw Object.assign(new Error('too many symlinks'), { code: 'ELOOP' });
  return follow(resolve(parent, target), links - 1);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
}

function pathFault(asked: string): string | null {
  if (asked === '') return 'the path is empty; the workspace itself is "."';
  if (asked.includes('\0')) return 'the path holds a NUL character';
  if (asked.length > PATH_CHARS_MAX) {
    return `the path is ${asked.length} characters long (at most ${PATH_CHARS_MAX})`;
  }
  if (asked === '~' || asked.startsWith('~/')) {
    return `${JSON.stringify(asked)}: "~" is not expanded; paths start in the workspace`;
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(asked)) {
    return `${JSON.stringify(asked)} is a URL; give a path relative to the workspace`;
  }
  return null;
}

/** What the file system said, in words and without an absolute path that nobody asked for. */
export function fileFailure(
  thrown: unknown,
  asked: string,
  effect: Failure['effect'] = 'none',
): Failure {
  const code = codeOf(thrown);
  const [errorType, words] = FILE_ERRORS[code] ?? [
    'io_error',
    `failed (${code || String(thrown)})`,
  ];
  return failed(errorType, `${JSON.stringify(asked)} ${words}`, { effect });
}

const FILE_ERRORS: Record<string, readonly [string, string]> = {
  ENOENT: ['not_found', 'does not exist'],
  ENOTDIR: ['not_a_directory', 'goes through something that is not a directory'],
  EISDIR: ['not_a_file', 'is a directory'],
  ELOOP: ['path_loop', 'goes through too many symlinks, or round in a circle'],
  EACCES: ['permission_denied', 'is not accessible: permission denied'],
  EPERM: ['permission_denied', 'is not accessible: not permitted'],
  EROFS: ['permission_denied', 'is on a read-only file system'],
  ENAMETOOLONG: ['invalid_path', 'has a name that is too long for the file system'],
  ENOSPC: ['no_space', 'cannot be written: no space left'],
  EDQUOT: ['no_space', 'cannot be written: the disk quota is used up'],
  EMFILE: ['io_error', 'cannot be opened: too many open files'],
  ENXIO: ['not_a_file', 'is not a regular file'],
};

export function codeOf(thrown: unknown): string {
  const code: unknown = thrown instanceof Error ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}
