// What the runs of this host may still do and spend (SPEC X2, S5, R10): an account an agent, the line of accounts that each
// run draws from, and what each run was promised. It owns all of them; supervisors tell it what they record.
// I1  An action is promised when its call is judged, in every account of the line at once or in none, on one thread: two
//     runs never get the last one.
// I2  A promise becomes a charge with the event that begins the action (a tool's `tool.started`, a child's `run.started`),
//     once; what does not begin is given back, at the latest with the end of the run that it was promised to.
// I3  In every account the charges of the last hour and the promises are together no more than the limit that the last
//     promise was made under, so no hour holds more actions than that.
// I4  Accounts are what the journal says of the last hour and of the day: a new host begins with them
//     (`budget-recall.ts`) and asks anew for what had been promised and had not begun (`regain`).
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { BudgetAccount, dayEnd, dayOf } from './core/budget.ts';
import {
  type BudgetLine,
  type BudgetRefusal,
  chargeAction,
  giveBackActions,
  lineOf,
  OF_RUN,
  overspent,
  reserveActions,
  spendCents,
} from './core/budget-line.ts';
import type { ProjectConfig } from './core/config.ts';
import { isTerminal } from './core/event.ts';
import {
  type Actions,
  actionsFreed,
  actionsOf,
  beginsAction,
  promisedCalls,
} from './core/run-actions.ts';
import type { RefusedCall } from './core/run-command.ts';
import type { CallVerdict, RunEvent, RunEventData } from './core/run-event.ts';
import { launchesUnderWay } from './core/run-launches.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { RunState } from './core/run-state.ts';
import { utcText } from './core/utc-time.ts';
import type { RecoveredRun } from './unfinished-runs.ts';

/** What a run draws from, and what it was promised of it. */
interface Purse {
  readonly spec: RunSpec;
  readonly line: BudgetLine;
  launches: number;
  tools: number;
  /** Of these, for calls of an answer that is not recorded yet. */
  judged: Actions;
  /** Its last delegate or task. */
  heir: { readonly spec: RunSpec; readonly line: BudgetLine } | null;
}

const NONE: Actions = { launches: 0, tools: 0 };

export class Budgets {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, BudgetAccount>();
  readonly #purses = new Map<string, Purse>();
  /** Root runs of a day of UTC, by project. */
  readonly #roots = new Map<string, { day: number; count: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Promised and not begun, over all runs: 0 where none goes on. */
  get promised(): number {
    let sum = 0;
    for (const { launches, tools } of this.#purses.values()) sum += launches + tools;
    return sum;
  }

  account(key: string): BudgetAccount {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = new BudgetAccount();
      this.#accounts.set(key, account);
    }
    return account;
  }

  dropAccount(key: string): void {
    this.#accounts.delete(key);
  }

  /** A run begins or is taken up again, after the one that launched it. */
  open(runId: string, spec: RunSpec, parentRunId: string | null): void {
    const parent = parentRunId === null ? null : (this.#purses.get(parentRunId) ?? null);
    const line = this.#lineOf(runId, spec, parent);
    this.#purses.set(runId, { spec, line, launches: 0, tools: 0, judged: NONE, heir: null });
  }

  /** Children that begin alike draw from the same line. */
  #lineOf(runId: string, spec: RunSpec, parent: Purse | null): BudgetLine {
    const heir = parent?.heir ?? null;
    const isAlike = heir?.spec.budget === spec.budget && heir?.spec.agent_id === spec.agent_id;
    if (heir !== null && isAlike && !spec.is_subagent) return heir.line;
    const line = lineOf(spec, runId, parent, (key) => this.account(key));
    if (parent !== null && !spec.is_subagent) parent.heir = { spec, line };
    return line;
  }

