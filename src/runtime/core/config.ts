import type { CronJob } from './cron.ts';
import type { ProviderEntry } from './model.ts';

/**
 * The configuration with every default filled in and every cross-reference checked (SPEC C1–C7). Made by
 * `load-config.ts` alone; nothing after it sees raw TOML. Times are milliseconds, paths absolute.
 */
export interface ResolvedConfig {
  /** Where it was read from; `null` for a configuration given in code. */
  readonly file: string | null;
  /**
   * Everything it was or could be read from, absolute: its file, the folder of agent files, prompts, scenarios. No tool
   * may write there, or an agent could give itself rights (SPEC X1).
   */
  readonly sources: readonly string[];
  /** Relative paths of the configuration start here. */
  readonly baseDir: string;
  readonly agents: ReadonlyMap<string, AgentConfig>;
  readonly riskProfiles: ReadonlyMap<string, RiskProfile>;
  readonly runtimeProfiles: ReadonlyMap<string, RuntimeProfile>;
  readonly cron: readonly CronJob[];
  /** By `<type>.<alias>`. */
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  readonly projects: ReadonlyMap<string, ProjectConfig>;
  readonly runtime: RuntimeSettings;
  readonly journal: { readonly sync: 'full' | 'normal' };
}

export interface AgentConfig {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly enabled: boolean;
  /** `null` = global: visible from every project. */
  readonly project: string | null;
  /** `<type>.<alias>` of a provider entry. */
  readonly modelProvider: string;
  /** Beats the provider entry's own model; `null` = the entry's. */
  readonly model: string | null;
  readonly systemPrompt: string;
  /** Name of a risk profile; `null` = none named. */
  readonly riskProfile: string | null;
  readonly runtimeProfile: string | null;
  /** `capabilities.delegation`: an explicit yes, an explicit no, or nothing said (SPEC G1). */
  readonly delegationCapability: boolean | null;
  readonly delegates: readonly DelegateEntry[];
  readonly delegateSameRiskProfile: boolean;
  /** `null` = the runtime profile's, else 40. */
  readonly maxTurns: number | null;
  readonly workspaceDir: string | null;
  readonly readMemoryFrom: readonly string[];
  readonly skills: readonly string[];
  readonly mcpServers: readonly string[];
  /** Names an agent file lists under `tools:`, a further ceiling; `null` = not given. Never empty (an error). */
  readonly tools: readonly string[] | null;
}

export interface DelegateEntry {
  readonly agent: string;
  readonly mode: 'bounded' | 'independent';
}

export type Autonomy = 'read_only' | 'supervised' | 'full';

export interface RiskProfile {
  readonly name: string;
  readonly autonomy: Autonomy;
  /** `null` = unset, which forbids unless the agent's capability says yes (SPEC G1). */
  readonly delegationMode: 'forbidden' | 'allow' | null;
  /** Empty = all. */
  readonly allowedTools: readonly string[];
  readonly excludedTools: readonly string[];
  readonly workspaceOnly: boolean;
  readonly allowedRoots: readonly string[];
  readonly allowedRootsReadOnly: readonly string[];
  readonly allowedRootsWriteOnly: readonly string[];
  readonly forbiddenPaths: readonly string[];
  readonly allowedCommands: readonly string[];
  readonly shellEnvPassthrough: readonly string[];
  readonly shellTimeoutMs: number;
  readonly maxActionsPerHour: number;
  readonly maxCostPerDayCents: number;
  readonly blockHighRiskCommands: boolean;
  readonly requireApprovalForMediumRisk: boolean;
  readonly requireToolApproval: boolean;
  readonly autoApprove: readonly string[];
  readonly alwaysAsk: readonly string[];
}

export interface RuntimeProfile {
  readonly name: string;
  readonly agentic: boolean;
  readonly maxTurns: number | null;
  readonly maxDelegationDepth: number;
  readonly maxDelegationWidth: number;
  readonly delegationOrder: 'fifo' | 'eager';
  readonly identicalDelegations: 'share' | 'run';
  /** How long a run of this profile may take when it was delegated; `null` = no limit. */
  readonly delegationTimeoutMs: number | null;
  readonly maxRunMs: number | null;
  readonly parallelTools: boolean;
  readonly strictToolParsing: boolean;
  readonly maxResultChars: number;
  readonly maxTurnResultChars: number;
  readonly approvalTimeoutMs: number;
  readonly isolation: 'host' | 'thread' | 'process';
}

export interface ProjectConfig {
  readonly id: string;
  readonly name: string;
  /** Root runs a day; `null` = no limit (SPEC R10). */
  readonly dailyRuns: number | null;
}

export interface RuntimeSettings {
  readonly maxRunsPerRoot: number;
  readonly actorThreads: number;
  readonly computeThreads: number;
  /** Milliseconds a cancelled run may take to stop before it is terminated (SPEC N2). */
  readonly stopGraceMs: number;
}

export const DEFAULT_MAX_TURNS = 40;

export const DEFAULT_RUNTIME_PROFILE: RuntimeProfile = {
  name: 'default',
  agentic: true,
  maxTurns: null,
  maxDelegationDepth: 2,
  maxDelegationWidth: 8,
  delegationOrder: 'fifo',
  identicalDelegations: 'share',
  delegationTimeoutMs: null,
  maxRunMs: null,
  parallelTools: true,
  strictToolParsing: false,
  maxResultChars: 16_000,
  maxTurnResultChars: 64_000,
  approvalTimeoutMs: 3_600_000,
  isolation: 'host',
};

export const DEFAULT_RISK_PROFILE: RiskProfile = {
  name: 'default',
  autonomy: 'supervised',
  delegationMode: null,
  allowedTools: [],
  excludedTools: [],
  workspaceOnly: true,
  allowedRoots: [],
  allowedRootsReadOnly: [],
  allowedRootsWriteOnly: [],
  forbiddenPaths: [],
  allowedCommands: [],
  shellEnvPassthrough: [],
  shellTimeoutMs: 60_000,
  maxActionsPerHour: 1000,
  maxCostPerDayCents: 500,
  blockHighRiskCommands: true,
  requireApprovalForMediumRisk: true,
  requireToolApproval: false,
  autoApprove: [],
  alwaysAsk: [],
};

/** SPEC C7. */
export const ID_PATTERN = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;
