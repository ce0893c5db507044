import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileScope } from './core/tool.ts';

/**
 * A scope whose lists hold every path as it was written and as it really is, since tools judge a path as asked and the
 * real one (SPEC X1): a rule that names a symlink would else miss what it leads to. The workspace is the real one.
 */
export function realScope(scope: FileScope): FileScope {
  return {
    workspaceDir: realAsFar(scope.workspaceDir),
    workspaceOnly: scope.workspaceOnly,
    roots: bothWays(scope.roots),
    readRoots: bothWays(scope.readRoots),
    writeRoots: bothWays(scope.writeRoots),
    forbidden: bothWays(scope.forbidden),
    protected: bothWays(scope.protected),
  };
}

function bothWays(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => [path, realAsFar(path)]))];
}

/** Without symlinks; of what does not exist, its nearest existing ancestor. */
export function realAsFar(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realAsFar(parent), basename(path));
  }
}
