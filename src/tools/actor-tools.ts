import { contentSearchTool } from './content-search.ts';
import { editFileTool } from './edit-file.ts';
import { globSearchTool } from './glob-search.ts';
import type { AnyTool } from './invoke-tool.ts';
import { listDirTool } from './list-dir.ts';
import { readFileTool } from './read-file.ts';
import { writeFileTool } from './write-file.ts';

const TOOLS: readonly AnyTool[] = [
  readFileTool,
  writeFileTool,
  editFileTool,
  listDirTool,
  globSearchTool,
  contentSearchTool,
];

/** The built-in tools that an actor thread runs, by name. Imports no tool that computes for long. */
export const actorTools: ReadonlyMap<string, AnyTool> = new Map(
  TOOLS.map((tool) => [tool.name, tool]),
);
