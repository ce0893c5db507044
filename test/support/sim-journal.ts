import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { Appended, EventFilter, Journal, NewEvent } from '../../src/runtime/journal.ts';
import { createMemoryJournal, type MemoryJournal } from '../../src/runtime/memory-journal.ts';

/** The memory journal on a disk that is sometimes slow. */
export class SimJournal implements Journal {
  readonly #journal: MemoryJournal;
  readonly #stall: (release: () => void) => boolean;
  #given: number;
  #held = false;
  #frozen = false;

  /** `stall` says whether an append has to wait; it calls `release` later if so. */
  constructor(events: readonly JournalEvent[], stall: (release: () => void) => boolean) {
    this.#journal = createMemoryJournal({ events });
    this.#given = events.length;
    this.#stall = stall;
  }

  get lastSeq(): number {
    return this.#journal.lastSeq;
  }

  /** Position of the last event appended, committed or not. */
  get lastGiven(): number {
    return this.#given;
  }

  get committed(): readonly JournalEvent[] {
    return this.#journal.committed;
  }

  append(events: readonly NewEvent[]): Appended {
    if (!this.#held && !this.#frozen) {
      this.#held = this.#stall(() => this.#release());
      if (this.#held) this.#journal.hold();
    }
    const appended = this.#journal.append(events);
    this.#given = appended.events.at(-1)?.seq ?? this.#given;
    return appended;
  }

  /** Nothing is committed any more. */
  freeze(): void {
    this.#frozen = true;
    this.#journal.hold();
  }

  /** As a full disk does. */
  fail(why: string): void {
    this.#journal.fail(why);
  }

  read(filter?: EventFilter): AsyncIterable<JournalEvent> {
    return this.#journal.read(filter);
  }

  subscribe(listener: (events: readonly JournalEvent[]) => void): () => void {
    return this.#journal.subscribe(listener);
  }

  onFailure(listener: Parameters<Journal['onFailure']>[0]): () => void {
    return this.#journal.onFailure(listener);
  }

  flush(): Promise<void> {
    return this.#journal.flush();
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  #release(): void {
    this.#held = false;
    if (!this.#frozen) this.#journal.release();
  }
}
