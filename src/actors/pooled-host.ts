/**
 * One actor host as the pool knows it: its port, its control calls, its actors, its signs of life. It lives from `setup`
 * to the death of its thread and is never used again.
 *
 * I1 It can be spoken to from the start: what is posted before its thread runs waits in the port.
 * I2 When its thread is gone, what had arrived from it is delivered first; only then does it count as gone, once, and
 *    only then are its actors judged (by the pool, which puts a new host in place before that).
 * I3 A thread is terminated for silence only: an actor that is not ready on a host that speaks is dropped alone.
 */
import { MessageChannel, type MessagePort, type TransferListItem } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { type Fault, toWire } from '../base/fault.ts';
import { assertNever } from '../base/never.ts';
import { type Channel, openChannel } from './channel.ts';
import { type Control, openControl } from './comlink-channel.ts';
import type { ActorAddress, FromHost, ToHost } from './core/envelope.ts';
import type { ExitReason } from './core/exit.ts';
import { SharedOut } from './core/shared-values.ts';
import { type Home, HostedActor } from './hosted-actor.ts';
import type { RunningTask, ThreadPool } from './piscina-pool.ts';
import type { ActorEvents, HostSetup } from './pool.ts';
import { surfacing } from './surfacing.ts';

export interface HostLimits {
  readonly clock: Clock;
  readonly readyTimeoutMs: number;
  readonly heartbeatMissesMax: number;
}

export interface SpawnRequest<Init, Out> {
  readonly id: string;
  readonly address: ActorAddress;
  readonly init: Init;
  readonly events: ActorEvents<Out>;
  readonly shared: object | undefined;
}

type HostLife = 'starting' | 'up' | 'gone';

export class PooledHost<Init, In, Out> implements Home<Init, In> {
  readonly index: number;
  /** Resolves once the host takes actors, or to the reason why it never will. */
  readonly cameUp: Promise<string | undefined>;
  readonly closed: Promise<void>;
  readonly control: Control;
  readonly #limits: HostLimits;
  readonly #onGone: (detail: string) => void;
  readonly #channel: Channel<ToHost<Init, In>>;
  readonly #threadPorts: Readonly<Record<'port' | 'control', MessagePort>>;
  readonly #actors = new Map<ActorAddress, HostedActor<Init, In, Out>>();
  /** In the order of their spawning. */
  readonly #notReady = new Set<HostedActor<Init, In, Out>>();
  readonly #shared = new SharedOut<object>();
  #life: HostLife = 'starting';
  #task: RunningTask | undefined;
  #verdict: string | undefined;
  #misses = 0;
  #heardMs: number;
  #takeBackReadyTimer: (() => void) | undefined;
  readonly #takeBackUpTimer: () => void;
  #markUp: (failure: string | undefined) => void = () => undefined;
  #markClosed: () => void = () => undefined;

