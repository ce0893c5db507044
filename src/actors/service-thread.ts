/**
 * A thread of its own for one purpose, such as writing the journal. It owns the thread; what is said on the port is its
 * caller's.
 *
 * I1 The port is not the worker's default one, which drops messages when the thread is terminated.
 * I2 `exited` resolves only after everything the thread posted on the port has been delivered, as long as the port is
 *    still here and somebody listens to it.
 */
import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  type TransferListItem,
  Worker,
} from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { Fault, toWire } from '../base/fault.ts';
import { settledWithin } from './bounded.ts';
import type { ExitReason } from './core/exit.ts';
import { systemClock } from './system-clock.ts';

export interface ServiceThreadOptions {
  /** The bundled thread entry; it calls `serveThread`. */
  readonly entry: URL;
  /** What `serveThread`'s function gets as its first argument. */
  readonly data: unknown;
  readonly transfer?: readonly TransferListItem[];
  /** Seen in debuggers and in error texts. */
  readonly name: string;
  readonly resourceLimits?: ResourceLimits;
  /** How long `close` waits for the thread to end by itself before it terminates it (default 5,000). */
  readonly closeTimeoutMs?: number;
  readonly clock?: Clock;
}

export interface ServiceThread {
  /** The near end of the channel that the thread's function got; what is posted before it listens waits. */
  readonly port: MessagePort;
  readonly threadId: number;
  /** `stopped` after `close`; `crashed` for an uncaught exception; `lost` for every other end but exit code 0. */
  readonly exited: Promise<ExitReason>;
  /** Asks the thread to end, terminates it when it does not in time. The same promise the second time; never rejects. */
  close(): Promise<void>;
}

/** What `serveThread` finds in its thread. */
export interface ServiceThreadData {
  readonly port: MessagePort;
  readonly data: unknown;
}

/** Starts the thread. Throws where `data` cannot be cloned. The thread keeps the process alive until it is closed. */
export function openServiceThread(options: ServiceThreadOptions): ServiceThread {
  return new OwnThread(options);
}

class OwnThread implements ServiceThread {
  readonly port: MessagePort;
  readonly threadId: number;
  readonly exited: Promise<ExitReason>;
  readonly #worker: Worker;
  readonly #options: ServiceThreadOptions;
  #crash: ExitReason | undefined;
  #isOverdue = false;
  #closing: Promise<void> | undefined;

  constructor(options: ServiceThreadOptions) {
    const { entry, data, transfer = [], name, resourceLimits } = options;
    const { port1, port2 } = new MessageChannel();
    const workerData: ServiceThreadData = { port: port2, data };
    this.#options = options;
    this.port = port1;
    const drained = new Promise<void>((resolve) => port1.once('close', () => resolve()));
    this.#worker = new Worker(entry, {
      workerData,
      transferList: [port2, ...transfer],
      name,
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
    this.threadId = this.#worker.threadId;
    this.#worker.on('error', (thrown: unknown) => {
      this.#crash = crashOf(name, thrown);
    });
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        const reason = this.#reasonOf(code);
        const isHeard = this.port.listenerCount('message') > 0;
        resolve(isHeard ? drained.then(() => reason) : reason); // I2
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { closeTimeoutMs = 5_000, clock = systemClock } = this.#options;
    this.#worker.postMessage('close');
    if (!(await settledWithin(this.exited, closeTimeoutMs, clock))) {
      this.#isOverdue = true;
      void this.#worker.terminate();
      await this.exited;
    }
    this.port.close();
  }

  #reasonOf(code: number): ExitReason {
    if (this.#crash !== undefined) return this.#crash;
    const { name, closeTimeoutMs = 5_000 } = this.#options;
    if (this.#isOverdue) {
      const detail = `thread "${name}" did not end within ${closeTimeoutMs} ms and was terminated`;
      return { type: 'lost', detail };
    }
    if (this.#closing !== undefined && code === 0) return { type: 'stopped', reason: 'closed' };
    if (code === 0) return { type: 'normal' };
    return { type: 'lost', detail: `thread "${name}" exited with code ${code}` };
  }
}

function crashOf(name: string, thrown: unknown): ExitReason {
  const fault = toWire(thrown, 'actor.crashed');
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { type: 'lost', detail: `thread "${name}" ran out of memory: ${fault.message}` };
  }
  const named = new Fault(fault.code, `thread "${name}" crashed: ${fault.message}`);
  return { type: 'crashed', fault: toWire(named) };
}
