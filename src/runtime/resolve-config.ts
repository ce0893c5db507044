import type { ConfigFiles } from './config-look.ts';
import type {
  AgentTable,
  ConfigTable,
  CronTable,
  ProviderTable,
  ProviderTables,
  RiskProfileTable,
  RuntimeProfileTable,
  RuntimeTable,
} from './config-table.ts';
import { normaliseDelegates } from './core/agent-table.ts';
import {
  type AgentConfig,
  DEFAULT_RISK_PROFILE,
  DEFAULT_RUNTIME_PROFILE,
  type ResolvedConfig,
  type RiskProfile,
  type RuntimeProfile,
  type RuntimeSettings,
} from './core/config.ts';
import type { CronJob } from './core/cron.ts';
import type { ProviderEntry } from './core/model.ts';

export interface ResolveOptions {
  readonly file: string | null;
  /** The folder that agent files are read from, be it there yet or not; `null` = none. */
  readonly agentsDir: string | null;
  readonly baseDir: string;
  readonly files: ConfigFiles;
  /** Threads of the compute pool where the configuration names none. */
  readonly cores: number;
}

/** Fills in every default. The tables must have passed the schema and the checks. */
export function resolveConfig(table: ConfigTable, options: ResolveOptions): ResolvedConfig {
  const { files } = options;
  return {
    file: options.file,
    sources: sourcesOf(table, options),
    baseDir: options.baseDir,
    agents: mapped(table.agents, (id, agent) => resolveAgent(id, agent, files)),
    riskProfiles: mapped(table.risk_profiles, (name, risk) => resolveRisk(name, risk, files)),
    runtimeProfiles: mapped(table.runtime_profiles, resolveRuntimeProfile),
    providers: resolveProviders(table.providers?.models ?? {}, files),
    projects: mapped(table.projects, (id, project) => ({
      id,
      name: project.name ?? id,
      dailyRuns: project.daily_runs ?? null,
    })),
    runtime: resolveRuntime(table.runtime ?? {}, options.cores),
    cron: (table.cron ?? []).map(resolveJob),
    journal: { sync: table.journal?.sync ?? 'full' },
  };
}

function resolveJob(job: CronTable): CronJob {
  return {
    id: job.id,
    schedule: job.schedule,
    timeZone: job.time_zone ?? null,
    agentId: job.agent,
    prompt: job.prompt,
    enabled: job.enabled ?? true,
  };
}

function sourcesOf(table: ConfigTable, { file, agentsDir, files }: ResolveOptions): string[] {
  const prompts = Object.values(table.agents ?? {}).map((agent) => agent.system_prompt_file);
  const entries = Object.values(table.providers?.models ?? {}).flatMap((each) =>
    Object.values(each ?? {}),
  );
  const named = [...prompts, ...entries.map((entry) => entry.file)].filter(
    (path): path is string => path !== undefined,
  );
  const own = [file, agentsDir].filter((path): path is string => path !== null);
  return [...own, ...named.map((path) => files.absolute(path))];
}

function mapped<Raw, Resolved>(
  tables: { readonly [id: string]: Raw } | undefined,
  resolve: (id: string, raw: Raw) => Resolved,
): ReadonlyMap<string, Resolved> {
  return new Map(Object.entries(tables ?? {}).map(([id, raw]) => [id, resolve(id, raw)]));
}

/** A timer of less than one millisecond would fire at once. */
function milliseconds(secs: number): number {
  return Math.max(1, Math.round(secs * 1000));
}

function millisecondsOr<Default>(secs: number | undefined, other: Default): number | Default {
  return secs === undefined ? other : milliseconds(secs);
}

/** Both forms of an agent give the same prompt: line ends of the system, blank lines around it, do not count. */
function promptOf(agent: AgentTable, files: ConfigFiles): string {
  let text = agent.system_prompt ?? '';
  if (agent.system_prompt_file !== undefined) {
    const read = files.read(agent.system_prompt_file);
    text = read.ok ? read.text : '';
  }
  return text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trim();
}

function resolveAgent(id: string, agent: AgentTable, files: ConfigFiles): AgentConfig {
  return {
    id,
    name: agent.name ?? id,
    purpose: agent.purpose ?? '',
    enabled: agent.enabled ?? true,
    project: agent.project ?? null,
    modelProvider: agent.model_provider,
    model: agent.model ?? null,
    systemPrompt: promptOf(agent, files),
    riskProfile: agent.risk_profile ?? null,
    runtimeProfile: agent.runtime_profile ?? null,
    maxTurns: agent.max_turns ?? null,
    ...resolveReach(agent),
    ...resolveMeans(agent, files),
  };
}

function resolveReach(agent: AgentTable) {
  return {
    delegationCapability: agent.capabilities?.delegation ?? null,
    delegates: normaliseDelegates(agent.delegates ?? []),
    delegateSameRiskProfile: agent.delegate_same_risk_profile ?? true,
  };
}

function resolveMeans(agent: AgentTable, files: ConfigFiles) {
  const dir = agent.workspace?.dir;
  return {
    workspaceDir: dir === undefined ? null : files.absolute(dir),
    readMemoryFrom: agent.workspace?.read_memory_from ?? [],
    skills: agent.skills ?? [],
    mcpServers: agent.mcp_servers ?? [],
    tools: agent.tools ?? null,
  };
}

