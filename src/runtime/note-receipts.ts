import type { JournalEvent } from './core/event.ts';
import type { Journal } from './journal.ts';

/** What became of a note in one of the runs it went to (SPEC N1). */
export interface NoteReceipt {
  readonly run_id: string;
  readonly outcome: 'read' | 'too_late' | 'dead_letter' | 'forward_failed';
  /** The turn that read it. */
  readonly turn: number | null;
}

/** Waits, for each note that is asked about, until every run it went to has a receipt in the journal. */
export class NoteReceipts {
  readonly #open = new Map<string, Tracked>();
  readonly #unsubscribe: () => void;
  readonly #unlisten: () => void;

  constructor(journal: Journal) {
    this.#unsubscribe = journal.subscribe((events) => {
      if (this.#open.size > 0) for (const event of events) this.#see(event);
    });
    this.#unlisten = journal.onFailure((fault) => this.#giveUp(fault));
  }

  /** Call in the tick in which the note is given, so that none of its events is missed. */
  track(noteId: string, firstRunId: string): Promise<readonly NoteReceipt[]> {
    return new Promise((resolve, reject) => {
      this.#open.set(noteId, { waiting: new Set([firstRunId]), receipts: [], resolve, reject });
    });
  }

  /** The note was not taken: nobody will answer it. */
  untrack(noteId: string): void {
    this.#open.delete(noteId);
  }

  /** Nobody will answer any more. */
  close(reason: Error): void {
    this.#unsubscribe();
    this.#unlisten();
    this.#giveUp(reason);
  }

  #giveUp(reason: Error): void {
    for (const { reject } of this.#open.values()) reject(reason);
    this.#open.clear();
  }

  #see(event: JournalEvent): void {
    const noteId = event.data['note_id'];
    if (typeof noteId !== 'string') return;
    const tracked = this.#open.get(noteId);
    if (tracked === undefined) return;
    if (event.type === 'run.user_note') {
      for (const runId of textsOf(event.data['forwarded_to'])) tracked.waiting.add(runId);
      for (const run_id of textsOf(event.data['forward_failed'])) {
        tracked.receipts.push({ run_id, outcome: 'forward_failed', turn: null });
      }
      return;
    }
    if (!event.type.startsWith('note.') || !tracked.waiting.delete(event.run_id)) return;
    const turn = event.data['turn'];
    tracked.receipts.push({
      run_id: event.run_id,
      outcome: event.type.slice('note.'.length) as NoteReceipt['outcome'],
      turn: typeof turn === 'number' ? turn : null,
    });
    if (tracked.waiting.size > 0) return;
    this.#open.delete(noteId);
    tracked.resolve(tracked.receipts);
  }
}

interface Tracked {
  readonly waiting: Set<string>;
  readonly receipts: NoteReceipt[];
  readonly resolve: (receipts: readonly NoteReceipt[]) => void;
  readonly reject: (reason: Error) => void;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === 'string')
    : [];
}
