import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
import type { Shells } from '../../src/tools/shell.ts';
import type { ContextOptions, Scratch } from './tool-scratch.ts';

export const ALLOWED = [
  ...[
    'echo',
    'cat',
    'ls',
    'sh',
    'sleep',
    'head',
    'seq',
    'env',
    'pwd',
    'exit',
    'kill',
    'node',
    'setsid',
    'touch',
  ],
  ...['python3', 'true', 'false', 'yes', 'printf', 'rm', 'cp', 'grep'],
];

export interface ShellOptions extends ContextOptions {
  readonly timeoutSecs?: number;
}

/** Runs a command line as a run's tool call would. */
export function runShell(
  shells: Shells,
  box: Scratch,
  command: string,
  { timeoutSecs, ...more }: ShellOptions = {},
): Promise<ToolOutcome> {
  const args = timeoutSecs === undefined ? { command } : { command, timeout_secs: timeoutSecs };
  const commands = { allowed: ALLOWED, blockHighRisk: false, ...more.commands };
  return invokeTool(shells.tool, args, box.context({ ...more, commands }));
}
