import type { FileScope } from '../../runtime/core/tool.ts';
import { foldedName, isGitDirName } from './path-names.ts';

export type PathMode = 'read' | 'write';

export type PathRefusal = 'outside' | 'forbidden' | 'protected' | 'read-only' | 'write-only';

export type PathVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: PathRefusal; readonly words: string };

/**
 * Where a kernel shows itself as files: environments with keys in them, memory, devices. Out of reach unless a root of
 * the scope lies in there itself (SPEC C6, X1).
 */
export const KERNEL_DIRS = ['/proc', '/sys', '/dev'] as const;

/** Longest path that is looked at, in characters: PATH_MAX of Linux. */
export const PATH_CHARS_MAX = 4096;

const ALLOWED: PathVerdict = { ok: true };

/**
 * May a tool under this scope read or write this absolute path? Judged component by component, so `/ws2` is not in
 * `/ws`. Forbidden beats everything, protected beats every root, then the deepest root that holds the path decides;
 * where roots of several kinds name the same directory, the stricter wins. What is forbidden or protected is so in any
 * case and Unicode form (`foldedName`), roots are meant exactly. Knows nothing of symlinks: the caller judges the path as
 * asked AND the real one (SPEC X1).
 */
export function judgePath(scope: FileScope, absolutePath: string, mode: PathMode): PathVerdict {
  const path = componentsOf(absolutePath);
  if (path === null) return refusal('outside', `${quoted(absolutePath)} is not an absolute path`);
  if (isInAny(path, scope.forbidden)) {
    return refusal('forbidden', `${quoted(absolutePath)} is forbidden (forbidden_paths)`);
  }
  const own = mode === 'write' ? ownRefusal(scope, path, absolutePath) : null;
  if (own !== null) return own;
  const root = deepestRoot(scope, path);
  const kernel = deepest(path, KERNEL_DIRS);
  if (kernel > 0 && (root === null || root.depth < kernel)) {
    return refusal('outside', `${quoted(absolutePath)} is in a directory of the kernel`);
  }
  if (root === null) return scope.workspaceOnly ? outside(scope, absolutePath) : ALLOWED;
  if (mode === 'write' && !root.write) {
    return refusal('read-only', `${quoted(absolutePath)} is in a root that is read-only`);
  }
  if (mode === 'read' && !root.read) {
    return refusal('write-only', `${quoted(absolutePath)} is in a root that is write-only`);
  }
  return ALLOWED;
}

/** What no root makes writable: troupe's own files, and those that decide what git runs. */
function ownRefusal(
  scope: FileScope,
  path: readonly string[],
  absolutePath: string,
): PathVerdict | null {
  if (isInAny(path, scope.protected)) {
    return refusal(
      'protected',
      `${quoted(absolutePath)} belongs to troupe itself (config, journal, state) and is never writable by a tool`,
    );
  }
  if (!path.some(isGitDirName)) return null;
  return refusal(
    'protected',
    `${quoted(absolutePath)} is in a .git directory, whose files decide what git runs; no tool may write there`,
  );
}

/** Every scope of the list must allow it; no scope at all allows nothing (SPEC R9). */
export function judgeAll(
  scopes: readonly FileScope[],
  absolutePath: string,
  mode: PathMode,
): PathVerdict {
  if (scopes.length === 0) return refusal('outside', 'this run has no file scope');
  for (const scope of scopes) {
    const verdict = judgePath(scope, absolutePath, mode);
    if (!verdict.ok) return verdict;
  }
  return ALLOWED;
}

/** Might `path` be the directory `dir` or below it, on a file system that tells fewer names apart? Both absolute. */
export function mayBeWithin(path: string, dir: string): boolean {
  const inner = componentsOf(path);
  return inner !== null && isInAny(inner, [dir]);
}

/** Is `path` the directory `dir` or below it? Both absolute; `false` where either is not. */
export function isWithin(path: string, dir: string): boolean {
  const inner = componentsOf(path);
  return inner !== null && deepest(inner, [dir]) >= 0;
}

/** The components of an absolute path with `.`, `..` and doubled slashes resolved; `null` where it is none. */
export function componentsOf(path: string): readonly string[] | null {
  if (!path.startsWith('/') || path.includes('\0') || path.length > PATH_CHARS_MAX) return null;
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') out.pop();
    else out.push(part);
  }
  return out;
}

interface Root {
  readonly depth: number;
  readonly read: boolean;
  readonly write: boolean;
}

function deepestRoot(scope: FileScope, path: readonly string[]): Root | null {
  const both = deepest(path, [scope.workspaceDir, ...scope.roots]);
  const readOnly = deepest(path, scope.readRoots);
  const writeOnly = deepest(path, scope.writeRoots);
  const depth = Math.max(both, readOnly, writeOnly);
  if (depth < 0) return null;
  return { depth, read: writeOnly < depth, write: readOnly < depth };
}

/** The number of components of the deepest of `dirs` that holds `path`; -1 where none does. */
function deepest(path: readonly string[], dirs: readonly string[]): number {
  let best = -1;
  for (const dir of dirs) {
    const outer = componentsOf(dir);
    if (outer === null || outer.length > path.length) continue;
    if (outer.length > best && outer.every((part, i) => part === path[i])) best = outer.length;
  }
  return best;
}

/** By names that may be the same on some file system. */
function isInAny(path: readonly string[], dirs: readonly string[]): boolean {
  if (dirs.length === 0) return false;
  const folded = path.map(foldedName);
  return dirs.some((dir) => {
    const outer = componentsOf(dir);
    return outer?.every((part, i) => folded[i] === foldedName(part)) === true;
  });
}

function outside(scope: FileScope, path: string): PathVerdict {
  const more = scope.roots.length + scope.readRoots.length + scope.writeRoots.length;
  const roots = more === 0 ? '' : ` and the ${more} allowed root${more === 1 ? '' : 's'}`;
  return refusal(
    'outside',
    `${quoted(path)} is outside the workspace ${quoted(scope.workspaceDir)}${roots}`,
  );
}

function refusal(reason: PathRefusal, words: string): PathVerdict {
  return { ok: false, reason, words };
}

function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
