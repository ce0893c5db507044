/**
 * The pool of actor hosts. It owns their number, their replacement and the placing of actors.
 *
 * I1 Every thread runs one host and every index has one host that is not gone, until the pool gives up or closes.
 * I2 A dead host's successor is in place before any of its actors is judged, so an owner may spawn again at once.
 * I3 Hosts are replaced within the restart intensity; beyond it the pool takes no more actors, and says why.
 */
import { Fault, messageOf } from '../base/fault.ts';
import { settledWithin } from './bounded.ts';
import { judgeRestart } from './core/restart.ts';
import { openThreadPool, type ThreadPool } from './piscina-pool.ts';
import type { ActorEvents, ActorPool, ActorPoolOptions, ActorRef, ControlArgs } from './pool.ts';
import { type HostLimits, PooledHost } from './pooled-host.ts';

/**
 * Starts the hosts and resolves once all are up. Rejects with `actor.not-ready`, leaving no thread behind, where one
 * cannot start or does not come up in time.
 */
export async function openActorPool<Init, In, Out>(
  options: ActorPoolOptions,
): Promise<ActorPool<Init, In, Out>> {
  const pool = new HostPool<Init, In, Out>(options);
  try {
    await pool.open();
  } catch (thrown) {
    await pool.close();
    throw thrown;
  }
  return pool;
}

class HostPool<Init, In, Out> implements ActorPool<Init, In, Out> {
  readonly #options: ActorPoolOptions;
  readonly #limits: HostLimits;
  readonly #threads: ThreadPool;
  readonly #hosts: PooledHost<Init, In, Out>[] = [];
  #restarts: readonly number[] = [];
  #addresses = 0;
  #isOpen = false;
  #gaveUpBecause: string | undefined;
  #closing: Promise<void> | undefined;
  #takeBackHeartbeat: () => void = () => undefined;

  constructor(options: ActorPoolOptions) {
    this.#options = options;
    this.#limits = {
      clock: options.clock,
      readyTimeoutMs: options.readyTimeoutMs ?? 10_000,
      heartbeatMissesMax: options.heartbeatMissesMax ?? 5,
    };
    this.#threads = openThreadPool({
      entry: options.entry,
      threads: options.threads,
      resourceLimits: options.resourceLimits,
      onFree: () => this.#giveThreads(),
      onBroken: (detail) => this.#broken(detail),
    });
  }

  async open(): Promise<void> {
    for (let index = 0; index < this.#options.threads; index += 1) {
      this.#hosts[index] = this.#makeHost(index);
    }
    this.#giveThreads();
    const failures = await Promise.all(this.#hosts.map((host) => host.cameUp));
    const failure = failures.find((detail) => detail !== undefined);
    if (failure !== undefined) {
      throw new Fault('actor.not-ready', `the actor pool could not start: ${failure}`);
    }
    this.#isOpen = true;
    this.#awaitHeartbeat();
  }

  spawn(id: string, init: Init, events: ActorEvents<Out>, shared?: object): ActorRef<In> {
    const host = this.#place(id);
    this.#addresses += 1;
    return host.spawn({ id, address: this.#addresses, init, events, shared });
  }

  async control(method: string, makeArgs: (hostIndex: number) => ControlArgs): Promise<unknown[]> {
    const calls = this.#live().map((host) => {
      const { args, transfer } = makeArgs(host.index);
      return host.control.call(method, args, transfer);
    });
    const answers = await Promise.allSettled(calls);
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  stats(): { threads: number; actors: number } {
    let actors = 0;
    for (const host of this.#hosts) actors += host.size;
    return { threads: this.threadIds().length, actors };
  }

  threadIds(): number[] {
    return this.#threads.threadIds();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#takeBackHeartbeat();
    const { clock, closeTimeoutMs = 5_000 } = this.#options;
    const hosts = this.#live();
    await settledWithin(this.#stopActors(hosts), closeTimeoutMs, clock);
    for (const host of hosts) host.close();
    await settledWithin(Promise.all(hosts.map((host) => host.closed)), closeTimeoutMs, clock);
    await settledWithin(this.#threads.close(), closeTimeoutMs, clock);
    // A thread that sits in a blocking call outlives its termination; its actors are not waited for.
    for (const host of hosts) host.abandon('the pool closed');
  }

  async #stopActors(hosts: readonly PooledHost<Init, In, Out>[]): Promise<void> {
    const ended: Promise<void>[] = [];
    for (const host of hosts) {
      for (const actor of host.actors()) {
        actor.stop('the pool closes');
        ended.push(actor.whenEnded());
      }
    }
    await Promise.all(ended);
  }

  #makeHost(index: number): PooledHost<Init, In, Out> {
    const setup = this.#options.setup(index);
    const host: PooledHost<Init, In, Out> = new PooledHost(index, setup, this.#limits, (detail) => {
      this.#replace(index, detail);
      host.judgeActors(detail); // I2
    });
    return host;
  }

  #replace(index: number, detail: string): void {
    if (!this.#isOpen || this.#closing !== undefined || this.#gaveUpBecause !== undefined) return;
    const { restarts, clock } = this.#options;
    const verdict = judgeRestart(this.#restarts, restarts, clock.now());
    if (verdict.type === 'give-up') {
      const { restartsMax, periodMs } = restarts;
      this.#gaveUpBecause = `${detail}; ${restartsMax} hosts were replaced within ${periodMs} ms`;
      return; // I3
    }
    this.#restarts = verdict.times;
    try {
      this.#hosts[index] = this.#makeHost(index); // I1
      this.#giveThreads();
    } catch (thrown) {
      this.#gaveUpBecause = `${detail}; no new host could be set up: ${messageOf(thrown)}`;
    }
  }

  #broken(detail: string): void {
    if (!this.#isOpen || this.#closing !== undefined) return;
    this.#gaveUpBecause ??= `no new thread could be started: ${detail}`;
    for (const host of this.#hosts) {
      if (host.awaitsThread) host.fail(this.#gaveUpBecause);
    }
  }

  #giveThreads(): void {
    for (const host of this.#hosts) {
      if (host.awaitsThread && this.#threads.free() > 0) host.begin(this.#threads);
    }
  }

  #live(): PooledHost<Init, In, Out>[] {
    return this.#hosts.filter((host) => !host.isGone);
  }

  /** The host with the fewest actors; one that is still coming up only where none is up. */
  #place(id: string): PooledHost<Init, In, Out> {
    if (this.#closing !== undefined) {
      throw new Fault('pool.closed', `actor "${id}" was not started: the actor pool is closed`);
    }
    if (this.#gaveUpBecause !== undefined) {
      const text = `actor "${id}" was not started: the actor pool gave up (${this.#gaveUpBecause}); open a new one`;
      throw new Fault('actor.lost', text);
    }
    let best: PooledHost<Init, In, Out> | undefined;
    for (const host of this.#hosts) {
      if (!host.isGone && (best === undefined || isBetter(host, best))) best = host;
    }
    if (best === undefined) throw new Fault('defect', 'an open actor pool has no host');
    return best;
  }

  #awaitHeartbeat(): void {
    const { clock, heartbeatMs = 1_000 } = this.#options;
    this.#takeBackHeartbeat = clock.after(heartbeatMs, () => {
      for (const host of [...this.#hosts]) host.heartbeat();
      if (this.#closing === undefined) this.#awaitHeartbeat();
    });
  }
}

interface Candidate {
  readonly isUp: boolean;
  readonly size: number;
}

function isBetter(candidate: Candidate, best: Candidate): boolean {
  if (candidate.isUp !== best.isUp) return candidate.isUp;
  return candidate.size < best.size;
}
