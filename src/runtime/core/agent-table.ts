import type { Json, JsonObject } from '../../base/json.ts';
import type { AgentConfig, DelegateEntry } from './config.ts';

/** Entries as people write them, with the mode spelled out (SPEC C5); names lose the blanks around them. */
export function normaliseDelegates(
  written: readonly (string | { readonly agent: string; readonly mode?: DelegateEntry['mode'] })[],
): readonly DelegateEntry[] {
  return written.map((entry) =>
    typeof entry === 'string'
      ? { agent: entry.trim(), mode: 'bounded' }
      : { agent: entry.agent.trim(), mode: entry.mode ?? 'bounded' },
  );
}

/**
 * The table `[agents.<id>]` that loads as this agent again. What was left to a default stays out, but for `delegates`,
 * which are saved as objects with an explicit mode (SPEC C5).
 */
export function serialiseAgent(agent: AgentConfig): JsonObject {
  const workspace = present({
    dir: agent.workspaceDir,
    read_memory_from: filled(agent.readMemoryFrom),
  });
  return present({
    name: agent.name === agent.id ? null : agent.name,
    purpose: agent.purpose === '' ? null : agent.purpose,
    enabled: agent.enabled ? null : false,
    project: agent.project,
    model_provider: agent.modelProvider,
    model: agent.model,
    system_prompt: agent.systemPrompt === '' ? null : agent.systemPrompt,
    risk_profile: agent.riskProfile,
    runtime_profile: agent.runtimeProfile,
    capabilities:
      agent.delegationCapability === null ? null : { delegation: agent.delegationCapability },
    delegates:
      agent.delegates.length === 0
        ? null
        : agent.delegates.map(({ agent: target, mode }) => ({ agent: target, mode })),
    delegate_same_risk_profile: agent.delegateSameRiskProfile ? null : false,
    max_turns: agent.maxTurns,
    workspace: Object.keys(workspace).length === 0 ? null : workspace,
    skills: filled(agent.skills),
    mcp_servers: filled(agent.mcpServers),
    tools: agent.tools === null ? null : [...agent.tools],
  });
}

function filled(names: readonly string[]): readonly string[] | null {
  return names.length === 0 ? null : [...names];
}

function present(fields: JsonObject): JsonObject {
  const kept: [string, Json][] = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(kept);
}
