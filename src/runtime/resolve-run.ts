import { createHash } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { Fault } from '../base/fault.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import {
  type AgentConfig,
  DEFAULT_MAX_TURNS,
  DEFAULT_RISK_PROFILE,
  DEFAULT_RUNTIME_PROFILE,
  type ResolvedConfig,
  type RiskProfile,
  type RuntimeProfile,
} from './core/config.ts';
import type { CronOrigin } from './core/cron.ts';
import type { MemoryIdentity } from './core/memory.ts';
import type { ProviderEntry } from './core/model.ts';
import { type Narrowing, narrowingOf, type Rights, withinNarrowings } from './core/narrowing.ts';
import type { BudgetLimits, RunOrigin, RunSpec, SecurityContext } from './core/run-spec.ts';
import type { FileScope, ToolDefinition } from './core/tool.ts';
import { toolsOfRun } from './core/tools-of-run.ts';
import { realScope } from './real-scope.ts';

/** Who is being launched, by whom and for what. */
export interface RunRequest {
  readonly agent: AgentConfig;
  /** An inline definition (SPEC G1's privileged path) instead of a configured agent. */
  readonly raw: boolean;
  readonly origin: RunOrigin;
  readonly prompt: string;
  /** The job that a root belongs to; `null` for every other run. */
  readonly cron: CronOrigin | null;
  readonly rootRunId: string;
  readonly parent: RunSpec | null;
  /** The project a root was started in; a child stays in its parent's. */
  readonly project: string | null;
  readonly security: SecurityContext;
  readonly sessionKey: string;
  readonly startedAtMs: number;
  /** The call's own budget of turns (SPEC D2); `null` = the agent's. */
  readonly maxTurns: number | null;
  /** Its target's own rights, and not below its caller's tools (SPEC G8). */
  readonly independent?: boolean;
  /** How a sub-agent is held shorter than its parent (SPEC S4). */
  readonly narrowing?: Narrowing | undefined;
  /** Tasks of its parent's plan whose work it reviews (SPEC P7); empty for every other run. */
  readonly reviewOf: readonly string[];
  /** Where a root works; for a child its caller's folder. */
  readonly workspaceDir: string;
  /** Paths that no tool may write. */
  readonly protectedPaths: readonly string[];
}

/**
 * The one function that turns an agent's definition into a run, for a run started by hand, by cron or by another run,
 * at every launch anew (SPEC G7). A parent adds no right and passes none on.
 * @throws Fault `agent.unusable` naming what the definition lacks.
 */
export function resolveRun(
  config: ResolvedConfig,
  tools: ReadonlyMap<string, ToolDefinition>,
  request: RunRequest,
): RunSpec {
  const { agent, parent } = request;
  const runtime = runtimeOf(config, agent);
  const risk = riskOf(config, agent, runtime);
  const provider = providerOf(config, agent);
  const depth = parent === null ? 0 : parent.depth + 1;
  const depthMax = Math.min(
    runtime.maxDelegationDepth,
    parent?.depth_max ?? Number.MAX_SAFE_INTEGER,
  );
  const isSubagent = request.origin === 'subagent';
  const narrowings = narrowingsOf(request);
  const rights = rightsOf(config, risk, request, narrowings);
  return {
    agent_id: agent.id,
    agent_name: agent.name,
    project: request.project ?? agent.project ?? parent?.project ?? null,
    origin: request.origin,
    raw: request.raw,
    inline: request.raw ? agent : null,
    cron: request.cron,
    root_run_id: request.rootRunId,
    depth,
    depth_max: depthMax,
    ...limitsOf(runtime, agent, request.maxTurns),
    is_subagent: isSubagent,
    independent: request.independent === true,
    narrowings,
    session_key: request.sessionKey,
    prompt: request.prompt,
    system_prompt: agent.systemPrompt,
    model: modelOf(agent, provider),
    provider_type: provider.type,
    started_at_ms: request.startedAtMs,
    delegation_timeout_ms: parent === null || isSubagent ? null : runtime.delegationTimeoutMs,
    review_of: request.reviewOf,
    tools: toolsOfRun({
      config,
      agent,
      risk,
      tools,
      raw: request.raw,
      isSubagent,
      isReviewer: request.reviewOf.length > 0,
      depth,
      depthMax,
      ceiling: request.independent === true ? null : (parent?.tools ?? null),
      autonomy: rights.autonomy,
      narrowings,
    }),
    risk_profile: agent.riskProfile ?? '',
    ...rights,
    security: request.security,
  };
}

/** What was taken away above it, and from it; an independent run stands below nobody (SPEC G8). */
function narrowingsOf({ parent, independent, narrowing }: RunRequest): readonly Narrowing[] {
  const above = independent === true ? [] : (parent?.narrowings ?? []);
  return narrowing === undefined ? above : [...above, narrowing];
}

/**
 * The agent's own policy AND the initiator's frozen one (SPEC R9), within what was taken away. A sub-agent holds what
 * its parent does, also where the configuration has meanwhile come to allow more (SPEC S4).
 */
