/** Runs as they would be launched, without launching them. */

import type { ResolvedConfig } from '../../src/runtime/core/config.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import type { FileScope, ToolDefinition, ToolEffect } from '../../src/runtime/core/tool.ts';
import { freezeSecurity, type RunRequest, resolveRun } from '../../src/runtime/resolve-run.ts';
import { agentOf } from './agent-config.ts';

export const TOOLS: ReadonlyMap<string, ToolDefinition> = new Map(
  Object.entries<ToolEffect>({
    look: 'read',
    search: 'read',
    mend: 'idempotent',
    write: 'effectful',
    shell: 'effectful',
    model_switch: 'effectful',
  }).map(([name, effect]) => [
    name,
    { name, description: '', parameters: {}, effect, place: 'actor', timeoutMs: 1000 },
  ]),
);

export const OPEN_FILES: FileScope = {
  workspaceDir: '/',
  workspaceOnly: false,
  roots: [],
  readRoots: [],
  writeRoots: [],
  forbidden: [],
  protected: [],
};

/** A root run of this agent, or with `parent` a child of that. */
export function launch(
  config: ResolvedConfig,
  agentId: string,
  change: Partial<RunRequest> = {},
): RunSpec {
  const parent = change.parent ?? null;
  return resolveRun(config, TOOLS, {
    agent: agentOf(config, agentId),
    raw: false,
    origin: parent === null ? 'user' : 'delegate',
    prompt: 'go',
    rootRunId: 'run_r',
    parent,
    project: null,
    security: parent?.security ?? freezeSecurity('me', null, OPEN_FILES),
    sessionKey: 's',
    startedAtMs: 0,
    maxTurns: null,
    reviewOf: [],
    workspaceDir: parent?.scope.files[0]?.workspaceDir ?? config.baseDir,
    protectedPaths: [],
    cron: null,
    ...change,
  });
}
