import type { ResourceLimits, TransferListItem } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import type { Fault, FaultWire } from '../base/fault.ts';
import type { ExitReason } from './core/exit.ts';
import type { RestartIntensity } from './core/restart.ts';

/** What a new host thread is given: `data` arrives at the entry's `behaviorOf`, with `transfer` moved there. */
export interface HostSetup {
  readonly data: unknown;
  readonly transfer?: readonly TransferListItem[];
}

export interface ActorPoolOptions {
  /** The bundled thread entry; its default export is what `serveActors` returned. */
  readonly entry: URL;
  /** How many host threads, all started at once. At least 1. */
  readonly threads: number;
  /** Called for every host thread before it starts, again for each one that replaces a dead one. */
  readonly setup: (hostIndex: number) => HostSetup;
  /** How long a host may take to come up, and an actor to report that it has started (default 10,000). */
  readonly readyTimeoutMs?: number;
  /** A host that is silent is asked for a sign of life this often (default 1,000). */
  readonly heartbeatMs?: number;
  /** Unanswered heartbeats after which its thread is terminated (default 5). */
  readonly heartbeatMissesMax?: number;
  /** How often hosts may be replaced, all together; beyond it the pool takes no more actors. */
  readonly restarts: RestartIntensity;
  /** Its timers should keep no process alive. */
  readonly clock: Clock;
  readonly resourceLimits?: ResourceLimits;
  /** How long `close` waits for actors and hosts to end by themselves (default 5,000). */
  readonly closeTimeoutMs?: number;
}

/** What an actor's owner hears of it, on the host thread. Neither is called within `spawn` itself. */
export interface ActorEvents<Out> {
  /** In the order the actor told it; never after `exited`. */
  receive(body: Out): void;
  /** Exactly once. */
  exited(exit: ExitReason): void;
  /**
   * A body given to `tell` cannot be cloned, and the actor will never get it. Without this the actor is dropped and ends
   * as `crashed` with that fault.
   */
  refused?(body: unknown, fault: Fault): void;
}

export interface ActorRef<In> {
  readonly id: string;
  readonly hostIndex: number;
  /** Does nothing once the actor has ended: its `exited` has been called or is on its way. */
  tell(body: In, transfer?: readonly TransferListItem[]): void;
  /** Asks the actor to stop; it ends as `stopped` once it has. The first reason holds. */
  stop(reason: string): void;
  /** Drops the actor without waiting for it: it ends as `lost` with `detail`, and no word of it is heard any more. */
  kill(detail: string): void;
}

/** Threads on which any number of actors live. */
export interface ActorPool<Init, In, Out> {
  /**
   * Starts an actor on the host with the fewest. While every host is being replaced it waits for the first new one.
   * Throws `actor.lost` where the pool has given up on its hosts, `pool.closed` after `close`. The same id may be used
   * again, also at the same time: the pool tells lives apart by itself. `shared` is plain data that many actors are given
   * alike; as long as it is the same object it crosses to each host once.
   */
  spawn(id: string, init: Init, events: ActorEvents<Out>, shared?: object): ActorRef<In>;
  /**
   * Calls control method `method` on every host, also one that is still coming up, with the arguments made for it.
   * Resolves to what they returned, by host; rejects with the first fault once every call has settled.
   */
  control(method: string, makeArgs: (hostIndex: number) => ControlArgs): Promise<unknown[]>;
  stats(): { readonly threads: number; readonly actors: number };
  threadIds(): number[];
  /**
   * Stops every actor, closes every host and resolves once all threads are gone, at the latest after two times
   * `closeTimeoutMs` plus what terminating takes. The same promise the second time. Never rejects.
   */
  close(): Promise<void>;
}

export interface ControlArgs {
  readonly args: readonly unknown[];
  readonly transfer?: readonly TransferListItem[];
}

export interface ComputePoolOptions {
  /** The bundled thread entry; its default export is what `serveCompute` returned. */
  readonly entry: URL;
  /** How many jobs run at once, each on a thread of its own. */
  readonly threads: number;
  /** How many jobs may wait; one more is refused with `pool.full`. */
  readonly queueMax: number;
  readonly resourceLimits?: ResourceLimits;
  /** How long a cancelled job may take to end by itself before its thread is terminated (default 50). */
  readonly graceMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface JobOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the job may run, from its start on a thread; waiting does not count. Without it: no limit. */
  readonly timeoutMs?: number | undefined;
  /**
   * A cancelled job whose thread does not take the message within so many milliseconds loses it then, not after its grace:
   * for work that leaves nothing half done. Without it: the grace.
   */
  readonly answerMs?: number | undefined;
  /** What the job reports meanwhile, in order, never after the outcome. */
  readonly onProgress?: ((body: unknown) => void) | undefined;
}

/** How a job ended. Whatever ended it first decides. */
export type JobOutcome =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly fault: FaultWire }
  | { readonly type: 'killed'; readonly by: 'signal' | 'timeout'; readonly reason: string }
  /** Its thread died under it. */
  | { readonly type: 'lost'; readonly detail: string }
  /** It never started. */
  | { readonly type: 'refused'; readonly fault: FaultWire };

/** Threads for work that computes or blocks, one job a thread, each killable without harm to another. */
export interface ComputePool {
  /**
   * Runs `job` once a thread is free, in the order of the calls. Never rejects. Resolves to `killed` only once the job
   * has settled or its thread is gone; a job cancelled while it waits never starts.
   */
  run(job: unknown, options?: JobOptions): Promise<JobOutcome>;
  stats(): { readonly threads: number; readonly running: number; readonly queued: number };
  threadIds(): number[];
  /** Refuses what waits, kills what runs, ends the threads. The same promise the second time. Never rejects. */
  close(): Promise<void>;
}
