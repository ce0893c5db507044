import { AsyncLocalStorage } from 'node:async_hooks';
import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads';
import { toWire } from '../base/fault.ts';
import type { FromJob, ToJob } from './core/job.ts';

/** What the compute pool hands to the task: `{ job }` waits on `port` as its first message. */
export interface ComputeTask {
  readonly port: MessagePort;
}

export interface JobContext {
  /** Aborts when the job is cancelled or out of time; the thread is terminated a grace time later. */
  readonly signal: AbortSignal;
  /** Tells the caller how far the job is. Throws where `body` cannot be cloned. */
  progress(body: unknown): void;
}

/** A job's result with the parts of it that are moved to the caller, not copied. */
export class Moved {
  readonly value: unknown;
  readonly transfer: readonly TransferListItem[];

  constructor(value: unknown, transfer: readonly TransferListItem[]) {
    this.value = value;
    this.transfer = transfer;
  }
}

/**
 * The task of a compute thread's entry, as the default export of that file. Jobs run one at a time. What `run` throws or
 * rejects with, or a result that cannot be cloned, is the job's outcome `threw` and costs nobody else anything.
 */
export function serveCompute(
  run: (job: unknown, ctx: JobContext) => unknown,
): (task: ComputeTask) => Promise<void> {
  return async ({ port }) => {
    const first = receiveMessageOnPort(port)?.message as { readonly job: unknown };
    const abort = new AbortController();
    const say = (message: FromJob, transfer: readonly TransferListItem[] = []): void =>
      port.postMessage(message, [...transfer]);
    port.on('message', (message: ToJob) => {
      say({ type: 'stopping' });
      abort.abort(new DOMException(message.reason, 'AbortError'));
    });
    watchStrays();
    const life: JobLife = { isOver: false };
    try {
      const progress = (body: unknown): void => say({ type: 'progress', body });
      const result = await lives.run(life, () =>
        run(first.job, { signal: abort.signal, progress }),
      );
      if (result instanceof Moved) say({ type: 'returned', value: result.value }, result.transfer);
      else say({ type: 'returned', value: result });
    } catch (thrown) {
      say({ type: 'threw', fault: toWire(thrown, 'tool.failed') });
    } finally {
      life.isOver = true;
      port.close();
    }
  };
}

interface JobLife {
  isOver: boolean;
}

const lives = new AsyncLocalStorage<JobLife>();
let isWatching = false;

/** What a job left behind and fails after its end is nobody's: it must not take the next job's thread along. */
function watchStrays(): void {
  if (isWatching) return;
  isWatching = true;
  const judge = (thrown: unknown): void => {
    if (lives.getStore()?.isOver === true) return;
    // Of a job that still runs, or of nobody: the thread ends by it, as it would have.
    process.off('uncaughtException', judge);
    process.off('unhandledRejection', judge);
    setImmediate(() => {
      throw thrown;
    });
  };
  process.on('uncaughtException', judge);
  process.on('unhandledRejection', judge);
}
