import { codeStats } from './code-stats.ts';
import { findDuplicates } from './find-duplicates.ts';
import type { AnyTool } from './invoke-tool.ts';

const TOOLS: readonly AnyTool[] = [codeStats, findDuplicates];

/** The built-in tools that a thread of the compute pool runs, by name. Imports no tool of the actor threads. */
export const computeTools: ReadonlyMap<string, AnyTool> = new Map(
  TOOLS.map((tool) => [tool.name, tool]),
);
