import type { Budgets } from './budgets.ts';
import { DAY_MS, dayOf, HOUR_MS } from './core/budget.ts';
import { type BudgetLine, chargeAction, lineOf, spendCents } from './core/budget-line.ts';
import { type JournalEvent, TERMINAL_TYPES } from './core/event.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { Journal } from './journal.ts';

type Reader = Pick<Journal, 'read' | 'lastSeq'>;

interface Known {
  readonly spec: RunSpec;
  readonly line: BudgetLine;
}

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
  const afterSeq = await lastBefore(journal, new Date(Math.max(0, sinceMs)).toISOString());
  const runs = new Map<string, Known>();
  const types = ['run.started', 'tool.started', 'model.completed'];
  for await (const event of journal.read({ afterSeq, types })) {
    const run = await runOf(budgets, journal, runs, event.run_id);
    if (run !== null) recall(budgets, runs, run, event);
  }
  await dropEnded(budgets, journal, runs);
}

function recall(
  budgets: Budgets,
  runs: ReadonlyMap<string, Known>,
  { spec, line }: Known,
  { type, data, ts, parent_run_id: parent }: JournalEvent,
): void {
  const atMs = Date.parse(ts);
  if (type === 'run.started') {
    if (parent !== null) chargeAction(runs.get(parent)?.line ?? [], atMs);
    else if (spec.project !== null) budgets.countRoot(spec.project, atMs);
  } else if (type === 'tool.started') {
    const isLaunch = LAUNCHERS.includes(String(data['name']));
    if (!isLaunch && data['effect_class'] !== 'read') chargeAction(line, atMs);
  } else if (typeof data['cost_cents'] === 'number') {
    spendCents(line, data['cost_cents'], atMs);
  }
}

/** A run, and those above it, which may have begun long before. `null` where its record is not there. */
async function runOf(
  budgets: Budgets,
  journal: Reader,
  runs: Map<string, Known>,
  runId: string,
): Promise<Known | null> {
  const known = runs.get(runId);
  if (known !== undefined) return known;
  for await (const event of journal.read({ runId, types: ['run.started'], limit: 1 })) {
    const spec = event.data as unknown as RunSpec;
    const above = event.parent_run_id;
    const parent = above === null ? null : await runOf(budgets, journal, runs, above);
    const made = { spec, line: lineOf(spec, runId, parent, (key) => budgets.account(key)) };
    runs.set(runId, made);
    return made;
  }
  return null;
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

/** Accounts of sub-agents that were narrowed end with them. */
async function dropEnded(
  budgets: Budgets,
  journal: Reader,
  runs: ReadonlyMap<string, Known>,
): Promise<void> {
  for (const [runId, { line }] of runs) {
    const key = `run:${runId}`;
    if (!line.some((share) => share.key === key)) continue;
    for await (const _end of journal.read({ runId, types: TERMINAL_TYPES, limit: 1 })) {
      budgets.dropAccount(key);
    }
  }
}
