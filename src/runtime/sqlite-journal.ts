import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { type Fault, fromWire, messageOf } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type {
  Appended,
  CommitListener,
  EventFilter,
  FailureListener,
  Journal,
  NewEvent,
} from './journal.ts';
import { packCells } from './journal-cells.ts';
import { unwritable } from './journal-fault.ts';
import { type Batch, JournalQueue, ordinalOf } from './journal-queue.ts';
import { type JournalReader, openJournalReader } from './journal-reader.ts';
import type { Cell } from './journal-schema.ts';
import type { FromWriter, JournalWriterOptions, ToWriter } from './journal-writer.ts';

/*
 * Owns the journal's thread, the port to it and a reading connection on the thread it was opened on.
 *
 * H1. Whatever ends the thread (exit, uncaught error, out of memory) is judged after its port is drained: a commit that
 *     it managed to say counts, and what is still pending then fails, once.
 * H2. The process stays alive while something waits for a commit, and is kept alive by nothing else here.
 * H3. The reading connection holds nothing between two pages of a read, so it blocks no checkpoint; it outlives no close.
 */

export interface SqliteJournalOptions {
  /** Path of the database; its directory must exist. */
  readonly file: string;
  /** What the journal's thread runs: the bundled `src/threads/journal.ts`. */
  readonly entry: URL;
  /** `full` (default) survives a power cut, `normal` a process crash (SPEC J3). */
  readonly sync?: 'full' | 'normal';
  /** Pages of 4 KiB that the file may grow to; absent = what the disk holds. */
  readonly pagesMax?: number;
}

/**
 * Opens the journal, or makes it, and continues its `seq`.
 * @throws Fault `journal.corrupt`, `journal.unwritable`, `sqlite.absent`, `argument.invalid` (not a journal).
 */
export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  const journal = new SqliteJournal(options);
  await journal.ready;
  return journal;
}

class SqliteJournal implements Journal {
  readonly ready: Promise<void>;
  readonly #file: string;
  readonly #queue: JournalQueue;
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #settleReady: (fault: Fault | null) => void = () => {};
  #threadError = '';
  #reader: JournalReader | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: SqliteJournalOptions) {
    this.#file = options.file;
    this.#queue = new JournalQueue((batch) => this.#post(batch), atTurnEnd);
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = (fault) => (fault === null ? resolve() : reject(fault));
    });
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: JournalWriterOptions = {
      port: port2,
      file: options.file,
      sync: options.sync ?? 'full',
      pagesMax: options.pagesMax ?? null,
    };
    this.#worker = new Worker(options.entry, {
      name: 'troupe-journal',
      workerData,
      transferList: [port2],
      execArgv: [],
      // What it holds lives for one commit; more room for that is only kept, never used again.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
      // This thread has no business with keys (SPEC C6).
      env: {},
    });
    this.#port.on('message', (message: FromWriter) => this.#hear(message));
    this.#worker.on('error', (error) => {
      this.#threadError = `: ${messageOf(error)}`;
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#threadGone(code);
        resolve();
      });
    });
    this.#worker.unref();
  }

  get lastSeq(): number {
    return this.#queue.lastSeq;
  }

  append(events: readonly NewEvent[]): Appended {
    return this.#queue.append(events);
  }

  async *read(filter: EventFilter = {}): AsyncGenerator<JournalEvent, void, undefined> {
    const upToSeq = this.#queue.lastGiven;
    // After a failure what had been committed is still there to read.
    await this.#queue.flush().catch(() => {});
    this.#queue.assertOpen();
    this.#reader ??= openJournalReader(this.#file, { salvage: false });
    for (const page of this.#reader.pages(filter, upToSeq)) {
      yield* page;
      await nextLoopTurn();
      this.#queue.assertOpen(); // H3
    }
  }

  subscribe(listener: CommitListener): () => void {
    return this.#queue.subscribe(listener);
  }

  onFailure(listener: FailureListener): () => void {
    return this.#queue.onFailure(listener);
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#queue.close();
    this.#reader?.close();
    this.#reader = null;
    this.#worker.ref();
    this.#tell({ kind: 'close' });
    await this.#ended;
    const { failure } = this.#queue;
    if (failure !== null) throw failure;
  }

  #post(batch: Batch): void {
    const cells: Cell[] = [];
    batch.events.forEach((event, at) => {
      cells.push(event.run_id, ordinalOf(event), event.parent_run_id, event.parent_event_id);
      cells.push(event.frame_id, event.ts, event.type, event.v, batch.lines[at] ?? '{}');
    });
    this.#port.ref(); // H2
    this.#tell({ kind: 'rows', firstSeq: batch.firstSeq, cells: packCells(cells) });
  }

  #tell(message: ToWriter): void {
    this.#port.postMessage(message);
  }

  #hear(message: FromWriter): void {
    switch (message.kind) {
      case 'ready':
        this.#queue.startAfter(message.lastSeq);
        this.#settleReady(null);
        break;
      case 'committed':
        this.#queue.committed(message.seq);
        break;
      case 'failed':
        this.#fail(fromWire(message.fault));
        break;
      case 'closed':
        break;
    }
    if (this.#queue.idle) this.#port.unref(); // H2
  }

  #threadGone(code: number): void {
    for (;;) {
      const left = receiveMessageOnPort(this.#port); // H1
      if (left === undefined) break;
      this.#hear(left.message as FromWriter);
    }
    this.#port.close();
    const orderly = this.#queue.closed && this.#queue.idle;
    if (!orderly) {
      const how = `its thread ended${this.#threadError} (exit code ${code})`;
      this.#fail(unwritable(this.#file, how));
    }
  }

  #fail(fault: Fault): void {
    this.#settleReady(fault);
    this.#queue.fail(fault);
  }
}

/**
 * After all that this turn of the loop brought: what eight children said at once is one post and one commit, not eight
 * posts and a second commit behind the first.
 */
function atTurnEnd(fn: () => void): void {
  setImmediate(fn);
}
