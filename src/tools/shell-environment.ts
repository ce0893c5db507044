import type { ToolScope } from '../runtime/core/tool.ts';
import { isWithin } from './core/path-scope.ts';
import { MARK_VARIABLE } from './process-group.ts';
import { workspaceOf } from './resolve-path.ts';

const PATH_DEFAULT = '/usr/local/bin:/usr/bin:/bin';

/**
 * The whole environment of a command (SPEC X1): PATH, HOME (the workspace), LANG, TERM, the call's mark, and what
 * `shell_env_passthrough` names. PATH is the host's without relative entries and those that a tool may write to, so
 * that no file of the workspace can pass for an allowed program.
 */
export function shellEnvironment(
  scope: ToolScope,
  host: Readonly<Record<string, string | undefined>>,
  mark: string,
): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: safePath(scope, host['PATH'] ?? ''),
    HOME: workspaceOf(scope),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  };
  for (const name of scope.commands.envPassthrough) {
    const value = host[name];
    if (value !== undefined) environment[name] = value;
  }
  environment[MARK_VARIABLE] = mark;
  return environment;
}

function safePath(scope: ToolScope, path: string): string {
  const writable = scope.files.flatMap(({ workspaceDir, roots, writeRoots }) => [
    workspaceDir,
    ...roots,
    ...writeRoots,
  ]);
  const entries = path
    .split(':')
    .filter((entry) => entry.startsWith('/') && !writable.some((dir) => isWithin(entry, dir)));
  return entries.length === 0 ? PATH_DEFAULT : entries.join(':');
}
