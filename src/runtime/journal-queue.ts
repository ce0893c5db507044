import { Fault } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import type { Appended, CommitListener, FailureListener, NewEvent } from './journal.ts';

/**
 * Owns what was appended and is not committed yet, the next `seq`, and who is told what. Everything here runs on the
 * thread of its journal's owner.
 *
 * Q1. `seq` is given in the order of `append` calls, without a gap; a list is taken whole or not at all.
 * Q2. One batch gathers what one tick appends; batches are sent, committed and announced in order.
 * Q3. A batch is announced once, after its commit, and never after a failure.
 * Q4. The first failure is the only one: it rejects all that is pending and all that comes later.
 */
export class JournalQueue {
  #lastCommitted = 0;
  #lastGiven = 0;
  #open: Batch | null = null;
  readonly #sent: Batch[] = [];
  #closed = false;
  #failed: { readonly fault: Fault; readonly rejection: Promise<void> } | null = null;
  readonly #send: (batch: Batch) => void;
  readonly #atTickEnd: (fn: () => void) => void;
  readonly #commitListeners = new Set<CommitListener>();
  readonly #failureListeners = new Set<FailureListener>();

  /**
   * `send` hands a batch to what commits it; it answers by `committed` or `fail`. `atTickEnd` calls a function once the
   * tick is over, which decides how much a batch gathers.
   */
  constructor(send: (batch: Batch) => void, atTickEnd: (fn: () => void) => void = queueMicrotask) {
    this.#send = send;
    this.#atTickEnd = atTickEnd;
  }

  /** Continues after `seq`; before the first append only. */
  startAfter(seq: number): void {
    this.#lastCommitted = seq;
    this.#lastGiven = seq;
  }

  get lastSeq(): number {
    return this.#lastCommitted;
  }

