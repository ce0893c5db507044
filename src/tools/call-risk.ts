import type { JsonObject } from '../base/json.ts';
import type { CallRisk } from '../runtime/core/agent-protocol.ts';
import type { ToolScope } from '../runtime/core/tool.ts';
import { judgeCommand } from './core/command-line.ts';
import { SHELL_DEFINITION } from './shell-definition.ts';

/**
 * How much harm a call could do, of a tool that can tell. `null`: it cannot, or the call will be refused when it is made,
 * so that nobody need be asked about it.
 */
export function riskOfCall(
  tool: string,
  args: JsonObject,
  { commands }: ToolScope,
): CallRisk | null {
  const { command } = args;
  if (tool !== SHELL_DEFINITION.name || typeof command !== 'string') return null;
  const verdict = judgeCommand(commands, command);
  return verdict.ok ? verdict.risk.risk : null;
}
