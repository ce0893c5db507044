import type { ToolScope } from '../runtime/core/tool.ts';
import { isWithin } from './core/path-scope.ts';
import { MARK_VARIABLE } from './process-group.ts';
import { workspaceOf } from './resolve-path.ts';

const PATH_DEFAULT = '/usr/local/bin:/usr/bin:/bin';

/**
 * The whole environment of a command (SPEC X1): PATH, HOME (the workspace), LANG, TERM, the call's mark, and what
 * `shell_env_passthrough` names. Since HOME can be written to, git is told to take no configuration from there, nor from
 * a folder that only looks like a repository: either would make a harmless `git status` run any program. PATH is the host's without relative entries and those that a tool may write to, so
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
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.bareRepository',
    GIT_CONFIG_VALUE_0: 'explicit',
  };
  // A home of the user's own holds a configuration of the user's own.
  if (scope.commands.envPassthrough.includes('HOME')) delete environment['GIT_CONFIG_GLOBAL'];
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
