import { isTerminal, type JournalEvent } from './runtime/core/event.ts';
import type { Usage } from './runtime/core/model.ts';
import type { ChildOutcome, RunStatusEnded } from './runtime/core/run-event.ts';
import type { Effect } from './runtime/core/tool.ts';
import type { NoteReceipt } from './runtime/note-receipts.ts';

/** How a run ended (SPEC section 13). */
export interface RunOutcome {
  readonly runId: string;
  readonly status: RunStatusEnded;
  /** The final answer; for an incomplete run its last words; else empty. */
  readonly answer: string;
  readonly turns: number;
  /** Of the run and everything below it; `null` where a model did not say. */
  readonly usage: Usage;
  /** Cents, of the run and everything below it; `null` where tokens or a price are unknown. */
  readonly cost: number | null;
  /** What the run and everything below it left outside. */
  readonly effect: Effect;
  readonly error?: { readonly code: string; readonly message: string };
  /** Why an incomplete or cancelled run ended. */
  readonly reason?: string;
}

/** A note on its way. */
export interface SentNote {
  readonly noteId: string;
  /** Resolves once every run that the note went to has read it, ended before, or lost it (SPEC N1). */
  readonly receipts: Promise<readonly NoteReceipt[]>;
}

export type CancelAnswer = 'cancelled' | 'already stopping' | 'already ended';

/** A run of this host. */
export interface Run {
  readonly id: string;
  /**
   * What is journaled of the run, or of it and everything below it, from its beginning to its end, each event after it
   * is durable. May be iterated any number of times.
   */
  events(options?: { readonly subtree?: boolean }): AsyncIterable<JournalEvent>;
  /**
   * Hands the run a note; it reads it at its next turn and forwards it to children that are running.
   * @throws Fault `run.ended` if the run has ended; `mailbox.full`; `argument.invalid` for an empty text or one of more
   * than 64,000 characters.
   */
  note(text: string): Promise<SentNote>;
  /**
   * Stops the run and everything below it; resolves once all of it has stopped. Calling it again, or on a run that has
   * ended, is harmless and says so.
   * @throws Fault `argument.invalid` if the reason is no text of at most 4,000 characters.
   */
  cancel(reason?: string): Promise<CancelAnswer>;
  /**
   * Resolves once the run has ended and its end is durable, whatever the status: a failed run is an outcome.
   * @throws Fault `journal.unwritable` if its end could not be recorded.
   */
  result(): Promise<RunOutcome>;
}

export function runOutcome(outcome: ChildOutcome): RunOutcome {
  const { error_type: code, error, reason } = outcome;
  return {
    runId: outcome.child_run_id,
    status: outcome.status,
    answer: outcome.answer,
    turns: outcome.turns,
    usage: outcome.usage,
    cost: outcome.cost_cents,
    effect: outcome.effect,
    ...(error === null ? {} : { error: { code: code ?? 'failed', message: error } }),
    ...(reason === null ? {} : { reason }),
  };
}

/** The last event of an iteration over `runId`: its own end, not a child's. */
export function endsRun(runId: string): (event: JournalEvent) => boolean {
  return (event) => event.run_id === runId && isTerminal(event.type);
}
