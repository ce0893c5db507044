import type { ToolScope } from './tool.ts';

/** Where the whole texts of a run are that its history may not hold (SPEC R12). */
export function resultsFolderOf(resultsDir: string, runId: string): string {
  return `${resultsDir}/${runId.replaceAll('/', '~')}`;
}

/** A run may read its own kept results, though they lie outside its workspace, and those of no other run. */
export function withOwnResults(scope: ToolScope, folder: string): ToolScope {
  const files = scope.files.map((each) => ({ ...each, readRoots: [...each.readRoots, folder] }));
  return { ...scope, files };
}
