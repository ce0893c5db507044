import type { JsonObject } from '../base/json.ts';
import type { AgentBrief } from './core/agent-protocol.ts';
import { refused } from './core/call-arguments.ts';
import { type AgentConfig, DEFAULT_RUNTIME_PROFILE, type ResolvedConfig } from './core/config.ts';
import { agentsSpec, delegateSpec } from './core/delegate-call.ts';
import {
  type Caller,
  type DelegationTarget,
  depthRefusal,
  findTarget,
  judgeDelegation,
  type RosterEntry,
  reachableTargets,
  roster,
} from './core/gate.ts';
import { narrowedRefusal } from './core/independence.ts';
import { SUBMIT_REVIEW, submitReviewSpec } from './core/plan-review.ts';
import { planSpecTool } from './core/plan-spec.ts';
import type { CallVerdict } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import { spawnSubagentSpec } from './core/spawn-call.ts';
import type { ToolDefinition, ToolOutcome, ToolSpec } from './core/tool.ts';

/** What a run's actor begins with. */
export function briefOf(
  config: ResolvedConfig,
  tools: ReadonlyMap<string, ToolDefinition>,
  spec: RunSpec,
): AgentBrief {
  return {
    agentId: spec.agent_id,
    system: spec.system_prompt,
    model: spec.model,
    tools: spec.agentic ? offered(config, tools, spec) : [],
    scope: spec.scope,
  };
}

/** What a run's model is offered. */
function offered(
  config: ResolvedConfig,
  tools: ReadonlyMap<string, ToolDefinition>,
  spec: RunSpec,
): ToolSpec[] {
  const targets = () =>
    reachableTargets(config, callerOf(spec), spec.project).map(({ agent }) => agent.id);
  return spec.tools.flatMap((name): ToolSpec[] => {
    if (name === 'delegate') return [delegateSpec(targets())];
    if (name === 'plan') return [planSpecTool(targets())];
    if (name === SUBMIT_REVIEW) return [submitReviewSpec(spec.review_of)];
    if (name === 'agents') return [agentsSpec()];
    if (name === 'spawn_subagent') return [spawnSubagentSpec()];
    const definition = tools.get(name);
    if (definition === undefined) return [];
    const { description, parameters } = definition;
    return [{ name, description, parameters }];
  });
}

/** SPEC A1. */
export function runControlTool(config: ResolvedConfig, spec: RunSpec, name: string): ToolOutcome {
  if (name !== 'agents') {
    const error = `no supervisor carries out '${name}'`;
    return { ok: false, errorType: 'unknown_tool', error, effect: 'none' };
  }
  const entries = roster(config, callerOf(spec), spec.project, {
    depth: spec.depth,
    depthMax: spec.depth_max,
  });
  const data = { agents: entries } as unknown as JsonObject;
  return { ok: true, text: JSON.stringify(data, null, 2), data };
}

/** Whom a root run of this agent could delegate to. */
export function rosterOfRoot(config: ResolvedConfig, agent: AgentConfig): readonly RosterEntry[] {
  const { runtimeProfile, id, project } = agent;
  const profile = config.runtimeProfiles.get(runtimeProfile ?? '') ?? DEFAULT_RUNTIME_PROFILE;
  const at = { depth: 0, depthMax: profile.maxDelegationDepth };
  return judgeDelegation(config, id).allowed ? roster(config, id, project, at) : [];
}

/** SPEC G2, G3: why a run may not use this tool of delegation, `null` where it may. */
export function delegationRefusal(
  config: ResolvedConfig,
  spec: RunSpec,
  tool: string,
): Extract<CallVerdict, { kind: 'refused' }> | null {
  const judged = judgeDelegation(config, callerOf(spec));
  if (!judged.allowed) return refused('delegation_forbidden', judged.words);
  if (spec.depth >= spec.depth_max) {
    return refused('depth_limit', depthRefusal(spec.depth, spec.depth_max));
  }
  if (!spec.tools.includes(tool)) {
    return refused(
      'tool_not_allowed',
      `Tool not available to agent '${spec.agent_id}': ${tool}. Its risk profile "${spec.risk_profile}" or the agents above it exclude it.`,
    );
  }
  return null;
}

/**
 * Whom a call of this run means, and whether it may be launched: the one judge for every way to launch a run (SPEC G4, G5,
 * G8).
 */
export function findTargetOf(
  config: ResolvedConfig,
  spec: RunSpec,
  asked: string,
): DelegationTarget {
  const target = findTarget(config, callerOf(spec), spec.project, asked);
  const isNarrowed = (spec.narrowings ?? []).length > 0;
  if (!target.ok || target.mode === 'bounded' || !isNarrowed) return target;
  return { ok: false, words: narrowedRefusal(target.agent.id, spec.agent_id) };
}

/** Who asks, as the gates of delegation see it. */
export function callerOf(spec: RunSpec): Caller {
  if (!spec.raw) return spec.agent_id;
  return spec.inline === null ? { raw: true } : { raw: true, definition: spec.inline };
}
