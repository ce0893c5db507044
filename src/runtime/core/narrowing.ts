import { canonicalJson, type Json } from '../../base/json.ts';
import type { Autonomy } from './config.ts';
import type { RunSpec } from './run-spec.ts';
import type { CommandScope, FileScope } from './tool.ts';

/**
 * What a run may do at most, beside its own policy. One that a sub-agent was launched with (SPEC S4) goes down the tree:
 * whoever is launched below it is bound by it too. A field that is absent bounds nothing. Keys are the journal's own
 * spelling.
 */
export interface Narrowing {
  readonly autonomy?: Autonomy;
  /** Each of them must allow a path too. */
  readonly files?: readonly FileScope[];
  readonly allowed_commands?: readonly string[];
  readonly shell_env_passthrough?: readonly string[];
  /** Milliseconds. */
  readonly shell_timeout_ms?: number;
  readonly block_high_risk_commands?: boolean;
  readonly require_approval_for_medium_risk?: boolean;
  readonly require_tool_approval?: boolean;
  readonly auto_approve?: readonly string[];
  readonly always_ask?: readonly string[];
  /** The only tools, those of delegation and `spawn_subagent` included; empty = none. */
  readonly allowed_tools?: readonly string[];
  readonly excluded_tools?: readonly string[];
  readonly delegation?: 'forbidden';
  readonly actions_per_hour_max?: number;
  readonly cost_per_day_max_cents?: number;
  /** Agents whose memory may be read, beside the run's own (SPEC S6). */
  readonly memory_readable?: readonly string[];
}

/** The part of a run's record that a narrowing bounds, but for its tools. */
export type Rights = Pick<
  RunSpec,
  | 'autonomy'
  | 'auto_approve'
  | 'always_ask'
  | 'require_tool_approval'
  | 'require_approval_for_medium_risk'
  | 'scope'
  | 'budget'
  | 'memory'
>;

export const AUTONOMY_ORDER: Readonly<Record<Autonomy, number>> = {
  read_only: 0,
  supervised: 1,
  full: 2,
};

/** Everything that a run holds, as a bound on another one. */
export function narrowingOf(rights: Rights): Narrowing {
  const { allowed, envPassthrough, timeoutMs, blockHighRisk } = rights.scope.commands;
  const { budget, memory } = rights;
  return {
    autonomy: rights.autonomy,
    files: rights.scope.files,
    allowed_commands: allowed,
    shell_env_passthrough: envPassthrough,
    shell_timeout_ms: timeoutMs,
    block_high_risk_commands: blockHighRisk,
    require_approval_for_medium_risk: rights.require_approval_for_medium_risk === true,
    require_tool_approval: rights.require_tool_approval,
    always_ask: rights.always_ask,
    // Under full autonomy nothing is asked that `always_ask` does not name: the list bounds nothing.
    ...(rights.autonomy !== 'full' && { auto_approve: rights.auto_approve }),
    ...(budget !== undefined && {
      actions_per_hour_max: budget.actions_per_hour_max,
      cost_per_day_max_cents: budget.cost_per_day_max_cents,
    }),
    ...(memory !== undefined && { memory_readable: memory.readable }),
  };
}

/** The rights that lie within all these bounds. */
export function withinNarrowings(rights: Rights, narrowings: readonly Narrowing[]): Rights {
  return narrowings.reduce(within, rights);
}

function within(rights: Rights, by: Narrowing): Rights {
  const { files, commands } = rights.scope;
  return {
    autonomy: lower(rights.autonomy, by.autonomy ?? 'full'),
    auto_approve: autoApproved(rights, by),
    always_ask: union(rights.always_ask, by.always_ask ?? []),
    require_tool_approval: rights.require_tool_approval || by.require_tool_approval === true,
    require_approval_for_medium_risk:
      rights.require_approval_for_medium_risk === true ||
      by.require_approval_for_medium_risk === true,
    scope: {
      ...rights.scope,
      files: eachOnce([...files, ...(by.files ?? [])]),
      commands: commandsWithin(commands, by),
    },
    budget: budgetWithin(rights.budget, by),
    memory: memoryWithin(rights.memory, by),
  };
}

function lower(left: Autonomy, right: Autonomy): Autonomy {
  return AUTONOMY_ORDER[right] < AUTONOMY_ORDER[left] ? right : left;
}

/** What runs unasked must do so under both: `*` and full autonomy stand for every tool. */
function autoApproved(rights: Rights, by: Narrowing): readonly string[] {
  if (by.auto_approve === undefined) return rights.auto_approve;
  const own = rights.autonomy === 'full' ? ['*'] : rights.auto_approve;
  return common(own, by.auto_approve);
}

function common(left: readonly string[], right: readonly string[]): readonly string[] {
  return union(
    left.filter((name) => namesTool(right, name)),
    right.filter((name) => namesTool(left, name)),
  );
}

/** Does a list of tools name this one, which may be `*` itself? */
export function namesTool(list: readonly string[], name: string): boolean {
  return list.includes(name) || list.includes('*');
}

function union(left: readonly string[], right: readonly string[]): readonly string[] {
  return [...new Set([...left, ...right])];
}

function eachOnce(files: readonly FileScope[]): readonly FileScope[] {
  const known = new Set<string>();
  return files.filter((scope) => {
    const text = canonicalJson(scope as unknown as Json);
    if (known.has(text)) return false;
    known.add(text);
    return true;
  });
}

function commandsWithin(commands: CommandScope, by: Narrowing): CommandScope {
  const { allowed_commands: allowed, shell_env_passthrough: env } = by;
  return {
    ...commands,
    allowed: commands.allowed.filter((name) => allowed?.includes(name) ?? true),
    envPassthrough: commands.envPassthrough.filter((name) => env?.includes(name) ?? true),
    timeoutMs: Math.min(commands.timeoutMs, by.shell_timeout_ms ?? commands.timeoutMs),
    blockHighRisk: commands.blockHighRisk || by.block_high_risk_commands === true,
  };
}

function budgetWithin(budget: Rights['budget'], by: Narrowing): Rights['budget'] {
  const { actions_per_hour_max: actions, cost_per_day_max_cents: cost } = by;
  if (actions === undefined && cost === undefined) return budget;
  const least = (own: number | undefined, bound: number | undefined) =>
    Math.min(own ?? Number.MAX_SAFE_INTEGER, bound ?? Number.MAX_SAFE_INTEGER);
  return {
    ...budget,
    actions_per_hour_max: least(budget?.actions_per_hour_max, actions),
    cost_per_day_max_cents: least(budget?.cost_per_day_max_cents, cost),
  };
}

/** SPEC S6: its own alias is always readable. */
function memoryWithin(memory: Rights['memory'], by: Narrowing): Rights['memory'] {
  const { memory_readable: bound } = by;
  if (memory === undefined || bound === undefined) return memory;
  const { own, readable } = memory;
  return { ...memory, readable: readable.filter((name) => name === own || bound.includes(name)) };
}
