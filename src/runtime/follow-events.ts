import type { Fault } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type { EventFilter, Journal } from './journal.ts';

/**
 * Events that fit the filter, first those that are there and then those to come, in order, until `isLast` says so. Pulls
 * from the journal page by page, so a slow reader costs no memory. Ends quietly where `signal` aborts.
 * @throws Fault `journal.unwritable` after everything that was committed, where the journal has failed.
 */
export async function* followEvents(
  journal: Journal,
  filter: EventFilter,
  isLast: (event: JournalEvent) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<JournalEvent, void, undefined> {
  const bell = new Bell();
  const unsubscribe = journal.subscribe(() => bell.ring());
  let failure: Fault | null = null;
  const unlisten = journal.onFailure((fault) => {
    failure = fault;
    bell.ring();
  });
  const stop = () => bell.ring();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    let afterSeq = filter.afterSeq ?? 0;
    while (signal?.aborted !== true) {
      const seen = journal.lastSeq;
      for await (const event of journal.read({ ...filter, afterSeq })) {
        afterSeq = event.seq;
        yield event;
        if (isLast(event)) return;
      }
      if (journal.lastSeq > Math.max(seen, afterSeq)) continue;
      if (failure !== null) throw failure;
      await bell.rung();
    }
  } finally {
    unsubscribe();
    unlisten();
    signal?.removeEventListener('abort', stop);
  }
}

/** Remembers one ring that nobody waited for. */
class Bell {
  #wake: (() => void) | null = null;
  #pending = false;

  ring(): void {
    if (this.#wake === null) {
      this.#pending = true;
      return;
    }
    this.#wake();
    this.#wake = null;
  }

  rung(): Promise<void> {
    if (this.#pending) {
      this.#pending = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
