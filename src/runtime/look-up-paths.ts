import { resolve } from 'node:path';
import type { LookedUpPath } from './core/narrow-files.ts';
import type { AskedNarrowing, AskedPolicy } from './core/spawn-call.ts';
import { realAsFar } from './real-scope.ts';

/** The same narrowing with every path as it leads from the workspace, symlinks followed (SPEC S4). */
export function lookUpPaths(
  workspaceDir: string,
  { policy, aliases }: AskedNarrowing,
): AskedNarrowing<LookedUpPath> {
  const {
    allowed_roots,
    allowed_roots_read_only,
    allowed_roots_write_only,
    forbidden_paths,
    ...rest
  } = policy;
  const look = (paths: readonly string[] | undefined) =>
    paths?.map((written): LookedUpPath => {
      const path = resolve(workspaceDir, written);
      return { written, path, real: realAsFar(path) };
    });
  const paths = {
    allowed_roots: look(allowed_roots),
    allowed_roots_read_only: look(allowed_roots_read_only),
    allowed_roots_write_only: look(allowed_roots_write_only),
    forbidden_paths: look(forbidden_paths),
  };
  const given = Object.entries(paths).filter(([, looked]) => looked !== undefined);
  const looked: AskedPolicy<LookedUpPath> = { ...rest, ...Object.fromEntries(given) };
  return { policy: looked, aliases };
}
