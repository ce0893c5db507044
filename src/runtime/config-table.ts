import type { PROVIDER_TYPES } from './config-schema.ts';
import type { Autonomy, DelegateEntry } from './core/config.ts';

/** `troupe.toml` as the schema admits it: what `resolve-config.ts` may rely on. */
export interface ConfigTable {
  readonly agents?: Named<AgentTable>;
  readonly risk_profiles?: Named<RiskProfileTable>;
  readonly runtime_profiles?: Named<RuntimeProfileTable>;
  readonly providers?: { readonly models?: ProviderTables };
  readonly projects?: Named<ProjectTable>;
  readonly mcp_servers?: Named<McpServerTable>;
  readonly cron?: readonly CronTable[];
  readonly runtime?: RuntimeTable;
  readonly journal?: { readonly sync?: 'full' | 'normal' };
}

export type ProviderTables = {
  readonly [Type in (typeof PROVIDER_TYPES)[number]]?: Named<ProviderTable>;
};

/** The same keys before the schema has looked at their values. */
export type Unchecked<Table> = { readonly [Key in keyof Table]?: unknown };

type Named<Entry> = { readonly [id: string]: Entry };

export interface AgentTable {
  readonly name?: string;
  readonly purpose?: string;
  readonly enabled?: boolean;
  readonly project?: string;
  readonly model_provider: string;
  readonly model?: string;
  readonly system_prompt?: string;
  readonly system_prompt_file?: string;
  readonly risk_profile?: string;
  readonly runtime_profile?: string;
  readonly capabilities?: { readonly delegation?: boolean };
  readonly delegates?: readonly (string | DelegateTable)[];
  readonly delegate_same_risk_profile?: boolean;
  readonly max_turns?: number;
  readonly workspace?: { readonly dir?: string; readonly read_memory_from?: readonly string[] };
  readonly skills?: readonly string[];
  readonly mcp_servers?: readonly string[];
  readonly tools?: readonly string[];
}

export interface DelegateTable {
  readonly agent: string;
  readonly mode?: DelegateEntry['mode'];
}

export interface RiskProfileTable {
  readonly autonomy?: Autonomy;
  readonly delegation_policy?: { readonly mode?: 'forbidden' | 'allow' };
  readonly allowed_tools?: readonly string[];
  readonly excluded_tools?: readonly string[];
  readonly workspace_only?: boolean;
  readonly allowed_roots?: readonly string[];
  readonly allowed_roots_read_only?: readonly string[];
  readonly allowed_roots_write_only?: readonly string[];
  readonly forbidden_paths?: readonly string[];
  readonly allowed_commands?: readonly string[];
  readonly shell_env_passthrough?: readonly string[];
  readonly shell_timeout_secs?: number;
  readonly max_actions_per_hour?: number;
  readonly max_cost_per_day_cents?: number;
  readonly block_high_risk_commands?: boolean;
  readonly require_approval_for_medium_risk?: boolean;
  readonly require_tool_approval?: boolean;
  readonly auto_approve?: readonly string[];
  readonly always_ask?: readonly string[];
}

export interface RuntimeProfileTable {
  readonly agentic?: boolean;
  readonly max_turns?: number;
  readonly max_delegation_depth?: number;
  readonly max_delegation_width?: number;
  readonly delegation_order?: 'fifo' | 'eager';
  readonly identical_delegations?: 'share' | 'run';
  readonly delegation_timeout_secs?: number;
  readonly max_run_secs?: number;
  readonly parallel_tools?: boolean;
  readonly strict_tool_parsing?: boolean;
  readonly max_result_chars?: number;
  readonly max_turn_result_chars?: number;
  readonly approval_timeout_secs?: number;
  readonly isolation?: 'host' | 'thread' | 'process';
}

export interface ProviderTable {
  readonly base_url?: string;
  readonly api_key_env?: string;
  readonly model?: string;
  readonly temperature?: number;
  readonly timeout_secs?: number;
  readonly connect_timeout_secs?: number;
  readonly total_timeout_secs?: number;
  readonly max_retries?: number;
  readonly native_tools?: boolean;
  readonly fallback?: readonly string[];
  readonly price?: {
    readonly input: number;
    readonly output: number;
    readonly cached_input?: number;
  };
  readonly max_concurrent_requests?: number;
  readonly file?: string;
}

export interface ProjectTable {
  readonly name?: string;
  readonly daily_runs?: number;
}

export interface McpServerTable {
  readonly command?: string;
  readonly url?: string;
  readonly api_key_env?: string;
}

export interface CronTable {
  readonly id: string;
  readonly schedule: string;
  readonly time_zone?: string;
  readonly agent: string;
  readonly prompt: string;
  readonly enabled?: boolean;
}

export interface RuntimeTable {
  readonly max_runs_per_root?: number;
  readonly actor_threads?: number;
  readonly compute_threads?: number;
  readonly stop_grace_secs?: number;
}