  /** I4. Every run of trees that are taken up again, ended ones too, parents before children. */
  recover(runs: readonly RecoveredRun[]): void {
    for (const { state, parentRunId } of runs) {
      if (state.spec !== null) this.open(state.runId, state.spec, parentRunId);
    }
    for (const { state } of runs) if (state.ended !== null) this.forget(state.runId);
  }

  /** Nothing more comes from this run. */
  forget(runId: string): void {
    const purse = this.#purses.get(runId);
    if (purse === undefined) return;
    giveBack(purse, purse);
    this.#purses.delete(runId);
  }

  /** No run of this tree goes on: accounts that sub-agents of it had for themselves go with it. */
  forgetTree(root: string): void {
    for (const key of this.#accounts.keys()) {
      if (key.startsWith(`${OF_RUN}${root}/`)) this.dropAccount(key);
    }
  }

  /** I1. @returns why a call may not act, `null` where what it asks for is now promised to its run. */
  promise(runId: string, verdict: CallVerdict): BudgetRefusal | null {
    const purse = this.#purses.get(runId);
    const actions = actionsOf(verdict);
    if (purse === undefined || actions.launches + actions.tools === 0) return null;
    const refusal =
      (actions.launches > 0 ? overspent(purse.line, this.#clock.now()) : null) ??
      this.#reserve(purse, actions);
    if (refusal === null) purse.judged = sum(purse.judged, actions);
    return refusal;
  }

  /** SPEC R3: why this run may make no further request. */
  overspent(runId: string, unrecorded: number): BudgetRefusal | null {
    const purse = this.#purses.get(runId);
    return purse === undefined ? null : overspent(purse.line, this.#clock.now(), unrecorded);
  }

  /**
   * A child is about to be launched: `resolve` says as what. The first run of a task was promised with its plan; a run
   * that a reviewer's remarks make necessary was not, nor was what could not be promised again after a crash.
   * @throws Fault `run.limit` where nothing is left for it; whatever `resolve` throws.
   */
  launching<Spec>(runId: string, isRework: boolean, resolve: () => Spec): Spec {
    const purse = this.#purses.get(runId);
    if (purse !== undefined && (isRework || purse.launches === 0)) this.#claim(purse);
    try {
      return resolve();
    } catch (thrown) {
      this.dropLaunch(runId);
      throw thrown;
    }
  }

  /** What was claimed or promised for a child that will not begin. */
  dropLaunch(runId: string): void {
    const purse = this.#purses.get(runId);
    if (purse !== undefined) giveBack(purse, { launches: 1, tools: 0 });
  }

  /**
   * I4. Promises anew what a run that is taken up again had been promised; children and tasks that get nothing ask again
   * when they are launched. `unbegun`: children that it had admitted and that had not begun.
   * @returns the calls for which nothing is left.
   */
  regain(state: RunState, unbegun: number): readonly RefusedCall[] {
    const purse = this.#purses.get(state.runId);
    if (purse === undefined || state.stopping !== null) return [];
    for (let left = unbegun + launchesUnderWay(state); left > 0; left -= 1) {
      if (this.#reserve(purse, { launches: 1, tools: 0 }) !== null) break;
    }
    return promisedCalls(state).flatMap(({ index, actions }) => {
      const refusal = this.#reserve(purse, actions);
      return refusal === null ? [] : [{ call: index, ...refusal }];
    });
  }

  /** I2. An event of a run was recorded. */
  recorded(
    { runId, parentRunId }: { readonly runId: string; readonly parentRunId: string | null },
    before: RunState,
    event: RunEvent,
    atMs: number,
  ): void {
    const purse = this.#purses.get(runId);
    if (purse === undefined) return;
    switch (event.type) {
      case 'run.started':
        this.#began(event.data, parentRunId, atMs);
        return;
      case 'model.completed':
        answered(purse, event.data, atMs);
        return;
      case 'tool.started':
        if (beginsAction(before, event)) charge(purse, { launches: 0, tools: 1 }, atMs);
        return;
      case 'tool.failed':
      case 'plan.completed':
        giveBack(purse, actionsFreed(before, event));
        return;
      default:
        if (isTerminal(event.type)) giveBack(purse, purse);
    }
  }

  countRoot(project: string, atMs: number): void {
    const count = this.#rootsOn(project, atMs);
    this.#roots.set(project, { day: dayOf(atMs), count: count + 1 });
  }

  /** SPEC R10. @throws Fault `project.quota` where this project has had all its root runs of today. */
  admitRoot(projects: ReadonlyMap<string, ProjectConfig>, id: string | null): void {
    const project = id === null ? undefined : projects.get(id);
    if (project === undefined || project.dailyRuns === null) return;
    const now = this.#clock.now();
    const max = project.dailyRuns;
    const count = this.#rootsOn(project.id, now);
    if (count < max) return;
    const frees = utcText(dayEnd(now));
    const until =
      max === 0
        ? '0 allows none: raise it to allow any'
        : `it frees at ${frees}, in ${Math.ceil((dayEnd(now) - now) / 1000)} s`;
    throw new Fault(
      'project.quota',
      `project '${project.id}' has started ${count} of ${max} root runs today, a day of UTC ([projects.${project.id}] daily_runs = ${max}); ${until}`,
      { retry: 'safe', detail: { project: project.id, daily_runs: max, frees_at: frees } },
    );
  }

  /** An action of the run that launched it, or a root of its project. */
  #began(spec: RunSpec, parentRunId: string | null, atMs: number): void {
    const parent = parentRunId === null ? undefined : this.#purses.get(parentRunId);
    if (parent !== undefined) charge(parent, { launches: 1, tools: 0 }, atMs);
    else if (parentRunId === null && spec.project !== null) this.countRoot(spec.project, atMs);
  }

  #rootsOn(project: string, nowMs: number): number {
    const roots = this.#roots.get(project);
    return roots?.day === dayOf(nowMs) ? roots.count : 0;
  }

  #claim(purse: Purse): void {
    const refusal =
      overspent(purse.line, this.#clock.now()) ?? this.#reserve(purse, { launches: 1, tools: 0 });
    if (refusal === null) return;
    const { words, errorType } = refusal;
    throw new Fault('run.limit', words, { detail: { error_type: errorType } });
  }

  /** I3. */
  #reserve(purse: Purse, actions: Actions): BudgetRefusal | null {
    const { launches, tools } = actions;
    const refusal = reserveActions(purse.line, launches + tools, this.#clock.now());
    if (refusal !== null) return refusal;
    purse.launches += launches;
    purse.tools += tools;
    return null;
  }
}

/** What was judged and became nothing of its own (a repetition within the answer) is given back. */
function answered(purse: Purse, data: RunEventData<'model.completed'>, atMs: number): void {
  if (data.cost_cents !== null) spendCents(purse.line, data.cost_cents, atMs);
  if (purse.judged === NONE) return;
  const { launches, tools } = data.calls.reduce(
    (all, { verdict }) => sum(all, actionsOf(verdict)),
    NONE,
  );
  const { judged } = purse;
  purse.judged = NONE;
  giveBack(purse, {
    launches: Math.max(0, judged.launches - launches),
    tools: Math.max(0, judged.tools - tools),
  });
}

function charge(purse: Purse, actions: Actions, atMs: number): void {
  giveBack(purse, actions);
  chargeAction(purse.line, atMs);
}

/** Never more than it holds: what could not be promised again after a crash has nothing to give back. */
function giveBack(purse: Purse, actions: Actions): void {
  const launches = Math.min(actions.launches, purse.launches);
  const tools = Math.min(actions.tools, purse.tools);
  purse.launches -= launches;
  purse.tools -= tools;
  giveBackActions(purse.line, launches + tools);
}

function sum(left: Actions, right: Actions): Actions {
  return { launches: left.launches + right.launches, tools: left.tools + right.tools };
}
