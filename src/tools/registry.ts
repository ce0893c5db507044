import type { Tool, ToolDefinition } from '../runtime/core/tool.ts';
import { actorTools } from './actor-tools.ts';
import { CODE_STATS_DEFINITION, FIND_DUPLICATES_DEFINITION } from './compute-definitions.ts';
import type { AnyTool } from './invoke-tool.ts';
import { MEMORY_DEFINITIONS } from './memory-tools.ts';
import type { Shells } from './shell.ts';
import { SHELL_DEFINITION } from './shell-definition.ts';

/** What the host knows of every built-in tool: name, schema, effect, place. Code runs where `place` says. */
export const BUILTIN_TOOLS: readonly ToolDefinition[] = [
  ...[...actorTools.values()].map(definitionOf),
  CODE_STATS_DEFINITION,
  FIND_DUPLICATES_DEFINITION,
  SHELL_DEFINITION,
  ...MEMORY_DEFINITIONS,
];

/** The built-in tools that run on the host's thread, by name. */
export function hostTools(
  shells: Shells,
  memory: readonly AnyTool[],
): ReadonlyMap<string, AnyTool> {
  return new Map([shells.tool, ...memory].map((tool) => [tool.name, tool]));
}

/** A tool without its code: plain data that crosses a thread. */
export function definitionOf(tool: Tool<never, AbortSignal>): ToolDefinition {
  const { name, description, parameters, effect, place, timeoutMs, module } = tool;
  const definition = { name, description, parameters, effect, place, timeoutMs };
  return module === undefined ? definition : { ...definition, module };
}
