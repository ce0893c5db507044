import { isTerminal, type JournalEvent, TERMINAL_TYPES } from './core/event.ts';
import { evolveRun } from './core/run-evolve.ts';
import { pendingRun, queuedLaunches, type RunState, runningChildren } from './core/run-state.ts';
import type { Journal } from './journal.ts';
import { machineEvent } from './run-views.ts';

/** A run as the journal has it. */
export interface RecoveredRun {
  readonly state: RunState;
  readonly parentRunId: string | null;
  readonly parentEventId: string | null;
}

/** Ids of roots that began and have no end, in the order in which they began. */
export async function unfinishedRoots(journal: Pick<Journal, 'read'>): Promise<readonly string[]> {
  const open = new Set<string>();
  for await (const event of journal.read({ types: ['run.started', ...TERMINAL_TYPES] })) {
    if (event.parent_run_id !== null) continue;
    if (isTerminal(event.type)) open.delete(event.run_id);
    else open.add(event.run_id);
  }
  return [...open];
}

/** Every run of a tree as the fold of its events, parents before children. */
export async function readTree(
  journal: Pick<Journal, 'read'>,
  rootId: string,
): Promise<readonly RecoveredRun[]> {
  const runs = new Map<string, { state: RunState; readonly first: JournalEvent }>();
  for await (const event of journal.read({ subtreeOf: rootId })) {
    const seen = runs.get(event.run_id) ?? { state: pendingRun(event.run_id), first: event };
    seen.state = evolveRun(seen.state, machineEvent(event));
    runs.set(event.run_id, seen);
  }
  return [...runs.values()].map(({ state, first }) => ({
    state,
    parentRunId: first.parent_run_id,
    parentEventId: first.parent_event_id,
  }));
}

/** What a run takes of the runs that its root may launch: its children, and what was granted and has not begun. */
export function launchesOf(state: RunState): number {
  return state.children.length + (state.ended === null ? queuedLaunches(state) : 0);
}

/** A run that has ended and whose parent has not recorded that. */
export function isAwaited(runId: string, parent: RunState | undefined): boolean {
  if (parent === undefined || parent.ended !== null) return false;
  return runningChildren(parent).some((child) => child.runId === runId);
}
