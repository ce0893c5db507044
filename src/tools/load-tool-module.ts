import { Fault, messageOf } from '../base/fault.ts';
import type { AnyTool } from './invoke-tool.ts';

/** Where a tool's code is: a module every thread can import, and the name under which it exports the tool. */
export interface ToolModule {
  readonly url: string;
  readonly exportName: string;
}

/**
 * The tools that a module exports, by export name: every value that `defineTool` made.
 * @throws Fault `tool.invalid` if it cannot be imported or exports none.
 */
export async function toolsOfModule(url: string): Promise<ReadonlyMap<string, AnyTool>> {
  let module: Record<string, unknown>;
  try {
    module = (await import(url)) as Record<string, unknown>;
  } catch (thrown) {
    throw new Fault('tool.invalid', `tool module ${url} cannot be imported: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  const tools = new Map<string, AnyTool>();
  for (const [exportName, value] of Object.entries(module)) {
    if (isTool(value)) tools.set(exportName, value);
  }
  if (tools.size === 0) {
    throw new Fault(
      'tool.invalid',
      `tool module ${url} exports no tool; export what defineTool({ ... }) returns`,
    );
  }
  return tools;
}

/** One tool of a module; importing again is free, since a thread keeps what it has loaded. */
export async function loadToolModule({
  url,
  exportName,
}: ToolModule): Promise<AnyTool | undefined> {
  return (await toolsOfModule(url)).get(exportName);
}

function isTool(value: unknown): value is AnyTool {
  if (typeof value !== 'object' || value === null) return false;
  const { name, place, run, effect } = value as Record<string, unknown>;
  return (
    [name, place, effect].every((each) => typeof each === 'string') && typeof run === 'function'
  );
}
