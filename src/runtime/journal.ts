import type { Fault } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';

/** An event before the journal gave it its place. */
export interface NewEvent extends Omit<JournalEvent, 'seq'> {
  /** `data` as JSON text, where whoever appends it has that already. */
  readonly line?: string;
}

export interface Appended {
  /** The same events with their `seq`; a place counts only once `durable` has resolved. */
  readonly events: readonly JournalEvent[];
  /**
   * Resolves once these events are committed; rejects with `journal.unwritable` if they could not be. Shared by every
   * append of one tick. May be left alone: it never becomes an unhandled rejection.
   */
  readonly durable: Promise<void>;
}

/** What to read; every condition given must hold. Nothing given = everything. */
export interface EventFilter {
  readonly runId?: string | undefined;
  /** This run and every run below it: `R` and whatever starts with `R/`. */
  readonly subtreeOf?: string | undefined;
  readonly types?: readonly string[] | undefined;
  /** Only events after this position. */
  readonly afterSeq?: number | undefined;
  /** At most so many events, the earliest. */
  readonly limit?: number | undefined;
}

export type CommitListener = (events: readonly JournalEvent[]) => void;
export type FailureListener = (fault: Fault) => void;

/** The append-only log of every run (SPEC J1–J4). One owner writes it; anyone may read it. */
export interface Journal {
  /** Position of the last committed event that listeners were told of; 0 = none. */
  readonly lastSeq: number;

  /**
   * Gives each event its `seq` at once, in the order given, and commits them in that order. All or nothing: an event
   * that cannot be recorded throws `argument.invalid` and none of the list is taken. After the first failed commit
   * nothing is committed any more and every `durable` rejects with that same fault.
   * @throws Fault `journal.closed` after `close`.
   */
  append(events: readonly NewEvent[]): Appended;

  /**
   * Committed events by `seq`: everything appended before the call, and nothing that was appended after it began.
   * Still answers after a failure, with what had been committed.
   * @throws Fault `journal.corrupt` after what precedes the damage (SPEC J8); `journal.closed`.
   */
  read(filter?: EventFilter): AsyncIterable<JournalEvent>;

  /**
   * Called with each batch after its commit, in order, from now on. The returned function takes it back and may be
   * called twice. What a listener throws reaches the process as an uncaught exception, not the other listeners.
   */
  subscribe(listener: CommitListener): () => void;

  /** Called once, with the fault that ended all writing; soon, if that has happened already. */
  onFailure(listener: FailureListener): () => void;

  /** Resolves once everything appended before the call is committed; rejects as `durable` does. */
  flush(): Promise<void>;

  /**
   * Commits everything and lets go of the file. The second call returns the first one's promise. Rejects with the
   * journal's fault if it failed at any time; the file is let go of all the same.
   */
  close(): Promise<void>;
}
