import type { AgentConfig, ResolvedConfig } from '../../src/runtime/core/config.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';

export const SCRIPTED = { models: { scripted: { s: { file: 's.json' } } } };

/** A configuration of these agents, each with a scripted model, and these other blocks. */
export function configOf(
  agents: Readonly<Record<string, object>>,
  blocks: object = {},
): ResolvedConfig {
  const entries = Object.entries(agents).map(([id, fields]) => [
    id,
    { model_provider: 'scripted.s', ...fields },
  ]);
  return loadConfig({ agents: Object.fromEntries(entries), providers: SCRIPTED, ...blocks });
}

export function agentOf(config: ResolvedConfig, id: string): AgentConfig {
  const agent = config.agents.get(id);
  if (agent === undefined) throw new Error(`no agent ${id}`);
  return agent;
}
