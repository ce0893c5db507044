import type { AgentConfig, Autonomy } from './config.ts';
import type { CronOrigin } from './cron.ts';
import type { MemoryIdentity } from './memory.ts';
import type { ModelRef } from './model.ts';
import type { Narrowing } from './narrowing.ts';
import type { FileScope, ToolScope } from './tool.ts';

/** Who let a run begin: a person or program for a root, another run for a child. */
export type RunOrigin = 'user' | 'cron' | 'delegate' | 'subagent' | 'plan';

/** Whose authority a whole tree runs under; fixed when its root starts, the same for every descendant (SPEC R9). */
export interface SecurityContext {
  readonly principal: string;
  readonly org_position: string | null;
  /** Hash of `files`. */
  readonly policy_version: string;
  /** The initiator's file policy as it was then. */
  readonly files: FileScope;
}

/** The limits of SPEC X2; 0 = nothing. Keys are the journal's own spelling. */
export interface BudgetLimits {
  /** Actions in any hour: effectful tool calls and launches, its own and those of every run below it. */
  readonly actions_per_hour_max: number;
  /** Cents of model requests in a day of UTC, its own and those of every run below it. */
  readonly cost_per_day_max_cents: number;
}

/** What a run may do and spend. */
export interface RunBudget extends BudgetLimits {
  /** What its agent may, whoever starts it, where narrowings above this run leave it less (SPEC S4); absent = the same. */
  readonly agent?: BudgetLimits;
  /** It draws from a bucket of its own and not from its caller's: an independent delegate (SPEC G8). */
  readonly own?: boolean;
}

/**
 * Everything a run needs to begin or to go on, as resolved at its launch and kept in its `run.started` event: depth,
 * rights, limits and origin are stored here and never derived again (SPEC R11). Keys are the journal's own spelling.
 */
export interface RunSpec {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly project: string | null;
  readonly origin: RunOrigin;
  /** Started from an inline definition instead of a configured agent: the privileged path of SPEC G1. */
  readonly raw: boolean;
  /** The inline definition of a raw run: its sub-agents are resolved from it, also after a restart. */
  readonly inline: AgentConfig | null;
  /** The job that a root of `origin` `cron` belongs to; absent in journals of before, `null` for every other run. */
  readonly cron?: CronOrigin | null;
  /** It goes on when the run that started it ends (SPEC D9); absent for every other run. */
  readonly background?: {
    readonly task_id: string;
    /** The folder of its result file, absolute. */
    readonly results_dir: string;
  };
  readonly root_run_id: string;
  /** 0 for a root; each level of delegation or of `spawn_subagent` adds one (SPEC G3, S2). */
  readonly depth: number;
  readonly depth_max: number;
  readonly width_max: number;
  readonly order: 'fifo' | 'eager';
  readonly identical: 'share' | 'run';
  readonly is_subagent: boolean;
  /** Under its own rights alone, as in a new chat with it, and not below its caller's tools (SPEC G8). */
  readonly independent?: boolean | undefined;
  /** What sub-agents above it, or it as one, were launched with (SPEC S4); absent = nothing. */
  readonly narrowings?: readonly Narrowing[] | undefined;
  readonly session_key: string;
  readonly prompt: string;
  readonly system_prompt: string;
  readonly model: ModelRef;
  /** The part of the provider's name before its alias, as result headers show it (SPEC D5). */
  readonly provider_type: string;
  readonly agentic: boolean;
  readonly max_turns: number;
  /** Milliseconds since the epoch at which the run began. */
  readonly started_at_ms: number;
  /** Milliseconds a run may take before it ends `incomplete` with `run_time_limit`; `null` = no limit. */
  readonly max_run_ms: number | null;
  /** Milliseconds a delegated run may take before it is cancelled (SPEC D6); `null` = no limit. */
  readonly delegation_timeout_ms: number | null;
  readonly parallel_tools: boolean;
  readonly result_chars_max: number;
  readonly turn_result_chars_max: number;
  readonly approval_timeout_ms: number;
  /** Tasks of its parent's plan whose work it reviews; empty = it is no reviewer (SPEC P7). */
  readonly review_of: readonly string[];
  /** Names of the tools in this run's registry, after every gate. */
  readonly tools: readonly string[];
  readonly risk_profile: string;
  readonly autonomy: Autonomy;
  readonly auto_approve: readonly string[];
  readonly always_ask: readonly string[];
  readonly require_tool_approval: boolean;
  /** Absent in journals of before: true. */
  readonly require_approval_for_medium_risk?: boolean | undefined;
  /** Absent in journals of before: no limit. */
  readonly budget?: RunBudget | undefined;
  /** Whose memory it has (SPEC X4, S6). Absent in journals of before: none. */
  readonly memory?: MemoryIdentity | undefined;
  readonly scope: ToolScope;
  readonly security: SecurityContext;
}
