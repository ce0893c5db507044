import { messageOf } from '../base/fault.ts';
import type { ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { checkArguments } from './check-arguments.ts';
import { failed } from './core/failure.ts';
import { type AnyTool, invokeTool } from './invoke-tool.ts';

/** How long a tool that was told to stop may take to say how far it came, in milliseconds. */
const STOP_GRACE_MS = 50;

/** Finds a tool on this thread and runs one call of it. Never rejects. */
export async function invokeNamed(
  find: () => Promise<AnyTool | undefined>,
  name: string,
  argsText: string,
  context: ToolContext<AbortSignal>,
  timeoutMs: number,
): Promise<ToolOutcome> {
  try {
    const tool = await find();
    if (tool === undefined) return failed('unknown_tool', `no tool named '${name}' on this thread`);
    const checked = checkArguments(tool, argsText);
    if (!checked.ok) return failed(checked.errorType, checked.error);
    return await invokeTool(tool, checked.args, context, { timeoutMs, graceMs: STOP_GRACE_MS });
  } catch (thrown) {
    return failed('tool_unavailable', `${name} could not be run: ${messageOf(thrown)}`);
  }
}
