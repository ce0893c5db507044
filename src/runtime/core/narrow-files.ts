import type { Rights } from './narrowing.ts';
import type { AskedPolicy } from './spawn-call.ts';
import type { FileScope } from './tool.ts';

/** A path as a model wrote it, and where it leads: absolute, once as written and once without symlinks. */
export interface LookedUpPath {
  readonly written: string;
  readonly path: string;
  readonly real: string;
}

type AskedPaths = AskedPolicy<LookedUpPath>;

interface RootKind {
  readonly field: 'allowed_roots' | 'allowed_roots_read_only' | 'allowed_roots_write_only';
  readonly read: boolean;
  readonly write: boolean;
  readonly within: string;
}

const ROOT_KINDS: readonly RootKind[] = [
  {
    field: 'allowed_roots',
    read: true,
    write: true,
    within: "any of the parent's allowed_roots entries",
  },
  {
    field: 'allowed_roots_read_only',
    read: true,
    write: false,
    within: "the parent's allowed_roots or allowed_roots_read_only",
  },
  {
    field: 'allowed_roots_write_only',
    read: false,
    write: true,
    within: "the parent's allowed_roots or allowed_roots_write_only",
  },
];

/** SPEC S4: each root within the parent's. @returns what is wrong in words, `null` where nothing is. */
export function rootsExcess({ scope: held }: Rights, asked: AskedPaths): string | null {
  for (const kind of ROOT_KINDS) {
    const { field, within } = kind;
    const out = asked[field]?.find(({ real }) =>
      held.files.some((scope) => !holds(scope, real, kind)),
    );
    if (out !== undefined) {
      return `subagent ${field} entry "${out.written}" is not contained within ${within}`;
    }
  }
  return null;
}

/** Does the scope let a tool into this directory? As `judgePath`: forbidden, then the deepest root that holds it. */
function holds(scope: FileScope, path: string, need: RootKind): boolean {
  if (deepest(scope.forbidden, path) >= 0) return false;
  const both = deepest([scope.workspaceDir, ...scope.roots], path);
  const readOnly = deepest(scope.readRoots, path);
  const writeOnly = deepest(scope.writeRoots, path);
  const depth = Math.max(both, readOnly, writeOnly);
  if (depth < 0) return !scope.workspaceOnly;
  return (!need.read || writeOnly < depth) && (!need.write || readOnly < depth);
}

/** Length of the longest of these directories that holds the path; -1 where none does. */
function deepest(dirs: readonly string[], path: string): number {
  return Math.max(-1, ...dirs.filter((dir) => isIn(path, dir)).map((dir) => dir.length));
}

function isIn(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir.endsWith('/') ? dir : `${dir}/`);
}

/** SPEC S4: what the parent may not touch, the sub-agent may not either. */
export function forbiddenExcess({ scope }: Rights, asked: AskedPaths): string | null {
  if (asked.forbidden_paths === undefined) return null;
  const kept = bothWays(asked.forbidden_paths);
  const dropped = scope.files[0]?.forbidden.find((path) => deepest(kept, path) < 0);
  return dropped === undefined
    ? null
    : `subagent drops forbidden_paths entry "${dropped}" that the parent enforces`;
}

/**
 * A scope beside the parent's own, which hold too. Where nothing but forbidden paths was asked for it bounds nothing
 * else, so that whoever is delegated to below works in its own folder.
 */
export function narrowedFiles({ scope }: Rights, asked: AskedPaths): FileScope | null {
  const [own] = scope.files;
  const { forbidden_paths: forbidden, workspace_only: only } = asked;
  const bounds = ROOT_KINDS.some(({ field }) => asked[field] !== undefined) || only === true;
  if (own === undefined || (!bounds && forbidden === undefined)) return null;
  const listed = (field: RootKind['field'], inherited: readonly string[]) => {
    const paths = asked[field];
    return paths === undefined ? inherited : bothWays(paths);
  };
  const isOpen = { workspaceOnly: false, roots: [], readRoots: [], writeRoots: [] };
  return {
    ...own,
    ...(bounds
      ? {
          workspaceOnly: own.workspaceOnly || only === true,
          roots: listed('allowed_roots', own.roots),
          readRoots: listed('allowed_roots_read_only', own.readRoots),
          writeRoots: listed('allowed_roots_write_only', own.writeRoots),
        }
      : isOpen),
    forbidden: forbidden === undefined ? own.forbidden : bothWays(forbidden),
  };
}

function bothWays(paths: readonly LookedUpPath[]): readonly string[] {
  return [...new Set(paths.flatMap(({ path, real }) => [path, real]))];
}
