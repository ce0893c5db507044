import { resolve } from 'node:path';
import type { ToolScope } from '../runtime/core/tool.ts';
import { judgeCommand } from './core/command-line.ts';
import { type Failure, failed } from './core/failure.ts';
import { isWithin, PATH_CHARS_MAX } from './core/path-scope.ts';
import type { ShellRedirect } from './core/shell-lexer.ts';
import { realPathOf, resolveInScope, workspaceOf } from './resolve-path.ts';

/** Arguments that are looked up on disk; further ones are judged as they are written. */
const LOOKUPS_MAX = 500;

const STANDARD_FILES = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin']);

/**
 * Why a command line is not run, or `null`: its programs (SPEC X1), the files its redirects open, and arguments that
 * plainly name a forbidden path or, in a command that may write, one of troupe's own. Redirects are judged before the
 * shell opens them: what swaps a directory in between is not seen. The arguments are a fence, not the wall; that is
 * `allowed_commands`.
 */
export async function shellLineFault(scope: ToolScope, line: string): Promise<Failure | null> {
  const verdict = judgeCommand(scope.commands, line);
  if (!verdict.ok) return failed('command_refused', verdict.words);
  for (const redirect of verdict.redirects) {
    const fault = await redirectFault(scope, redirect);
    if (fault !== null) return fault;
  }
  return argumentFault(scope, verdict.commands, verdict.risk.risk !== 'low');
}

async function redirectFault(
  scope: ToolScope,
  { mode, target }: ShellRedirect,
): Promise<Failure | null> {
  if (STANDARD_FILES.has(target)) return null;
  const path = await resolveInScope(scope.files, workspaceOf(scope), target, mode);
  if (path.ok) return null;
  return { ...path, error: `The command was not run: its redirect: ${path.error}` };
}

async function argumentFault(
  scope: ToolScope,
  commands: readonly (readonly string[])[],
  mayWrite: boolean,
): Promise<Failure | null> {
  const forbidden = scope.files.flatMap((files) => files.forbidden);
  const own = mayWrite ? scope.files.flatMap((files) => files.protected) : [];
  if (forbidden.length + own.length === 0) return null;
  const words = commands.flatMap((command) => command.slice(1)).flatMap(pathsIn);
  for (const [i, word] of words.entries()) {
    const path = resolve(workspaceOf(scope), word);
    const real = i < LOOKUPS_MAX ? await realPathOf(path).catch(() => path) : path;
    const isIn = (dir: string): boolean => isWithin(path, dir) || isWithin(real, dir);
    if (forbidden.some(isIn))
      return refusal('forbidden_path', word, 'is forbidden (forbidden_paths)');
    if (own.some(isIn)) return refusal('protected_path', word, 'belongs to troupe itself');
  }
  return null;
}

/** What in an argument may be a path: all of it, what follows `=`, what follows an option's letter. */
function pathsIn(word: string): readonly string[] {
  if (word.length > PATH_CHARS_MAX || word.includes('\0')) return [];
  const found = word.startsWith('-') ? [] : [word];
  const equals = word.indexOf('=');
  if (equals >= 0) found.push(word.slice(equals + 1));
  const slash = word.indexOf('/');
  if (word.startsWith('-') && slash > 0) found.push(word.slice(slash));
  return found;
}

function refusal(errorType: string, word: string, why: string): Failure {
  return failed(errorType, `The command was not run: ${JSON.stringify(word)} ${why}`);
}
