import type { Budgets } from './budgets.ts';
import { DAY_MS, dayOf, HOUR_MS } from './core/budget.ts';
import { type BudgetLine, chargeAction, lineOf, OF_RUN, spendCents } from './core/budget-line.ts';
import type { JournalEvent } from './core/event.ts';
import { rootOf } from './core/run-id.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { Journal } from './journal.ts';
import { unfinishedRoots } from './unfinished-runs.ts';

type Reader = Pick<Journal, 'read' | 'lastSeq'>;

interface Known {
  readonly spec: RunSpec;
  readonly line: BudgetLine;
}

/** What charges an account. */
const COUNTED = ['run.started', 'tool.started', 'model.completed'];

/** Events of the journal in which what a clock that was set back has hidden is looked for, at a time. */
const LOOK_BACK = 2000;

/** Tools whose calls are charged by the runs that they launch. */
const LAUNCHERS = ['delegate', 'plan', 'spawn_subagent'];

/**
 * Fills the accounts with what the journal says of the last hour and of the day so far, so that no new host begins with
 * full ones. Reads that part alone, found by its time; before anything starts.
 * @throws Fault `journal.corrupt`.
 */
export async function recallBudgets(
  budgets: Budgets,
  journal: Reader,
  nowMs: number,
): Promise<void> {
  const sinceMs = Math.min(nowMs - HOUR_MS, dayOf(nowMs) * DAY_MS);
  const since = new Date(Math.max(0, sinceMs)).toISOString();
  const afterSeq = await noneEarlier(journal, await lastBefore(journal, since), since);
  const runs = new KnownRuns(budgets, journal);
  for await (const event of journal.read({ afterSeq, types: COUNTED })) {
    const run = await runs.of(event);
    if (run !== null) recall(budgets, runs, run, event);
  }
  await runs.dropGone();
}

function recall(
  budgets: Budgets,
  runs: KnownRuns,
  { spec, line }: Known,
  { type, data, ts, parent_run_id: parent }: JournalEvent,
): void {
  const atMs = Date.parse(ts);
  if (type === 'run.started') {
    if (parent !== null) chargeAction(runs.lineOf(parent), atMs);
    else if (spec.project !== null) budgets.countRoot(spec.project, atMs);
  } else if (type === 'tool.started') {
    const isLaunch = LAUNCHERS.includes(String(data['name']));
    if (!isLaunch && data['effect_class'] !== 'read') chargeAction(line, atMs);
  } else if (typeof data['cost_cents'] === 'number') {
    spendCents(line, data['cost_cents'], atMs);
  }
}

/** The runs whose events are counted, and those above them, which may have begun long before. */
class KnownRuns {
  readonly #budgets: Budgets;
  readonly #journal: Reader;
  readonly #runs = new Map<string, Known>();

  constructor(budgets: Budgets, journal: Reader) {
    this.#budgets = budgets;
    this.#journal = journal;
  }

  lineOf(runId: string): BudgetLine {
    return this.#runs.get(runId)?.line ?? [];
  }

  /** The run of an event; `null` where its record is not in the journal. */
  async of(event: JournalEvent): Promise<Known | null> {
    const known = this.#runs.get(event.run_id);
    if (known !== undefined) return known;
    return event.type === 'run.started' ? this.#begun(event) : this.#read(event.run_id);
  }

  /** Accounts that sub-agents had for themselves go with their trees, of which a background run may still go on. */
  async dropGone(): Promise<void> {
    const own = [...this.#runs].filter(([id, { line }]) => line.at(-1)?.key === `${OF_RUN}${id}`);
    if (own.length === 0) return;
    const unfinished = new Set(await unfinishedRoots(this.#journal));
    for (const [runId] of own) {
      if (!unfinished.has(rootOf(runId))) this.#budgets.dropAccount(`${OF_RUN}${runId}`);
    }
  }

  async #read(runId: string): Promise<Known | null> {
    for await (const event of this.#journal.read({ runId, types: ['run.started'], limit: 1 })) {
      return this.#begun(event);
    }
    return null;
  }

  async #begun({ run_id: runId, parent_run_id: above, data }: JournalEvent): Promise<Known> {
    const spec = data as unknown as RunSpec;
    const parent = above === null ? null : (this.#runs.get(above) ?? (await this.#read(above)));
    const line = lineOf(spec, runId, parent, (key) => this.#budgets.account(key));
    const known = { spec, line };
    this.#runs.set(runId, known);
    return known;
  }
}

/** Position of the last event before this time, by halves: the journal is in the order of time but for set-back clocks. */
async function lastBefore(journal: Reader, since: string): Promise<number> {
  let before = 0;
  let from = journal.lastSeq + 1;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    let ts = since;
    for await (const event of journal.read({ afterSeq: middle - 1, limit: 1 })) ts = event.ts;
    if (ts < since) before = middle;
    else from = middle;
  }
  return before;
}

/** Where a clock was set back events of later times stand before this place. Looked for as far as there are some. */
async function noneEarlier(journal: Reader, place: number, since: string): Promise<number> {
  const afterSeq = Math.max(0, place - LOOK_BACK);
  for await (const event of journal.read({ afterSeq, types: COUNTED, limit: LOOK_BACK })) {
    if (event.seq > place) break;
    if (event.ts >= since) return noneEarlier(journal, event.seq - 1, since);
  }
  return place;
}