function rightsOf(
  config: ResolvedConfig,
  risk: RiskProfile,
  request: RunRequest,
  narrowings: readonly Narrowing[],
): Rights {
  const { parent, agent, security, protectedPaths } = request;
  const limits: BudgetLimits = {
    actions_per_hour_max: risk.maxActionsPerHour,
    cost_per_day_max_cents: risk.maxCostPerDayCents,
  };
  const own: Rights = {
    autonomy: risk.autonomy,
    auto_approve: risk.autoApprove,
    always_ask: risk.alwaysAsk,
    require_tool_approval: risk.requireToolApproval,
    require_approval_for_medium_risk: risk.requireApprovalForMediumRisk,
    scope: {
      files: [
        fileScope(config, risk, workspaceOf(config, request), protectedPaths),
        security.files,
      ],
      commands: {
        allowed: risk.allowedCommands,
        envPassthrough: risk.shellEnvPassthrough,
        timeoutMs: risk.shellTimeoutMs,
        blockHighRisk: risk.blockHighRiskCommands,
      },
    },
    budget: { ...limits, ...(request.independent === true && { own: true }) },
    memory: memoryOf(agent, request),
  };
  const inherited = parent !== null && request.origin === 'subagent' ? [narrowingOf(parent)] : [];
  const left = withinNarrowings(own, [...inherited, ...narrowings]);
  const isLess = request.origin !== 'subagent' && narrowings.length > 0;
  return isLess ? { ...left, budget: { ...limits, ...left.budget, agent: limits } } : left;
}

/** SPEC X4, S1: a sub-agent writes as its parent. */
function memoryOf(agent: AgentConfig, { parent, origin }: RunRequest): MemoryIdentity {
  const own = (origin === 'subagent' ? parent?.memory?.own : undefined) ?? agent.id;
  return { own, readable: [...new Set([own, ...agent.readMemoryFrom])] };
}

/** What the runtime profile bounds, the agent's and the call's own budget of turns before it (SPEC D2). */
function limitsOf(runtime: RuntimeProfile, agent: AgentConfig, maxTurns: number | null) {
  const turns = maxTurns ?? agent.maxTurns ?? runtime.maxTurns ?? DEFAULT_MAX_TURNS;
  return {
    agentic: runtime.agentic,
    max_turns: runtime.agentic ? turns : 1,
    width_max: runtime.maxDelegationWidth,
    order: runtime.delegationOrder,
    identical: runtime.identicalDelegations,
    max_run_ms: runtime.maxRunMs,
    parallel_tools: runtime.parallelTools,
    result_chars_max: runtime.maxResultChars,
    turn_result_chars_max: runtime.maxTurnResultChars,
    approval_timeout_ms: runtime.approvalTimeoutMs,
  };
}

/** The initiator's file policy, frozen for a whole tree; its version is a hash of it (SPEC R9). */
export function freezeSecurity(
  principal: string,
  orgPosition: string | null,
  files: FileScope,
): SecurityContext {
  const frozen = realScope(files);
  const version = createHash('sha256')
    .update(canonicalJson(frozen as unknown as Json))
    .digest('hex');
  return { principal, org_position: orgPosition, policy_version: version, files: frozen };
}

function runtimeOf(config: ResolvedConfig, agent: AgentConfig): RuntimeProfile {
  if (agent.runtimeProfile === null) return DEFAULT_RUNTIME_PROFILE;
  const profile = config.runtimeProfiles.get(agent.runtimeProfile);
  if (profile !== undefined) return profile;
  throw unusable(
    `Agent '${agent.id}' names runtime_profile '${agent.runtimeProfile}', which is not configured`,
  );
}

/** SPEC G9: an agentic target must have a risk profile that exists. */
function riskOf(config: ResolvedConfig, agent: AgentConfig, runtime: RuntimeProfile): RiskProfile {
  if (agent.riskProfile === null) return DEFAULT_RISK_PROFILE;
  const profile = config.riskProfiles.get(agent.riskProfile);
  if (profile !== undefined) return profile;
  if (!runtime.agentic) return DEFAULT_RISK_PROFILE;
  throw unusable(
    `Agent '${agent.id}' is agentic but risk_profile '${agent.riskProfile}' is not configured`,
  );
}

function providerOf(config: ResolvedConfig, agent: AgentConfig): ProviderEntry {
  const provider = config.providers.get(agent.modelProvider);
  if (provider !== undefined) return provider;
  throw unusable(
    `Agent '${agent.id}' names model_provider '${agent.modelProvider}', which is not configured; add [providers.models.${agent.modelProvider}]`,
  );
}

function modelOf(agent: AgentConfig, provider: ProviderEntry): RunSpec['model'] {
  const model = agent.model ?? provider.model;
  if (model !== null) return { provider: provider.ref, model };
  if (provider.type === 'scripted') {
    return { provider: provider.ref, model: 'scripted (no language model)' };
  }
  throw unusable(
    `Agent '${agent.id}' has no model: set [agents.${agent.id}].model or [providers.models.${provider.ref}].model`,
  );
}

/**
 * SPEC G8: where caller and target share a risk profile, the caller's session folder; else the target's own. An
 * independent one works where a new chat with it would.
 */
function workspaceOf(config: ResolvedConfig, request: RunRequest): string {
  const { agent, parent, workspaceDir } = request;
  if (parent === null) return workspaceDir;
  if (request.independent === true) return at(config, agent.workspaceDir ?? '.');
  if (parent.risk_profile === (agent.riskProfile ?? '')) return workspaceDir;
  return agent.workspaceDir === null ? workspaceDir : at(config, agent.workspaceDir);
}

function fileScope(
  config: ResolvedConfig,
  risk: RiskProfile,
  workspaceDir: string,
  protectedPaths: readonly string[],
): FileScope {
  const each = (paths: readonly string[]) => paths.map((path) => at(config, path));
  return realScope({
    workspaceDir,
    workspaceOnly: risk.workspaceOnly,
    roots: each(risk.allowedRoots),
    readRoots: each(risk.allowedRootsReadOnly),
    writeRoots: each(risk.allowedRootsWriteOnly),
    forbidden: each(risk.forbiddenPaths),
    protected: protectedPaths,
  });
}

function at(config: ResolvedConfig, path: string): string {
  return isAbsolute(path) ? path : resolve(config.baseDir, path);
}

function unusable(message: string): Fault {
  return new Fault('agent.unusable', message);
}
