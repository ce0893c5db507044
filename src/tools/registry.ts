import type { ToolDefinition } from '../runtime/core/tool.ts';
import { actorTools } from './actor-tools.ts';
import { computeTools } from './compute-tools.ts';
import type { AnyTool } from './invoke-tool.ts';

export const hostTools: ReadonlyMap<string, AnyTool> = new Map();

export const BUILTIN_TOOLS: readonly ToolDefinition[] = [
  ...actorTools.values(),
  ...computeTools.values(),
];
