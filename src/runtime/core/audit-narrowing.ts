import { canonicalJson, type Json } from '../../base/json.ts';
import { AUTONOMY_ORDER, type Narrowing, namesTool } from './narrowing.ts';
import type { RunSpec } from './run-spec.ts';

/** Does a run hold more than a bound leaves it, in one respect? */
type Excess = (spec: RunSpec, by: Narrowing) => boolean;

/** What of a record goes beyond a bound (SPEC S4), by the names of its fields. Judged apart from what made the record. */
export function excessOf(spec: RunSpec, by: Narrowing): readonly string[] {
  return Object.entries(EXCESSES)
    .filter(([, goesBeyond]) => goesBeyond(spec, by))
    .map(([field]) => field);
}

const EXCESSES: Readonly<Record<string, Excess>> = {
  autonomy: (spec, by) => AUTONOMY_ORDER[spec.autonomy] > AUTONOMY_ORDER[by.autonomy ?? 'full'],
  files: ({ scope }, by) => {
    const own = new Set(scope.files.map(textOf));
    return (by.files ?? []).some((files) => !own.has(textOf(files)));
  },
  allowed_commands: ({ scope }, by) => hasMore(scope.commands.allowed, by.allowed_commands),
  shell_env_passthrough: ({ scope }, by) =>
    hasMore(scope.commands.envPassthrough, by.shell_env_passthrough),
  shell_timeout_secs: ({ scope }, by) => isMore(scope.commands.timeoutMs, by.shell_timeout_ms),
  block_high_risk_commands: ({ scope }, by) =>
    isOff(scope.commands.blockHighRisk, by.block_high_risk_commands),
  require_approval_for_medium_risk: (spec, by) =>
    isOff(spec.require_approval_for_medium_risk, by.require_approval_for_medium_risk),
  require_tool_approval: (spec, by) => isOff(spec.require_tool_approval, by.require_tool_approval),
  auto_approve: ({ autonomy, auto_approve: own }, { auto_approve: bound }) =>
    autonomy !== 'full' && bound !== undefined && own.some((name) => !namesTool(bound, name)),
  always_ask: (spec, by) => hasMore(by.always_ask ?? [], spec.always_ask),
  allowed_tools: ({ tools, review_of: reviews }, { allowed_tools: bound }) =>
    bound !== undefined &&
    tools.some((name) => !isOwnOfReviewer(name, reviews) && !bound.includes(name)),
  excluded_tools: ({ tools }, by) => tools.some((name) => by.excluded_tools?.includes(name)),
  delegation_policy: ({ tools }, by) =>
    by.delegation === 'forbidden' &&
    tools.some((name) => ['agents', 'delegate', 'plan'].includes(name)),
  max_actions_per_hour: ({ budget }, by) =>
    isMore(budget?.actions_per_hour_max ?? Number.POSITIVE_INFINITY, by.actions_per_hour_max),
  max_cost_per_day_cents: ({ budget }, by) =>
    isMore(budget?.cost_per_day_max_cents ?? Number.POSITIVE_INFINITY, by.cost_per_day_max_cents),
  allowed_agent_aliases: ({ memory }, { memory_readable: bound }) =>
    memory !== undefined &&
    bound !== undefined &&
    memory.readable.some((name) => name !== memory.own && !bound.includes(name)),
};

function hasMore(own: readonly string[], bound: readonly string[] | undefined): boolean {
  return bound !== undefined && own.some((name) => !bound.includes(name));
}

function isMore(own: number, bound: number | undefined): boolean {
  return bound !== undefined && own > bound;
}

function isOff(own: boolean | undefined, bound: boolean | undefined): boolean {
  return bound === true && own !== true;
}

/** A reviewer ends by its verdict, whatever tools it has (SPEC P7). */
function isOwnOfReviewer(name: string, reviews: readonly string[] | undefined): boolean {
  return name === 'submit_review' && (reviews ?? []).length > 0;
}

function textOf(value: unknown): string {
  return canonicalJson(value as Json);
}
