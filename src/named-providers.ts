import type { ResolvedConfig } from './runtime/core/config.ts';

/** The provider entries that agents name: those that will be asked. */
export function namedProviders(config: ResolvedConfig): readonly string[] {
  const agents = [...config.agents.values()].filter((agent) => agent.enabled);
  return [...new Set(agents.map((agent) => agent.modelProvider))];
}
