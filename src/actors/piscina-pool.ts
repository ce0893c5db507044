/**
 * A fixed number of warm threads, one task a thread. It owns the threads; what runs on them and what waits for them is
 * its caller's. The only file that knows piscina.
 *
 * I1 A task starts only on a thread that is free now. Nothing waits in piscina's own queue: that is neither bounded for
 *    tasks with a signal nor in order.
 * I2 A task has ended once its function has returned or its thread has really exited; never merely because piscina
 *    rejected, which an abort does while the thread still runs.
 * I3 A task is made of ports alone: what is posted on them before can fail to clone where its sender sees it, and what
 *    the task posts on them survives its thread, unlike a result.
 */
import type { MessagePort, ResourceLimits, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { messageOf } from '../base/fault.ts';

export type TaskEnd =
  | { readonly type: 'returned' }
  /** The task's function rejected, or the entry has none; the thread lives on. */
  | { readonly type: 'failed'; readonly detail: string }
  /** The thread has exited; `detail` says how. */
  | { readonly type: 'gone'; readonly detail: string };

export interface RunningTask {
  readonly threadId: number;
  readonly ended: Promise<TaskEnd>;
  /** Terminates the thread; another one takes its place. `ended` follows once it is gone. Harmless after the end. */
  kill(): void;
}

export interface ThreadPool {
  /** Threads that a task could start on right now. */
  free(): number;
  /** Starts the entry's default export with `ports`, which go to the thread. Only while `free() > 0`. */
  run(ports: Readonly<Record<string, MessagePort>>): RunningTask;
  threadIds(): number[];
  /** Terminates every thread and resolves once all are gone. Never rejects. */
  close(): Promise<void>;
}

export interface ThreadPoolOptions {
  readonly entry: URL;
  readonly threads: number;
  readonly resourceLimits?: ResourceLimits | undefined;
  /** Added to the niceness of the threads, where the system and the optional package for it allow; default 0. */
  readonly niceIncrement?: number | undefined;
  /** A thread has become free that was not before. */
  readonly onFree: () => void;
  /** A thread could not be started, and piscina starts no more of them by itself; or none is left. */
  readonly onBroken: (detail: string) => void;
}

interface Thread {
  readonly exited: Promise<string>;
}

export function openThreadPool(options: ThreadPoolOptions): ThreadPool {
  return new PiscinaThreads(options);
}

class PiscinaThreads implements ThreadPool {
  readonly #piscina: Piscina;
  readonly #threads = new Map<Worker, Thread>();
  readonly #onBroken: (detail: string) => void;
  #picked: number | undefined;
  #isClosing = false;

  constructor(options: ThreadPoolOptions) {
    this.#onBroken = options.onBroken;
    this.#piscina = new Piscina({
      filename: options.entry.href,
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: 'disabled',
      recordTiming: false,
      niceIncrement: options.niceIncrement ?? 0,
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
      loadBalancer: (_task, threads) => {
        const idle = threads.find((thread) => thread.currentUsage === 0);
        this.#picked = idle?.id;
        return idle ?? null;
      },
    });
    this.#piscina.on('error', (thrown: unknown) => options.onBroken(messageOf(thrown)));
    this.#piscina.on('workerCreate', () => {
      this.#watchThreads();
      // piscina says so just before it counts the thread as one that takes tasks.
      queueMicrotask(options.onFree);
    });
    this.#watchThreads();
  }

  free(): number {
    return this.#piscina.idleThreads;
  }

  run(ports: Readonly<Record<string, MessagePort>>): RunningTask {
    this.#picked = undefined;
    const abort = new AbortController();
    const transferList = Object.values(ports);
    const result: Promise<unknown> = this.#piscina.run(ports, {
      transferList,
      signal: abort.signal,
    });
    const worker = this.#piscina.threads.find((thread) => thread.threadId === this.#picked);
    if (worker === undefined) abort.abort(); // I1
    return {
      threadId: worker?.threadId ?? -1,
      ended: this.#endOf(result, worker, worker && this.#threads.get(worker)),
      // Not by the signal: piscina would start the next thread first, whose start keeps this one from its own end.
      kill: () => {
        if (worker !== undefined) void worker.terminate();
      },
    };
  }

  threadIds(): number[] {
    return this.#piscina.threads.map((thread) => thread.threadId);
  }

  /**
   * piscina waits only for the threads it has not removed yet, and starts new ones when a removed one exits after that;
   * so this waits for every thread ever seen, and goes on until none is left.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    do {
      this.#watchThreads();
      await this.#piscina.destroy();
      await Promise.all([...this.#threads.values()].map((thread) => thread.exited));
    } while (this.#piscina.threads.length > 0 || this.#threads.size > 0);
  }

  async #endOf(
    result: Promise<unknown>,
    worker: Worker | undefined,
    thread: Thread | undefined,
  ): Promise<TaskEnd> {
    try {
      await result;
      return { type: 'returned' };
    } catch (thrown) {
      if (worker === undefined || thread === undefined) {
        return { type: 'failed', detail: 'no thread was free' };
      }
      // piscina takes a dying thread off its list before it rejects.
      const dying = !this.#piscina.threads.includes(worker);
      if (!dying) return { type: 'failed', detail: messageOf(thrown) };
      return { type: 'gone', detail: await thread.exited }; // I2
    }
  }

  #watchThreads(): void {
    for (const worker of this.#piscina.threads) {
      if (!this.#threads.has(worker)) this.#watch(worker);
    }
  }

  #watch(worker: Worker): void {
    let cause: string | undefined;
    worker.on('error', (thrown: unknown) => {
      cause = messageOf(thrown);
    });
    const exited = new Promise<string>((resolve) => {
      worker.once('exit', (code) => {
        this.#threads.delete(worker);
        const detail = cause ?? `the thread exited with code ${code}`;
        resolve(detail);
        this.#watchThreads();
        // By now piscina has started a successor, unless an earlier one could not be loaded.
        if (!this.#isClosing && this.#piscina.threads.length === 0) this.#onBroken(detail);
      });
    });
    this.#threads.set(worker, { exited });
  }
}