function resolveRisk(name: string, table: RiskProfileTable, files: ConfigFiles): RiskProfile {
  const base = DEFAULT_RISK_PROFILE;
  const paths = (written: readonly string[] | undefined) =>
    (written ?? []).map((path) => files.absolute(path));
  return {
    name,
    autonomy: table.autonomy ?? base.autonomy,
    delegationMode: table.delegation_policy?.mode ?? base.delegationMode,
    allowedTools: table.allowed_tools ?? base.allowedTools,
    excludedTools: table.excluded_tools ?? base.excludedTools,
    workspaceOnly: table.workspace_only ?? base.workspaceOnly,
    allowedRoots: paths(table.allowed_roots),
    allowedRootsReadOnly: paths(table.allowed_roots_read_only),
    allowedRootsWriteOnly: paths(table.allowed_roots_write_only),
    forbiddenPaths: paths(table.forbidden_paths),
    allowedCommands: table.allowed_commands ?? base.allowedCommands,
    shellEnvPassthrough: table.shell_env_passthrough ?? base.shellEnvPassthrough,
    shellTimeoutMs: millisecondsOr(table.shell_timeout_secs, base.shellTimeoutMs),
    ...resolveRiskLimits(table),
  };
}

function resolveRiskLimits(table: RiskProfileTable) {
  const base = DEFAULT_RISK_PROFILE;
  return {
    maxActionsPerHour: table.max_actions_per_hour ?? base.maxActionsPerHour,
    maxCostPerDayCents: table.max_cost_per_day_cents ?? base.maxCostPerDayCents,
    blockHighRiskCommands: table.block_high_risk_commands ?? base.blockHighRiskCommands,
    requireApprovalForMediumRisk:
      table.require_approval_for_medium_risk ?? base.requireApprovalForMediumRisk,
    requireToolApproval: table.require_tool_approval ?? base.requireToolApproval,
    autoApprove: table.auto_approve ?? base.autoApprove,
    alwaysAsk: table.always_ask ?? base.alwaysAsk,
  };
}

function resolveRuntimeProfile(name: string, table: RuntimeProfileTable): RuntimeProfile {
  const base = DEFAULT_RUNTIME_PROFILE;
  return {
    name,
    agentic: table.agentic ?? base.agentic,
    maxTurns: table.max_turns ?? base.maxTurns,
    maxDelegationDepth: table.max_delegation_depth ?? base.maxDelegationDepth,
    maxDelegationWidth: table.max_delegation_width ?? base.maxDelegationWidth,
    delegationOrder: table.delegation_order ?? base.delegationOrder,
    identicalDelegations: table.identical_delegations ?? base.identicalDelegations,
    delegationTimeoutMs: millisecondsOr(table.delegation_timeout_secs, base.delegationTimeoutMs),
    maxRunMs: millisecondsOr(table.max_run_secs, base.maxRunMs),
    parallelTools: table.parallel_tools ?? base.parallelTools,
    strictToolParsing: table.strict_tool_parsing ?? base.strictToolParsing,
    maxResultChars: table.max_result_chars ?? base.maxResultChars,
    maxTurnResultChars: table.max_turn_result_chars ?? base.maxTurnResultChars,
    approvalTimeoutMs: millisecondsOr(table.approval_timeout_secs, base.approvalTimeoutMs),
    isolation: table.isolation ?? base.isolation,
  };
}

function resolveProviders(
  models: ProviderTables,
  files: ConfigFiles,
): ReadonlyMap<string, ProviderEntry> {
  const entries = (Object.keys(models) as (keyof ProviderTables)[]).flatMap((type) =>
    Object.entries(models[type] ?? {}).map(([alias, table]) =>
      resolveProvider(type, alias, table, files),
    ),
  );
  return new Map(entries.map((entry) => [entry.ref, entry]));
}

function resolveProvider(
  type: ProviderEntry['type'],
  alias: string,
  table: ProviderTable,
  files: ConfigFiles,
): ProviderEntry {
  const { price } = table;
  return {
    ref: `${type}.${alias}`,
    type,
    baseUrl: table.base_url ?? null,
    apiKeyEnv: table.api_key_env ?? null,
    model: table.model ?? null,
    temperature: table.temperature ?? null,
    connectTimeoutMs: milliseconds(table.connect_timeout_secs ?? 10),
    idleTimeoutMs: milliseconds(table.timeout_secs ?? 120),
    totalTimeoutMs: milliseconds(table.total_timeout_secs ?? 3600),
    maxRetries: table.max_retries ?? 2,
    nativeTools: table.native_tools ?? true,
    maxConcurrentRequests: table.max_concurrent_requests ?? null,
    file: table.file === undefined ? null : files.absolute(table.file),
    price:
      price === undefined
        ? null
        : {
            input: price.input,
            output: price.output,
            cachedInput: price.cached_input ?? price.input,
          },
  };
}

function resolveRuntime(table: RuntimeTable, cores: number): RuntimeSettings {
  return {
    maxRunsPerRoot: table.max_runs_per_root ?? 256,
    actorThreads: table.actor_threads ?? 2,
    computeThreads: table.compute_threads ?? cores,
    stopGraceMs: milliseconds(table.stop_grace_secs ?? 5),
  };
}
