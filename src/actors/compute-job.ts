/**
 * One job of the compute pool, from its call to its outcome. It owns the job's port and its cancellation.
 *
 * I1 It settles once, with what came first: the outcome the job reported, or the cancellation.
 * I2 Once it runs it settles only when its function has returned or its thread is gone: nothing of it runs any more.
 * I3 A cancelled job is asked first, given the grace time, then loses its thread: a terminated thread runs no `finally`.
 *    Where its caller says so, one that does not even hear of it within `answerMs` gets no more time than that.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { Fault, messageOf, toWire } from '../base/fault.ts';
import type { FromJob, ToJob } from './core/job.ts';
import type { RunningTask, TaskEnd, ThreadPool } from './piscina-pool.ts';
import type { JobOptions, JobOutcome } from './pool.ts';
import { surfacing } from './surfacing.ts';

export interface JobTiming {
  readonly clock: Clock;
  readonly graceMs: number;
}

/** What an aborted signal gives as its reason, in words. */
export function reasonOf(signal: AbortSignal): string {
  return messageOf(signal.reason);
}

export class ComputeJob {
  /** Resolves with the outcome, right after `done` was called. */
  readonly settled: Promise<void>;
  readonly #work: unknown;
  readonly #options: JobOptions;
  readonly #timing: JobTiming;
  readonly #done: (outcome: JobOutcome) => void;
  readonly #onAbort: () => void;
  #markSettled: () => void = () => undefined;
  #isSettled = false;
  #port: MessagePort | undefined;
  #task: RunningTask | undefined;
  #takeBackTimer: () => void = () => undefined;
  #cancelled: JobOutcome | undefined;
  #reported: JobOutcome | undefined;

  constructor(
    work: unknown,
    options: JobOptions,
    timing: JobTiming,
    done: (outcome: JobOutcome) => void,
  ) {
    this.#work = work;
    this.#options = options;
    this.#timing = timing;
    this.#done = done;
    this.settled = new Promise((resolve) => {
      this.#markSettled = resolve;
    });
    const { signal } = options;
    this.#onAbort = () => this.cancel('signal', signal === undefined ? '' : reasonOf(signal));
    signal?.addEventListener('abort', this.#onAbort);
  }

  /** Only while a thread is free. A job that cannot be cloned settles here and now. */
  start(threads: ThreadPool): void {
    const { port1, port2 } = new MessageChannel();
    try {
      port1.postMessage({ job: this.#work });
    } catch (thrown) {
      port1.close();
      const text = `the job cannot cross to another thread: ${messageOf(thrown)}; give it plain data only`;
      this.settle({ type: 'refused', fault: toWire(new Fault('argument.invalid', text)) });
      return;
    }
    this.#port = port1;
    port1.on('message', (message: FromJob) => this.#hear(message));
    this.#task = threads.run({ port: port2 });
    this.#limitTime();
    void this.#task.ended.then((end) => this.#ended(end));
  }

  /** The first cancellation of a job that has not reported its outcome counts; every other call does nothing. */
  cancel(by: 'signal' | 'timeout', reason: string): void {
    if (this.#isSettled || this.#cancelled !== undefined) return;
    this.#hearAll();
    if (this.#reported !== undefined) return; // I1
    this.#cancelled = { type: 'killed', by, reason };
    if (this.#task === undefined) {
      this.settle(this.#cancelled);
      return;
    }
    const ask: ToJob = { type: 'abort', reason };
    this.#port?.postMessage(ask); // I3
    this.#killAfter(this.#options.answerMs ?? this.#timing.graceMs);
  }

  /** I3. Later calls take the place of earlier ones. */
  #killAfter(ms: number): void {
    this.#takeBackTimer();
    this.#takeBackTimer = this.#timing.clock.after(ms, () => this.#task?.kill());
  }

  /** For a job that never started; a running one settles by itself. */
  settle(outcome: JobOutcome): void {
    if (this.#isSettled) return; // I1
    this.#isSettled = true;
    this.#takeBackTimer();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#port?.close();
    this.#done(outcome);
    this.#markSettled();
  }

  #limitTime(): void {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return;
    this.#takeBackTimer = this.#timing.clock.after(timeoutMs, () =>
      this.cancel('timeout', `it ran for longer than ${timeoutMs} ms`),
    );
  }

  #ended(end: TaskEnd): void {
    this.#hearAll(); // what it said before its thread died still counts
    const detail = end.type === 'returned' ? 'it ended without an outcome' : end.detail;
    this.settle(this.#cancelled ?? this.#reported ?? { type: 'lost', detail }); // I2
  }

  #hearAll(): void {
    if (this.#port === undefined) return;
    for (;;) {
      const arrived = receiveMessageOnPort(this.#port);
      if (arrived === undefined) return;
      this.#hear(arrived.message);
    }
  }

  #hear(message: FromJob): void {
    if (message.type === 'progress') this.#progress(message.body);
    else if (message.type === 'stopping') this.#stopping();
    else this.#reported ??= message;
  }

  #stopping(): void {
    if (this.#isSettled || this.#options.answerMs === undefined) return;
    this.#killAfter(this.#timing.graceMs);
  }

  #progress(body: unknown): void {
    if (this.#cancelled !== undefined) return;
    surfacing(() => this.#options.onProgress?.(body));
  }
}
