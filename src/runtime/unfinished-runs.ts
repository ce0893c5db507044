import { isTerminal, type JournalEvent, TERMINAL_TYPES } from './core/event.ts';
import { evolveRun } from './core/run-evolve.ts';
import { rootOf } from './core/run-id.ts';
import { grantedLaunches } from './core/run-launches.ts';
import { pendingRun, type RunState, runningChildren } from './core/run-state.ts';
import type { Journal } from './journal.ts';
import { machineEvent } from './run-views.ts';

/** A run as the journal has it. */
export interface RecoveredRun {
  readonly state: RunState;
  readonly parentRunId: string | null;
  readonly parentEventId: string | null;
  /** RFC 3339; `null` = it has no end. */
  readonly endedAt: string | null;
}

/**
 * Ids of roots that began and have no end, or below which a background run has none (SPEC D9), in the order in which they
 * began. `onTask` is told of every background run that has ended.
 */
export async function unfinishedRoots(
  journal: Pick<Journal, 'read'>,
  onTask: (run: RecoveredRun) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  const roots = new Set<string>();
  const open = new Map<string, JournalEvent>();
  for await (const event of journal.read({ types: ['run.started', ...TERMINAL_TYPES] })) {
    const { run_id: runId, parent_run_id: parent } = event;
    if (!isTerminal(event.type)) {
      if (parent === null) roots.add(runId);
      if (parent === null || event.data['background'] !== undefined) open.set(runId, event);
      continue;
    }
    const first = open.get(runId);
    open.delete(runId);
    if (first !== undefined && parent !== null) await onTask(runOf(first, event));
  }
  const unfinished = new Set([...open.keys()].map(rootOf));
  return [...roots].filter((root) => unfinished.has(root));
}

function runOf(first: JournalEvent, end: JournalEvent): RecoveredRun {
  return {
    state: [first, end].map(machineEvent).reduce(evolveRun, pendingRun(first.run_id)),
    parentRunId: first.parent_run_id,
    parentEventId: first.parent_event_id,
    endedAt: end.ts,
  };
}

/** Every run of a tree as the fold of its events, parents before children. */
export async function readTree(
  journal: Pick<Journal, 'read'>,
  rootId: string,
): Promise<readonly RecoveredRun[]> {
  const runs = new Map<
    string,
    { state: RunState; readonly first: JournalEvent; last: JournalEvent }
  >();
  for await (const event of journal.read({ subtreeOf: rootId })) {
    const seen = runs.get(event.run_id) ?? {
      state: pendingRun(event.run_id),
      first: event,
      last: event,
    };
    seen.state = evolveRun(seen.state, machineEvent(event));
    seen.last = event;
    runs.set(event.run_id, seen);
  }
  return [...runs.values()].map(({ state, first, last }) => ({
    state,
    parentRunId: first.parent_run_id,
    parentEventId: first.parent_event_id,
    endedAt: state.ended === null ? null : last.ts,
  }));
}

/** What a run takes of the runs that its root may launch: its children, and what was granted and has not begun. */
export function launchesOf(state: RunState): number {
  return state.children.length + (state.ended === null ? grantedLaunches(state) : 0);
}

/** A run that has ended and whose parent has not recorded that. */
export function isAwaited(runId: string, parent: RunState | undefined): boolean {
  if (parent === undefined || parent.ended !== null) return false;
  return runningChildren(parent).some((child) => child.runId === runId);
}
