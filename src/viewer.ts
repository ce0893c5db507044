/** What a state directory tells without its host: read-only, beside one or without one (SPEC J6, K2). */
import { existsSync } from 'node:fs';
import { Fault } from './base/fault.ts';
import { APPROVAL_BOOK_TYPES, ApprovalBook } from './runtime/core/approval-book.ts';
import { type JournalEvent, TERMINAL_TYPES } from './runtime/core/event.ts';
import { rootOf } from './runtime/core/run-id.ts';
import { CRON_TYPES } from './runtime/cron-history.ts';
import type { EventFilter } from './runtime/journal.ts';
import { openJournalReader, structureFault } from './runtime/journal-reader.ts';
import { noSuchRun, type RunSummary, type RunTreeView, RunViews } from './runtime/run-views.ts';
import { stateLayout } from './runtime/state-dir.ts';
import { walFault } from './runtime/wal-fault.ts';

export type { RunSummary, RunTreeView };

/** What could be read, and what ended the reading before the journal's end (SPEC J8). */
export interface Seen<Value> {
  readonly value: Value;
  readonly damage: Fault | null;
}

export interface Viewer {
  /** Every run, in the order in which they began. `alsoTo` is shown the events that tell of them. */
  runs(alsoTo?: (event: JournalEvent) => void): Seen<readonly RunSummary[]>;
  /** The ids of all runs, in that order. */
  runIds(): Seen<readonly string[]>;
  /** A run and everything below it. @throws Fault `run.not-found`. */
  tree(runId: string): Seen<RunTreeView>;
  /** In the order of the journal. @throws Fault `journal.corrupt` after what precedes the damage. */
  events(filter?: EventFilter): Iterable<JournalEvent>;
  /** Every request for an approval, and what became of it. */
  approvals(): Seen<ApprovalBook>;
  close(): void;
}

/** The events that tell how a run stands; what it said and did in between can be long. */
const SUMMARY_TYPES = ['turn.started', ...CRON_TYPES, ...TERMINAL_TYPES];

/** @throws Fault `argument.invalid` if nothing has run with this state directory; `sqlite.absent`. */
export function openViewer(stateDir: string): Viewer {
  const reader = openJournalReader(stateLayout(stateDir).journalFile);
  const fold = (filter: EventFilter, alsoTo?: (event: JournalEvent) => void): Seen<RunViews> => {
    const views = newFold();
    const damage = readAll(reader.read(filter), (event) => {
      views.see(event);
      alsoTo?.(event);
    });
    return { value: views, damage };
  };
  return {
    runs: (alsoTo) => {
      const { value, damage } = fold({ types: SUMMARY_TYPES }, alsoTo);
      return { value: value.summaries(), damage };
    },
    runIds: () => {
      const ids: string[] = [];
      const started = reader.read({ types: ['run.started'] });
      const damage = readAll(started, (event) => ids.push(event.run_id));
      return { value: ids, damage };
    },
    tree: (runId) => {
      const { value, damage } = fold({ subtreeOf: runId });
      const view = value.tree(runId);
      if (view !== undefined) return { value: view, damage };
      throw damage ?? noSuchRun(runId);
    },
    events: (filter) => reader.read(filter),
    approvals: () => {
      const book = new ApprovalBook();
      const read = reader.read({ types: APPROVAL_BOOK_TYPES });
      return { value: book, damage: readAll(read, (event) => book.see(event)) };
    },
    close: () => reader.close(),
  };
}

/**
 * Roots that began and have no end, or below which a background run has none, the oldest first; none where nothing ever
 * ran. They may be live in a host.
 */
export function unfinishedIn(stateDir: string): Seen<readonly string[]> {
  if (!existsSync(stateLayout(stateDir).journalFile)) return { value: [], damage: null };
  const viewer = openViewer(stateDir);
  try {
    const { value, damage } = viewer.runs();
    const open = value.filter((run) => run.ended_at === null);
    const roots = new Set(open.map((run) => rootOf(run.run_id)));
    return { value: value.map((run) => run.run_id).filter((id) => roots.has(id)), damage };
  } finally {
    viewer.close();
  }
}

/** Why nothing may be taken up from this state directory, though nothing seems to be unfinished. */
export function damageIn(stateDir: string): Fault | null {
  const { journalFile } = stateLayout(stateDir);
  return existsSync(journalFile) ? (walFault(journalFile) ?? structureFault(journalFile)) : null;
}

/** An empty view to feed events to, in `seq` order. */
export function newFold(): RunViews {
  return new RunViews();
}

function readAll(
  events: Iterable<JournalEvent>,
  take: (event: JournalEvent) => void,
): Fault | null {
  try {
    for (const event of events) take(event);
    return null;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
}
