/**
 * Jobs on threads of their own. It owns the queue, the running jobs and the order in which each is cancelled.
 *
 * I1 Jobs start in the order of their `run` calls, only on a free thread; what waits, waits here and is counted here.
 * I2 A job leaves the pool when it settles (`compute-job.ts`), and only then does its place count as free.
 */
import { Fault, toWire } from '../base/fault.ts';
import { settledWithin } from './bounded.ts';
import { ComputeJob, type JobTiming, reasonOf } from './compute-job.ts';
import { openThreadPool, type ThreadPool } from './piscina-pool.ts';
import type { ComputePool, ComputePoolOptions, JobOptions, JobOutcome } from './pool.ts';
import { systemClock } from './system-clock.ts';

/** Work that computes gives way to actors and to the host: a note is never stuck behind somebody's hashing. */
const NICE_INCREMENT = 10;

/** How long `close` waits for terminated threads to be gone; one that sits in a blocking system call takes longer. */
const closeTimeoutMs = 5_000;

export function openComputePool(options: ComputePoolOptions): ComputePool {
  return new OwnQueuePool(options);
}

class OwnQueuePool implements ComputePool {
  readonly #threads: ThreadPool;
  readonly #queueMax: number;
  readonly #timing: JobTiming;
  readonly #queue = new Set<ComputeJob>();
  readonly #running = new Set<ComputeJob>();
  #pumping = false;
  #brokenBy: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ComputePoolOptions) {
    this.#queueMax = options.queueMax;
    this.#timing = { clock: options.clock ?? systemClock, graceMs: options.graceMs ?? 50 };
    this.#threads = openThreadPool({
      entry: options.entry,
      threads: options.threads,
      resourceLimits: options.resourceLimits,
      niceIncrement: NICE_INCREMENT,
      onFree: () => this.#pump(),
      onBroken: (detail) => this.#broken(detail),
    });
  }

  run(work: unknown, options: JobOptions = {}): Promise<JobOutcome> {
    const refusal = this.#refusal(options.signal);
    if (refusal !== undefined) return Promise.resolve(refusal);
    return new Promise((resolve) => {
      const job = new ComputeJob(work, options, this.#timing, (outcome) => {
        this.#queue.delete(job);
        this.#running.delete(job);
        resolve(outcome);
        this.#pump();
      });
      this.#queue.add(job);
      this.#pump();
    });
  }

  stats(): { threads: number; running: number; queued: number } {
    return {
      threads: this.threadIds().length,
      running: this.#running.size,
      queued: this.#queue.size,
    };
  }

  threadIds(): number[] {
    return this.#threads.threadIds();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const running = [...this.#running];
    for (const job of [...this.#queue]) job.settle(refused(poolClosed()));
    for (const job of running) job.cancel('signal', 'the pool closes');
    const gone = Promise.all(running.map((job) => job.settled)).then(() => this.#threads.close());
    await settledWithin(gone, this.#timing.graceMs + closeTimeoutMs, this.#timing.clock);
  }

  #refusal(signal: AbortSignal | undefined): JobOutcome | undefined {
    if (this.#closed !== undefined) return refused(poolClosed());
    if (signal?.aborted) return { type: 'killed', by: 'signal', reason: reasonOf(signal) };
    if (this.#brokenBy !== undefined) return { type: 'lost', detail: this.#brokenBy };
    if (this.#threads.free() > 0 || this.#queue.size < this.#queueMax) return undefined;
    const text = `the compute pool is full: ${this.#running.size} jobs run and ${this.#queueMax} wait; try again once some have ended`;
    return refused(new Fault('pool.full', text, { retry: 'safe' }));
  }

  /** A job that cannot be sent settles within `start`: its call of this finds the loop below still going. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#threads.free() > 0) {
      const [job] = this.#queue; // I1
      if (job === undefined) break;
      this.#queue.delete(job);
      this.#running.add(job);
      job.start(this.#threads);
    }
    this.#pumping = false;
  }

  #broken(detail: string): void {
    if (this.#threads.threadIds().length > 0) return;
    this.#brokenBy = `no thread of the compute pool could be started: ${detail}`;
    for (const job of [...this.#queue]) job.settle({ type: 'lost', detail: this.#brokenBy });
  }
}

function poolClosed(): Fault {
  return new Fault('pool.closed', 'the compute pool is closed; open a new one');
}

function refused(fault: Fault): JobOutcome {
  return { type: 'refused', fault: toWire(fault) };
}