  /** Throws where `setup.data` cannot be cloned. */
  constructor(
    index: number,
    setup: HostSetup,
    limits: HostLimits,
    onGone: (detail: string) => void,
  ) {
    this.index = index;
    this.#limits = limits;
    this.#onGone = onGone;
    this.#heardMs = limits.clock.now();
    this.cameUp = new Promise((resolve) => {
      this.#markUp = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#markClosed = resolve;
    });
    const envelopes = new MessageChannel();
    envelopes.port1.postMessage({ data: setup.data }, [...(setup.transfer ?? [])]);
    const calls = new MessageChannel();
    this.#threadPorts = { port: envelopes.port2, control: calls.port2 };
    this.control = openControl(calls.port1);
    this.#channel = openChannel<FromHost<Out>, ToHost<Init, In>>(
      envelopes.port1,
      (envelope) => this.#hear(envelope),
      { unsent: (envelope, fault) => this.#unsent(envelope, fault) },
    );
    const { clock, readyTimeoutMs } = limits;
    this.#takeBackUpTimer = clock.after(readyTimeoutMs, () =>
      this.fail(`the host did not come up within ${readyTimeoutMs} ms`),
    );
  }

  get isUp(): boolean {
    return this.#life === 'up';
  }

  get isGone(): boolean {
    return this.#life === 'gone';
  }

  get awaitsThread(): boolean {
    return this.#life === 'starting' && this.#task === undefined;
  }

  get size(): number {
    return this.#actors.size;
  }

  actors(): HostedActor<Init, In, Out>[] {
    return [...this.#actors.values()];
  }

  /** Takes a free thread. */
  begin(threads: ThreadPool): void {
    this.#task = threads.run(this.#threadPorts);
    void this.#task.ended.then((end) =>
      this.#gone(end.type === 'returned' ? 'the host ended by itself' : end.detail),
    );
  }

  spawn(request: SpawnRequest<Init, Out>): HostedActor<Init, In, Out> {
    const { id, address, init, events, shared } = request;
    const nowMs = this.#limits.clock.now();
    const actor = new HostedActor<Init, In, Out>(id, address, this, events, nowMs);
    this.#actors.set(address, actor);
    this.#notReady.add(actor);
    const share = shared === undefined ? {} : { shared: this.#shared.share(shared) };
    this.#channel.send({ type: 'spawn', to: address, id, init, ...share }); // I1
    if (this.#takeBackReadyTimer === undefined) {
      this.#armReadyTimer(this.#limits.readyTimeoutMs);
    }
    return actor;
  }

  post(envelope: ToHost<Init, In>, transfer?: readonly TransferListItem[]): void {
    this.#channel.send(envelope, transfer);
  }

  forget(address: ActorAddress): void {
    const actor = this.#actors.get(address);
    if (actor === undefined) return;
    this.#actors.delete(address);
    this.#notReady.delete(actor);
  }

  /** Asks for a sign of life, or gives the host up where it has missed too many. */
  heartbeat(): void {
    if (this.#life !== 'up') return;
    if (this.#misses >= this.#limits.heartbeatMissesMax) {
      this.fail(`the host missed ${this.#misses} heartbeats: something on its thread never yields`);
      return;
    }
    this.#misses += 1;
    this.#channel.send({ type: 'ping' });
  }

  /** Terminates the thread, if there is one; the first reason holds. */
  fail(detail: string): void {
    this.#verdict ??= detail;
    if (this.#task === undefined) this.#gone(detail);
    else this.#task.kill();
  }

  /** Asks the host to let go of everything; `closed` resolves once it has, or is gone. */
  close(): void {
    if (this.#life === 'up') this.#channel.send({ type: 'close' });
    else this.fail('the pool closes');
  }

  /** Counts as gone from now on, though its thread may not be: for a pool that cannot wait for it any longer. */
  abandon(detail: string): void {
    this.#gone(detail);
  }

  /** After `onGone`: tells every actor's owner. */
  judgeActors(detail: string): void {
    for (const actor of this.actors()) {
      surfacing(() => actor.end(this.#exitOf(actor, detail)));
    }
  }

  #exitOf(actor: HostedActor<Init, In, Out>, detail: string): ExitReason {
    const { clock, readyTimeoutMs } = this.#limits;
    const overdue = clock.now() - actor.bornMs >= readyTimeoutMs;
    if (!this.#notReady.has(actor) || !overdue) return { type: 'lost', detail };
    return {
      type: 'not-ready',
      detail: `it did not start within ${readyTimeoutMs} ms: ${detail}`,
    };
  }

  #hear(envelope: FromHost<Out>): void {
    this.#misses = 0;
    this.#heardMs = this.#limits.clock.now();
    switch (envelope.type) {
      case 'tell':
        this.#actors.get(envelope.from)?.received(envelope.body);
        return;
      case 'started':
        this.#started(envelope.from);
        return;
      case 'exited':
        this.#actors.get(envelope.from)?.end(envelope.exit);
        return;
      case 'pong':
        return;
      case 'up':
        this.#cameUp();
        return;
      case 'failing':
        this.#verdict ??= envelope.detail;
        return;
      case 'closed':
        this.#markClosed();
        return;
      default:
        assertNever(envelope);
    }
  }

  #cameUp(): void {
    if (this.#life !== 'starting') return;
    this.#life = 'up';
    this.#takeBackUpTimer();
    this.#markUp(undefined);
  }

  #started(address: ActorAddress): void {
    const actor = this.#actors.get(address);
    if (actor !== undefined) this.#notReady.delete(actor);
  }

  #armReadyTimer(ms: number): void {
    this.#takeBackReadyTimer = this.#limits.clock.after(ms, () => this.#checkReady());
  }

  #checkReady(): void {
    this.#takeBackReadyTimer = undefined;
    const { clock, readyTimeoutMs } = this.#limits;
    const nowMs = clock.now();
    for (const actor of [...this.#notReady]) {
      const leftMs = actor.bornMs + readyTimeoutMs - nowMs;
      if (leftMs > 0) {
        this.#armReadyTimer(leftMs);
        return;
      }
      if (nowMs - this.#heardMs > readyTimeoutMs / 2) {
        this.fail('the host is silent');
        return;
      }
      const detail = `it did not start within ${readyTimeoutMs} ms`;
      surfacing(() => actor.drop({ type: 'not-ready', detail })); // I3
    }
  }

  /** The body of `envelope` cannot be cloned: its actor's owner hears it, and the host what follows from it. */
  #unsent(envelope: ToHost<Init, In>, fault: Fault): ToHost<Init, In> | undefined {
    if (envelope.type !== 'tell' && envelope.type !== 'spawn') return undefined;
    const { to } = envelope;
    const actor = this.#actors.get(to);
    if (envelope.type === 'spawn' && envelope.shared?.value !== undefined) {
      this.#shared.forget(envelope.shared.slot);
    }
    let dropped = false;
    surfacing(() => {
      if (envelope.type === 'tell' && actor?.refused(envelope.body, fault)) return;
      dropped = true;
      actor?.end({ type: 'crashed', fault: toWire(fault) });
    });
    return dropped ? { type: 'kill', to } : undefined;
  }

  #gone(threadDetail: string): void {
    if (this.#life === 'gone') return;
    this.#channel.drain(); // I2
    this.#life = 'gone';
    this.#takeBackUpTimer();
    this.#takeBackReadyTimer?.();
    const detail = `host ${this.index}: ${this.#verdict ?? threadDetail}`;
    this.control.lose(detail);
    this.#channel.close();
    this.#markUp(detail);
    this.#markClosed();
    this.#onGone(detail);
  }
}
