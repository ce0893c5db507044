import type { AgentConfig, ResolvedConfig } from './core/config.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ToolDefinition, ToolScope } from './core/tool.ts';
import { type RunRequest, resolveRun } from './resolve-run.ts';

interface Template {
  readonly agent: AgentConfig;
  readonly spec: RunSpec;
}

/** Roots that differ in agent, project, folder or initiator; the oldest gives way. */
const ROOTS_MAX = 256;

/**
 * Resolves runs (SPEC G7) and remembers what came out for as long as the configuration is the same one: a run that is
 * launched like an earlier one differs from it in its prompt, its names and its time alone. Such runs share everything
 * else as the same objects, so that it is resolved, kept in memory and sent to a thread once.
 */
export class RunTemplates {
  #config: ResolvedConfig | null = null;
  #tools: ReadonlyMap<string, ToolDefinition> | null = null;
  #roots = new Map<string, Template>();
  /** By the scope of the launching run, which no run of another kind has as the same object. */
  #children = new WeakMap<ToolScope, Map<string, Template>>();

  /** @throws as `resolveRun`. */
  resolve(
    config: ResolvedConfig,
    tools: ReadonlyMap<string, ToolDefinition>,
    request: RunRequest,
  ): RunSpec {
    // One that was narrowed is like no other, and models may ask for any number of those.
    if (request.raw || request.narrowing !== undefined) return resolveRun(config, tools, request);
    if (config !== this.#config || tools !== this.#tools) this.#forgetAll(config, tools);
    const { agent, parent } = request;
    const known = parent === null ? this.#roots : this.#childrenOf(parent);
    const key = parent === null ? rootKey(request) : childKey(request);
    let template = known.get(key);
    if (template?.agent !== agent) {
      template = { agent, spec: resolveRun(config, tools, { ...request, maxTurns: null }) };
      known.set(key, template);
      if (this.#roots.size > ROOTS_MAX) this.#forgetOldestRoot();
    }
    return launched(template.spec, request);
  }

  #childrenOf(parent: RunSpec): Map<string, Template> {
    let known = this.#children.get(parent.scope);
    if (known === undefined) {
      known = new Map();
      this.#children.set(parent.scope, known);
    }
    return known;
  }

  #forgetOldestRoot(): void {
    const [oldest] = this.#roots.keys();
    if (oldest !== undefined) this.#roots.delete(oldest);
  }

  #forgetAll(config: ResolvedConfig, tools: ReadonlyMap<string, ToolDefinition>): void {
    this.#config = config;
    this.#tools = tools;
    this.#roots = new Map();
    this.#children = new WeakMap();
  }
}

/** Reviewers of different tasks are offered different tools. */
function childKey({ origin, agent, independent, reviewOf }: RunRequest): string {
  return JSON.stringify([origin, agent.id, independent === true, ...reviewOf]);
}

/** `policy_version` stands for the files: it is a hash of them. */
function rootKey({ agent, origin, project, workspaceDir, security }: RunRequest): string {
  const { principal, org_position, policy_version } = security;
  return JSON.stringify([
    agent.id,
    origin,
    project,
    workspaceDir,
    principal,
    org_position,
    policy_version,
  ]);
}

/* Spelled out: a spread of so many fields makes an object of twice the size, and every run keeps one. */
function launched(spec: RunSpec, request: RunRequest): RunSpec {
  return {
    agent_id: spec.agent_id,
    agent_name: spec.agent_name,
    project: spec.project,
    origin: spec.origin,
    raw: spec.raw,
    inline: spec.inline,
    cron: request.cron,
    root_run_id: request.rootRunId,
    depth: spec.depth,
    depth_max: spec.depth_max,
    width_max: spec.width_max,
    order: spec.order,
    identical: spec.identical,
    is_subagent: spec.is_subagent,
    independent: spec.independent,
    narrowings: spec.narrowings,
    session_key: request.sessionKey,
    prompt: request.prompt,
    system_prompt: spec.system_prompt,
    model: spec.model,
    provider_type: spec.provider_type,
    agentic: spec.agentic,
    max_turns: spec.agentic ? (request.maxTurns ?? spec.max_turns) : spec.max_turns,
    started_at_ms: request.startedAtMs,
    max_run_ms: spec.max_run_ms,
    delegation_timeout_ms: spec.delegation_timeout_ms,
    parallel_tools: spec.parallel_tools,
    result_chars_max: spec.result_chars_max,
    turn_result_chars_max: spec.turn_result_chars_max,
    approval_timeout_ms: spec.approval_timeout_ms,
    review_of: spec.review_of,
    tools: spec.tools,
    risk_profile: spec.risk_profile,
    autonomy: spec.autonomy,
    auto_approve: spec.auto_approve,
    always_ask: spec.always_ask,
    require_tool_approval: spec.require_tool_approval,
    require_approval_for_medium_risk: spec.require_approval_for_medium_risk,
    budget: spec.budget,
    memory: spec.memory,
    scope: spec.scope,
    security: spec.security,
  };
}
