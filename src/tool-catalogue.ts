import { Fault } from './base/fault.ts';
import type { ToolDefinition } from './runtime/core/tool.ts';
import type { AnyTool } from './tools/invoke-tool.ts';
import { toolsOfModule } from './tools/load-tool-module.ts';
import { BUILTIN_TOOLS, definitionOf } from './tools/registry.ts';

/** Names that belong to the runtime itself. */
const CONTROL_NAMES = ['agents', 'delegate', 'plan', 'spawn_subagent', 'submit_review'];

export interface ToolCatalogue {
  /** Every tool there is, by name, before any policy. */
  readonly definitions: ReadonlyMap<string, ToolDefinition>;
  /** The code of those that run on the host's thread. */
  readonly hostTools: ReadonlyMap<string, AnyTool>;
}

/**
 * The built-in tools, those of the modules, and the closures. `own`: the code of the built-in ones that run on this thread.
 * @throws Fault `tool.invalid` for a module that cannot be used, or a name that is taken.
 */
export async function gatherTools(
  modules: readonly (string | URL)[],
  closures: readonly AnyTool[],
  own: ReadonlyMap<string, AnyTool>,
): Promise<ToolCatalogue> {
  const definitions = new Map<string, ToolDefinition>();
  const onHost = new Map<string, AnyTool>(own);
  for (const definition of BUILTIN_TOOLS) definitions.set(definition.name, definition);
  for (const each of modules) {
    const url = String(each);
    for (const [exportName, tool] of await toolsOfModule(url)) {
      add(definitions, { ...definitionOf(tool), module: { url, exportName } }, url);
    }
  }
  for (const tool of closures) {
    add(definitions, { ...definitionOf(tool), place: 'host' }, 'hostTools');
    onHost.set(tool.name, tool);
  }
  return { definitions, hostTools: onHost };
}

function add(
  definitions: Map<string, ToolDefinition>,
  definition: ToolDefinition,
  from: string,
): void {
  const { name } = definition;
  if (definitions.has(name) || CONTROL_NAMES.includes(name)) {
    throw new Fault(
      'tool.invalid',
      `tool '${name}' of ${from}: there is a tool of that name already`,
    );
  }
  definitions.set(name, definition);
}
