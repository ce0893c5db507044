import { type AuditDesk, type AuditedEvent, type AuditedRun, expectThat } from './audit-run.ts';
import type { BudgetLimits, RunSpec } from './run-spec.ts';
import { utcMs } from './utc-time.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Calls that are charged by the runs they launch. */
const LAUNCHERS = ['delegate', 'plan', 'spawn_subagent'];

/** Past so many actions those of more than an hour ago are put away. */
const ACTIONS_KEPT = 4096;

interface Account {
  /** Moments of actions, each with the limit that its run was held to. */
  actions: { readonly ms: number; readonly max: number }[];
  day: number;
  cents: number;
}

interface Share {
  readonly key: string;
  readonly account: Account;
  readonly actionsMax: number;
  readonly centsMax: number;
}

/**
 * SPEC X2, S5: what every agent and all below it did in an hour and spent in a day, against the limits in the records of the
 * runs that did it. Where the clock was set back nothing that came before is held against what comes after.
 */
export class BudgetAudit {
  readonly #accounts = new Map<string, Account>();
  readonly #lines = new Map<string, readonly Share[]>();
  #lastMs = 0;

  /** An event of a run that can be judged. */
  see(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
    const ms = utcMs(event.at.ts);
    if (ms === null) return;
    if (ms < this.#lastMs) for (const account of this.#accounts.values()) account.actions = [];
    this.#lastMs = ms;
    switch (event.type) {
      case 'run.started':
        this.#begin(desk, run, event.data);
        if (run.parentRunId !== null) this.#act(desk, run.parentRunId, event, ms);
        return;
      case 'tool.started':
        if (event.data.effect_class === 'read' || LAUNCHERS.includes(event.data.name)) return;
        this.#act(desk, run.runId, event, ms);
        return;
      case 'turn.started':
        this.#ask(desk, run.runId, event, ms);
        return;
      case 'model.completed':
        this.#spend(run.runId, event.data.cost_cents ?? 0, ms);
        return;
      default:
    }
  }

  #begin(desk: AuditDesk, run: AuditedRun, spec: RunSpec): void {
    const above = run.parentRunId === null ? [] : (this.#lines.get(run.parentRunId) ?? []);
    const caller = desk.runs.get(run.parentRunId ?? '')?.spec?.budget;
    const isNarrowed =
      spec.is_subagent && (isBelow(spec.budget, caller, 0) || isBelow(spec.budget, caller, 1));
    const [actionsMax, centsMax] = maxima(
      isNarrowed ? spec.budget : (spec.budget?.agent ?? spec.budget),
    );
    const agent = spec.raw ? `inline:${spec.risk_profile}` : spec.agent_id;
    const outer = spec.budget?.own === true ? [] : above;
    const key = isNarrowed ? `run:${run.runId}` : agent;
    const share = { key, account: this.#account(key), actionsMax, centsMax };
    this.#lines.set(run.runId, spec.is_subagent && !isNarrowed ? outer : [...outer, share]);
  }

  #account(key: string): Account {
    const account = this.#accounts.get(key) ?? { actions: [], day: 0, cents: 0 };
    this.#accounts.set(key, account);
    return account;
  }

  /** Each account once, with the least that its run is held to there. */
  #shares(runId: string): Iterable<Share> {
    const shares = new Map<string, Share>();
    for (const share of this.#lines.get(runId) ?? []) {
      const known = shares.get(share.key);
      shares.set(share.key, {
        ...share,
        actionsMax: Math.min(share.actionsMax, known?.actionsMax ?? Number.POSITIVE_INFINITY),
        centsMax: Math.min(share.centsMax, known?.centsMax ?? Number.POSITIVE_INFINITY),
      });
    }
    return shares.values();
  }

  #act(desk: AuditDesk, runId: string, { at }: AuditedEvent, ms: number): void {
    for (const { key, account, actionsMax: max } of this.#shares(runId)) {
      account.actions.push({ ms, max });
      const { length } = account.actions;
      if (length <= max && length % ACTIONS_KEPT > 0) continue;
      account.actions = account.actions.filter((each) => each.ms > ms - HOUR_MS);
      const count = account.actions.length;
      // Under two configurations there are two limits: whoever asked last was held to one of them.
      const most = account.actions.reduce((top, each) => Math.max(top, each.max), 0);
      const words = `it is action ${count} of '${key}' within an hour, of ${most}`;
      expectThat(count <= most, desk, 'budget-exceeded', at, words);
    }
  }

  #ask(desk: AuditDesk, runId: string, { at }: AuditedEvent, ms: number): void {
    for (const { key, account, centsMax } of this.#shares(runId)) {
      const cents = dayOf(ms) === account.day ? account.cents : 0;
      const words = `a turn begins although '${key}' has spent ${cents} of ${centsMax} cents that day`;
      expectThat(cents < centsMax, desk, 'budget-exceeded', at, words);
    }
  }

  #spend(runId: string, cents: number, ms: number): void {
    for (const { account } of this.#shares(runId)) {
      if (dayOf(ms) !== account.day) account.cents = 0;
      account.day = dayOf(ms);
      account.cents += cents;
    }
  }
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function maxima(limits: BudgetLimits | undefined): readonly [number, number] {
  const none = Number.POSITIVE_INFINITY;
  return [limits?.actions_per_hour_max ?? none, limits?.cost_per_day_max_cents ?? none];
}

function isBelow(one: BudgetLimits | undefined, other: BudgetLimits | undefined, axis: 0 | 1) {
  return maxima(one)[axis] < maxima(other)[axis];
}
