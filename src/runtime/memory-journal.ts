import type { JsonObject } from '../base/json.ts';
import type { JournalEvent } from './core/event.ts';
import type { EventFilter, Journal } from './journal.ts';
import { unwritable } from './journal-fault.ts';
import { type Batch, JournalQueue } from './journal-queue.ts';
import { isWanted } from './journal-select.ts';

/** A journal that lives as long as its object: for tests, simulation and hosts that keep nothing. */
export interface MemoryJournal extends Journal {
  /** Everything committed so far, as it would be read back. */
  readonly committed: readonly JournalEvent[];
  /** From now on nothing is committed until `release`; what is appended waits, as for a slow disk. */
  hold(): void;
  release(): void;
  /** Fails as a full disk does: what is held and all that follows is never committed. */
  fail(why: string): void;
}

export interface MemoryJournalOptions {
  /** What an earlier journal had committed; `seq` from 1 without a gap. */
  readonly events?: readonly JournalEvent[];
}

interface Line {
  readonly event: JournalEvent;
  readonly data: string;
}

export function createMemoryJournal(options: MemoryJournalOptions = {}): MemoryJournal {
  const lines: Line[] = (options.events ?? []).map((event) => ({
    event,
    data: JSON.stringify(event.data),
  }));
  const waiting: Batch[] = [];
  let held = false;
  const commit = (batch: Batch): void => {
    batch.events.forEach((event, at) => {
      lines.push({ event, data: batch.lines[at] ?? '{}' });
    });
    queue.committed(lines.length);
  };
  const queue = new JournalQueue((batch) => {
    if (held) waiting.push(batch);
    else commit(batch);
  });
  const release = (): void => {
    held = false;
    for (const batch of waiting.splice(0)) commit(batch);
  };
  let closing: Promise<void> | null = null;
  queue.startAfter(lines.length);
  return {
    get lastSeq() {
      return queue.lastSeq;
    },
    get committed() {
      return lines.map(readBack);
    },
    append: (events) => queue.append(events),
    read: (filter = {}) => readLines(queue, lines, filter),
    subscribe: (listener) => queue.subscribe(listener),
    onFailure: (listener) => queue.onFailure(listener),
    flush: () => queue.flush(),
    close: () => {
      queue.close();
      release();
      closing ??= queue.flush();
      return closing;
    },
    hold: () => {
      held = true;
    },
    release,
    fail: (why) => {
      waiting.length = 0;
      queue.fail(unwritable('(in memory)', why));
    },
  };
}

async function* readLines(
  queue: JournalQueue,
  lines: readonly Line[],
  filter: EventFilter,
): AsyncGenerator<JournalEvent, void, undefined> {
  const upTo = queue.lastGiven;
  await queue.flush().catch(() => {});
  queue.assertOpen();
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (let at = filter.afterSeq ?? 0; at < Math.min(upTo, lines.length) && left > 0; at += 1) {
    const line = lines[at];
    if (line === undefined || !isWanted(filter, line.event)) continue;
    left -= 1;
    yield readBack(line);
    queue.assertOpen();
  }
}

/** A fresh object each time: nobody can change what was recorded. */
function readBack({ event, data }: Line): JournalEvent {
  return { ...event, data: JSON.parse(data) as JsonObject };
}
