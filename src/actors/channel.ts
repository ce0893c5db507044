/**
 * A MessagePort that carries arrays of bodies. It owns the port it is given and the order of what goes through it.
 *
 * I1 Bodies arrive in the order they were sent, across batches too.
 * I2 Bodies sent in one turn of the loop travel as one array, posted at its end.
 * I3 A body costs at most itself: a `receive` that throws, or a body that cannot be cloned, loses no other body.
 * I4 What arrives is received for a millisecond at a time; between two slices the loop takes its turn.
 */
import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads';
import { Fault, messageOf } from '../base/fault.ts';
import { surface } from './surfacing.ts';

/** Bounds what one channel keeps from everything else on its thread; a body that takes longer by itself is not cut. */
const SLICE_MS = 1;

export interface Channel<Out> {
  /** Queues `body`. After `close` it is dropped: the other side is gone or going. */
  send(body: Out, transfer?: readonly TransferListItem[]): void;
  /** Posts what is queued now, not at the end of this turn of the loop. */
  flush(): void;
  /** Receives, synchronously, everything that has already arrived: how a dead thread's last words are read. */
  drain(): void;
  /** The port no longer keeps its thread alive. */
  unref(): void;
  /** Posts what is queued, then closes the port for both sides. The second time does nothing. */
  close(): void;
}

export interface ChannelEvents<Out> {
  /**
   * `body` cannot be cloned; `fault` (`channel.lost`) says why. What this returns goes in its place. Without it the
   * fault surfaces like a `receive` that throws.
   */
  readonly unsent?: (body: Out, fault: Fault) => Out | undefined;
  /** `receive` threw. Without it the thrown value surfaces as an uncaught exception, after the batch. */
  readonly failed?: (thrown: unknown) => void;
}

/** `receive` gets each body in order, never within the call of `openChannel` itself. */
export function openChannel<In, Out>(
  port: MessagePort,
  receive: (body: In) => void,
  events: ChannelEvents<Out> = {},
): Channel<Out> {
  return new BatchedPort(port, receive, events);
}

class BatchedPort<In, Out> implements Channel<Out> {
  readonly #port: MessagePort;
  readonly #receive: (body: In) => void;
  readonly #events: ChannelEvents<Out>;
  #queued: Out[] = [];
  /** By position in `#queued`. */
  #transfers: Map<number, readonly TransferListItem[]> | undefined;
  #scheduled = false;
  /** What has arrived and was not received yet, from `#received` on. */
  #arrived: readonly In[] = [];
  #received = 0;
  #closed = false;

  constructor(port: MessagePort, receive: (body: In) => void, events: ChannelEvents<Out>) {
    this.#port = port;
    this.#receive = receive;
    this.#events = events;
    port.on('message', (batch: readonly In[]) => this.#arrive(batch));
    port.on('messageerror', (thrown: unknown) => this.#failed(thrown));
  }

  send(body: Out, transfer?: readonly TransferListItem[]): void {
    if (this.#closed) return;
    this.#queued.push(body);
    if (transfer !== undefined && transfer.length > 0) {
      this.#transfers ??= new Map();
      this.#transfers.set(this.#queued.length - 1, transfer);
    }
    this.#schedule(); // I2
  }

  flush(): void {
    if (this.#queued.length === 0) return;
    const bodies = this.#queued;
    const transfers = this.#transfers;
    this.#queued = [];
    this.#transfers = undefined;
    try {
      this.#port.postMessage(bodies, transfers && [...transfers.values()].flat());
    } catch {
      for (const [at, body] of bodies.entries()) this.#postAlone(body, transfers?.get(at)); // I3
    }
  }

  drain(): void {
    this.#receiveUntil(Number.POSITIVE_INFINITY);
    for (;;) {
      const arrived = receiveMessageOnPort(this.#port);
      if (arrived === undefined) return;
      this.#arrived = arrived.message;
      this.#receiveUntil(Number.POSITIVE_INFINITY);
    }
  }

  unref(): void {
    this.#port.unref();
  }

  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    this.#port.close();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  #arrive(batch: readonly In[]): void {
    if (this.#arrived.length > 0) {
      this.#arrived = [...this.#arrived.slice(this.#received), ...batch]; // I1
      this.#received = 0;
      return;
    }
    this.#arrived = batch;
    this.#receiveSlice();
  }

  /** I4. */
  #receiveSlice(): void {
    this.#receiveUntil(performance.now() + SLICE_MS);
    if (this.#arrived.length > 0) setImmediate(() => this.#receiveSlice());
  }

  #receiveUntil(endMs: number): void {
    while (this.#received < this.#arrived.length) {
      const body = this.#arrived[this.#received] as In;
      this.#received += 1;
      try {
        this.#receive(body);
      } catch (thrown) {
        this.#failed(thrown); // I3
      }
      if (performance.now() > endMs) break;
    }
    if (this.#received === this.#arrived.length) {
      this.#arrived = [];
      this.#received = 0;
    }
  }

  #postAlone(body: Out, transfer: readonly TransferListItem[] | undefined): void {
    try {
      this.#port.postMessage([body], transfer && [...transfer]);
    } catch (thrown) {
      const substitute = this.#unsent(body, unclonable(thrown));
      if (substitute !== undefined) this.#port.postMessage([substitute]); // I1: in its place
    }
  }

  #unsent(body: Out, fault: Fault): Out | undefined {
    if (this.#events.unsent === undefined) {
      this.#failed(fault);
      return undefined;
    }
    return this.#events.unsent(body, fault);
  }

  #failed(thrown: unknown): void {
    if (this.#events.failed === undefined) surface(thrown);
    else this.#events.failed(thrown);
  }
}

function unclonable(thrown: unknown): Fault {
  return new Fault(
    'channel.lost',
    `a message cannot cross to another thread: ${messageOf(thrown)}; send plain data only`,
    { cause: thrown },
  );
}
