import { lstat } from 'node:fs/promises';
import type { ToolScope } from '../runtime/core/tool.ts';
import { judgeCommand } from './core/command-line.ts';
import { type Failure, failed } from './core/failure.ts';
import type { ShellRedirect } from './core/shell-lexer.ts';
import { ForbiddenNames, hardLinkFault } from './hard-links.ts';
import { kindOf } from './open-real.ts';
import { resolveInScope, walkedPath, workspaceOf } from './resolve-path.ts';
import { argumentFault } from './shell-arguments.ts';

const STANDARD_FILES = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin']);

/**
 * Why a command line is not run, or `null`: its programs (SPEC X1), the files its redirects open, and arguments that may
 * name a forbidden path, a file of the kernel or, in a command that may write, one of troupe's own. Redirects are judged
 * before the shell opens them: what swaps a directory in between is not seen. The arguments are a fence, not the wall;
 * that is `allowed_commands`.
 */
export async function shellLineFault(
  scope: ToolScope,
  line: string,
  environment: Readonly<Record<string, string>>,
): Promise<Failure | null> {
  const verdict = judgeCommand(scope.commands, line);
  if (!verdict.ok) return failed('command_refused', verdict.words);
  for (const redirect of verdict.redirects) {
    const fault = await redirectFault(scope, redirect);
    if (fault !== null) {
      return { ...fault, error: `The command was not run: its redirect: ${fault.error}` };
    }
  }
  return argumentFault(scope, verdict, environment);
}

async function redirectFault(
  scope: ToolScope,
  { mode, target }: ShellRedirect,
): Promise<Failure | null> {
  if (STANDARD_FILES.has(target)) return null;
  const dir = workspaceOf(scope);
  const written = await resolveInScope(scope.files, dir, target, mode);
  if (!written.ok) return written;
  // The shell walks where the tools of troupe take `..` by the text.
  const walked = await walkedPath(dir, target);
  const path = await resolveInScope(scope.files, dir, walked, mode);
  if (!path.ok) return path;
  const stats = await lstat(path.value.real).catch(() => null);
  if (stats === null) return null;
  // The shell would wait at a named pipe for whoever opens its other end.
  if (!stats.isFile()) {
    return failed('not_a_file', `${JSON.stringify(target)} is ${kindOf(stats)}`);
  }
  if (mode === 'write') return hardLinkFault(stats, target);
  return new ForbiddenNames(scope.files).fault(stats, target);
}