  /** Position of the last event appended, committed or not. */
  get lastGiven(): number {
    return this.#lastGiven;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** @throws Fault `journal.closed` */
  assertOpen(): void {
    if (this.#closed) {
      throw new Fault('journal.closed', 'the journal is closed; open it again, or read its file');
    }
  }

  get failure(): Fault | null {
    return this.#failed?.fault ?? null;
  }

  /** Nothing waits for a commit. */
  get idle(): boolean {
    return this.#open === null && this.#sent.length === 0;
  }

  append(events: readonly NewEvent[]): Appended {
    this.assertOpen();
    const lines = events.map(lineOf);
    let seq = this.#lastGiven;
    const numbered = events.map((event) => {
      seq += 1;
      return withSeq(seq, event);
    });
    this.#lastGiven = seq; // Q1
    if (this.#failed !== null) return { events: numbered, durable: this.#failed.rejection };
    if (numbered.length === 0) return { events: numbered, durable: Promise.resolve() };
    const batch = this.#openBatch(seq - numbered.length + 1);
    for (const event of numbered) batch.events.push(event);
    for (const line of lines) batch.lines.push(line);
    return { events: numbered, durable: batch.durable };
  }

  /** Sends what this tick has gathered so far. */
  send(): void {
    const batch = this.#open;
    if (batch === null || this.#failed !== null) return;
    this.#open = null;
    this.#sent.push(batch);
    this.#send(batch);
  }

  /** Everything up to `seq` is committed. */
  committed(seq: number): void {
    for (let batch = this.#sent[0]; batch !== undefined; batch = this.#sent[0]) {
      const last = batch.firstSeq + batch.events.length - 1;
      if (last > seq || this.#failed !== null) return;
      this.#sent.shift();
      this.#lastCommitted = last;
      batch.settle(null);
      for (const listener of [...this.#commitListeners]) {
        if (this.#commitListeners.has(listener)) callSafely(listener, batch.events); // Q3
      }
    }
  }

  fail(fault: Fault): void {
    if (this.#failed !== null) return; // Q4
    const rejection = Promise.reject(fault);
    rejection.catch(ignore);
    this.#failed = { fault, rejection };
    const pending = this.#open === null ? this.#sent : [...this.#sent, this.#open];
    for (const batch of pending) batch.settle(fault);
    this.#sent.length = 0;
    this.#open = null;
    for (const listener of this.#failureListeners) callSafely(listener, fault);
    this.#failureListeners.clear();
  }

  flush(): Promise<void> {
    if (this.#failed !== null) return this.#failed.rejection;
    const last = this.#open ?? this.#sent.at(-1);
    return last === undefined ? Promise.resolve() : last.durable;
  }

  /** Sends the rest and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.send();
  }

  subscribe(listener: CommitListener): () => void {
    const own: CommitListener = (events) => listener(events);
    this.#commitListeners.add(own);
    return () => void this.#commitListeners.delete(own);
  }

  onFailure(listener: FailureListener): () => void {
    const own: FailureListener = (fault) => listener(fault);
    const failed = this.#failed;
    this.#failureListeners.add(own);
    if (failed !== null) {
      queueMicrotask(() => {
        if (this.#failureListeners.delete(own)) own(failed.fault);
      });
    }
    return () => void this.#failureListeners.delete(own);
  }

  #openBatch(firstSeq: number): Batch {
    if (this.#open !== null) return this.#open;
    this.#open = newBatch(firstSeq);
    this.#atTickEnd(() => this.send()); // Q2
    return this.#open;
  }
}

/** What one tick appended. */
export interface Batch {
  readonly firstSeq: number;
  readonly events: JournalEvent[];
  /** `data` of each event as JSON text, which escapes NUL and lone surrogates. */
  readonly lines: string[];
  readonly durable: Promise<void>;
  settle(fault: Fault | null): void;
}

function newBatch(firstSeq: number): Batch {
  const { promise, resolve, reject } = withResolvers();
  promise.catch(ignore);
  return {
    firstSeq,
    events: [],
    lines: [],
    durable: promise,
    settle: (fault) => (fault === null ? resolve() : reject(fault)),
  };
}

function withResolvers() {
  let resolve: () => void = ignore;
  let reject: (fault: Fault) => void = ignore;
  const promise = new Promise<void>((onDone, onFault) => {
    resolve = onDone;
    reject = onFault;
  });
  return { promise, resolve, reject };
}

function withSeq(seq: number, event: NewEvent): JournalEvent {
  return {
    seq,
    event_id: event.event_id,
    run_id: event.run_id,
    parent_run_id: event.parent_run_id,
    parent_event_id: event.parent_event_id,
    frame_id: event.frame_id,
    ts: event.ts,
    type: event.type,
    v: event.v,
    data: event.data,
  };
}

/** The event's `data` as text. Texts of faults name the event, never what it holds (SPEC C6). */
function lineOf(event: NewEvent): string {
  ordinalOf(event);
  if (event.line !== undefined) return event.line;
  let line: string | undefined;
  try {
    line = JSON.stringify(event.data);
  } catch (error) {
    throw unrecordable(event, `its data cannot be written as JSON (${kindOf(error)})`);
  }
  if (line === undefined || !line.startsWith('{')) {
    throw unrecordable(event, 'its data is not a JSON object');
  }
  return line;
}

/** n of `<run_id>#<n>` (SPEC J1). */
export function ordinalOf(event: NewEvent): number {
  const { event_id, run_id } = event;
  const n = Number(event_id.slice(run_id.length + 1));
  if (
    !Number.isSafeInteger(n) ||
    n < 1 ||
    !event_id.startsWith(run_id) ||
    event_id[run_id.length] !== '#'
  ) {
    throw unrecordable(event, `its event_id must be "${run_id}#<n>" with n from 1`);
  }
  return n;
}

function unrecordable(event: NewEvent, why: string): Fault {
  return new Fault(
    'argument.invalid',
    `event ${event.event_id} (${event.type}) cannot be journaled: ${why}`,
    { detail: { event_id: event.event_id, type: event.type } },
  );
}

/** A class of error, without its text: V8 quotes the keys of a circular value in it. */
function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** A listener that throws is a defect of its own, loud but alone. */
function callSafely<Args extends readonly unknown[]>(
  listener: (...args: Args) => void,
  ...args: Args
): void {
  try {
    listener(...args);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function ignore(): void {}
