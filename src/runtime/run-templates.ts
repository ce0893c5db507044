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
    if (request.raw) return resolveRun(config, tools, request);
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
function childKey({ origin, agent, reviewOf }: RunRequest): string {
  return JSON.stringify([origin, agent.id, ...reviewOf]);
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

function launched(spec: RunSpec, request: RunRequest): RunSpec {
  return {
    ...spec,
    root_run_id: request.rootRunId,
    session_key: request.sessionKey,
    prompt: request.prompt,
    started_at_ms: request.startedAtMs,
    max_turns: spec.agentic ? (request.maxTurns ?? spec.max_turns) : spec.max_turns,
  };
}
