import { type BudgetAccount, dayEnd } from './budget.ts';
import type { RunSpec } from './run-spec.ts';
import { utcText } from './utc-time.ts';

/** One account that a run draws from, with the limits that hold for the run whose account it is. */
export interface BudgetShare {
  readonly key: string;
  readonly account: BudgetAccount;
  readonly actionsMax: number;
  readonly cents: number;
  /** The record that the limits are from. */
  readonly spec: RunSpec;
  /** The limits are those of one sub-agent, set by the call that launched it. */
  readonly isNarrowed: boolean;
}

/**
 * Everything that an action of a run counts against: the accounts of its own and of all runs above it, up to the bucket
 * it draws from (SPEC S5). Inner ones last.
 */
export type BudgetLine = readonly BudgetShare[];

/** Why there is nothing left, as the `error_type` of a call and the reason of a run. */
export interface BudgetRefusal {
  readonly errorType: 'action_budget' | 'cost_budget';
  readonly words: string;
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/**
 * The line of a run, from that of the run that launched it; `null` = a root. Every agent has one account, whoever started
 * its runs: neither another root nor a restart fills it again. A bounded delegate draws from its caller's line and is held
 * to its own agent's account too; an independent one opens a line of its own (SPEC G8). A sub-agent is its parent, but
 * for one whose limits were narrowed, which has an account of its own within its parent's (SPEC S4).
 */
export function lineOf(
  spec: RunSpec,
  runId: string,
  parent: { readonly spec: RunSpec; readonly line: BudgetLine } | null,
  accountOf: (key: string) => BudgetAccount,
): BudgetLine {
  const outer = parent === null || spec.budget?.own === true ? [] : parent.line;
  const isNarrowed = parent !== null && spec.is_subagent && isBelow(spec, parent.spec);
  if (spec.is_subagent && parent !== null && !isNarrowed) return parent.line;
  const key = isNarrowed ? `${OF_RUN}${runId}` : agentKey(spec);
  const known = outer.find((share) => share.key === key);
  // What stands above the run and was narrowed is in its line: its agent's account is held to its agent's limits.
  const limits = isNarrowed ? spec.budget : (spec.budget?.agent ?? spec.budget);
  const actionsMax = limits?.actions_per_hour_max ?? NO_LIMIT;
  const cents = limits?.cost_per_day_max_cents ?? NO_LIMIT;
  if (known !== undefined && known.actionsMax <= actionsMax && known.cents <= cents) return outer;
  return [...outer, { key, account: accountOf(key), actionsMax, cents, spec, isNarrowed }];
}

/** Inline definitions have no id of their own: they are told apart by the risk profile that sets their limits. */
function agentKey({ agent_id, raw, risk_profile }: RunSpec): string {
  return raw ? `inline:${risk_profile}` : agent_id;
}

/** Before the id of the one run that an account is for. */
export const OF_RUN = 'run:';

function who({ key, spec, isNarrowed }: BudgetShare): string {
  return isNarrowed ? `sub-agent ${key.slice(OF_RUN.length)}` : `agent '${spec.agent_id}'`;
}

/** What the limits are keys of, as a person would write it. */
function where({ spec, isNarrowed }: BudgetShare): string {
  if (isNarrowed) return 'policy of its spawn_subagent call';
  return spec.risk_profile === ''
    ? `default risk profile; name one in [agents.${spec.agent_id}].risk_profile`
    : `[risk_profiles.${spec.risk_profile}]`;
}

function isBelow({ budget: own }: RunSpec, { budget: parent }: RunSpec): boolean {
  if (own === undefined) return false;
  return (
    own.actions_per_hour_max < (parent?.actions_per_hour_max ?? NO_LIMIT) ||
    own.cost_per_day_max_cents < (parent?.cost_per_day_max_cents ?? NO_LIMIT)
  );
}

/** Accounts of a line, each once: a charge counts once in each. */
function* accountsIn(line: BudgetLine): Generator<BudgetAccount> {
  for (const [at, { account }] of line.entries()) {
    if (line.findIndex((other) => other.account === account) === at) yield account;
  }
}

/** All or nothing: promises `n` actions in every account of the line, or says which has no room. */
export function reserveActions(line: BudgetLine, n: number, nowMs: number): BudgetRefusal | null {
  for (const share of line) {
    if (!share.account.actions.fits(n, share.actionsMax, nowMs)) return noActions(share, n, nowMs);
  }
  for (const account of accountsIn(line)) account.actions.reserve(n);
  return null;
}

export function giveBackActions(line: BudgetLine, n: number): void {
  if (n === 0) return;
  for (const account of accountsIn(line)) account.actions.giveBack(n);
}

export function chargeAction(line: BudgetLine, atMs: number): void {
  for (const account of accountsIn(line)) account.actions.charge(atMs);
}

export function spendCents(line: BudgetLine, cents: number, atMs: number): void {
  for (const account of accountsIn(line)) account.spend.add(cents, atMs);
}

/** SPEC R3: why no further request may be made, `null` where one may. What a request will cost is known only after it. */
export function overspent(line: BudgetLine, nowMs: number, unrecorded = 0): BudgetRefusal | null {
  for (const share of line) {
    const cents = share.account.spend.cents(nowMs) + unrecorded;
    if (cents >= share.cents) return noMoney(share, cents, nowMs);
  }
  return null;
}

function noActions(share: BudgetShare, n: number, nowMs: number): BudgetRefusal {
  const { account, actionsMax: max } = share;
  const begun = account.actions.inUse(nowMs) - account.actions.reserved;
  const waiting = account.actions.reserved === 0 ? '' : `, ${account.actions.reserved} more wait`;
  const wanted = n === 1 ? '' : ` ${n} are needed at once.`;
  const limit = `(max_actions_per_hour = ${max}, ${where(share)})`;
  const until = account.actions.freesAt(n, max, nowMs);
  const never = n > max ? 'No wait allows so many' : 'It frees once those that wait are through';
  const frees = max === 0 ? NONE : until === null ? `${never}.` : freesAt(until, nowMs);
  const words = `Rate limit exceeded: action budget exhausted. ${who(share)} has used ${begun} of ${max} actions in the last hour${waiting} ${limit}.${wanted} ${frees}`;
  return { errorType: 'action_budget', words };
}

function noMoney(share: BudgetShare, cents: number, nowMs: number): BudgetRefusal {
  const { cents: max } = share;
  const spent = Math.round(cents * 10_000) / 10_000;
  const limit = `(max_cost_per_day_cents = ${max}, ${where(share)})`;
  const words = `Cost budget exhausted: ${who(share)} has spent ${spent} of ${max} cents today, a day of UTC ${limit}. ${max === 0 ? NONE : freesAt(dayEnd(nowMs), nowMs)}`;
  return { errorType: 'cost_budget', words };
}

const NONE = '0 allows none: raise it to allow any.';

function freesAt(atMs: number, nowMs: number): string {
  return `It frees at ${utcText(atMs)}, in ${Math.ceil((atMs - nowMs) / 1000)} s.`;
}
