/**
 * The piscina task that never ends: one thread's actors on one event loop over one batched port. It owns the cells of
 * its thread and is told everything by the pool.
 *
 * I1 An exception that escapes an actor ends that actor alone; one that names no actor ends the thread, so that the pool
 *    starts a fresh one. Code that failed without an owner may have broken anything here.
 * I2 The task function neither returns nor rejects: a host that cannot go on says `failing` and ends its thread, which is
 *    the one way the pool has to judge for every death.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Fault, messageOf, toWire } from '../base/fault.ts';
import { assertNever } from '../base/never.ts';
import type { Behavior } from './actor.ts';
import { Cell, type CellHost, type CellReports, type CellScope } from './cell.ts';
import { type Channel, openChannel } from './channel.ts';
import { exposeControl } from './comlink-channel.ts';
import type { ActorAddress, FromHost, ToHost } from './core/envelope.ts';
import { type Share, SharedIn } from './core/shared-values.ts';

/** What the pool hands to the task: `{ data }` waits on `port` as its first message. */
export interface ActorHostTask {
  readonly port: MessagePort;
  readonly control: MessagePort;
}

const mailMaxDefault = 10_000;

/**
 * The task of an actor host's thread entry, as the default export of that file. `behaviorOf` gets the `data` that the
 * pool's `setup` made for this thread, and what came with it by transfer.
 */
export function serveActors<Setup, Init, In, Out>(
  behaviorOf: (data: Setup) => Behavior<Init, In, Out> | Promise<Behavior<Init, In, Out>>,
): (task: ActorHostTask) => Promise<never> {
  return async ({ port, control }) => {
    const scope: CellScope = new AsyncLocalStorage();
    let host: ActorHost<Init, In, Out> | undefined;
    const fail = (detail: string): never => {
      host?.flush();
      return endThread(port, detail);
    };
    catchStrays(scope, fail);
    try {
      const first = receiveMessageOnPort(port)?.message as { readonly data: Setup };
      const behavior = await behaviorOf(first.data);
      exposeControl(behavior.control ?? {}, control);
      host = new ActorHost(port, behavior, scope);
      host.open();
    } catch (thrown) {
      fail(`the actor host could not be set up: ${messageOf(thrown)}`);
    }
    return new Promise<never>(() => undefined); // I2
  };
}

function endThread(port: MessagePort, detail: string): never {
  const lastWord: FromHost<never> = { type: 'failing', detail };
  port.postMessage([lastWord]);
  process.exit(1);
}

function catchStrays(scope: CellScope, fail: (detail: string) => never): void {
  const judge = (thrown: unknown): void => {
    const owner = scope.getStore();
    if (owner !== undefined) owner.crash(thrown);
    else fail(`an exception that belongs to no actor: ${messageOf(thrown)}`); // I1
  };
  process.on('uncaughtException', judge);
  process.on('unhandledRejection', judge);
}

class ActorHost<Init, In, Out> {
  readonly #behavior: Behavior<Init, In, Out>;
  readonly #cells = new Map<ActorAddress, Cell<In, Out>>();
  readonly #channel: Channel<FromHost<Out>>;
  readonly #cellHost: CellHost<Out>;
  readonly #shared = new SharedIn<object>();

  constructor(port: MessagePort, behavior: Behavior<Init, In, Out>, scope: CellScope) {
    this.#behavior = behavior;
    this.#channel = openChannel<ToHost<Init, In>, FromHost<Out>>(
      port,
      (envelope) => this.#handle(envelope),
      { unsent: (envelope, fault) => this.#unsent(envelope, fault) },
    );
    const mailMax = behavior.mailMax ?? mailMaxDefault;
    this.#cellHost = { scope, reports: this.#reports(), mailMax };
  }

  open(): void {
    this.#channel.send({ type: 'up' });
  }

  flush(): void {
    this.#channel.flush();
  }

  #reports(): CellReports<Out> {
    return {
      started: (from) => this.#channel.send({ type: 'started', from }),
      tell: (from, body, transfer) => this.#channel.send({ type: 'tell', from, body }, transfer),
      exited: (from, exit) => {
        this.#cells.delete(from);
        this.#channel.send({ type: 'exited', from, exit });
      },
    };
  }

  #handle(envelope: ToHost<Init, In>): void {
    switch (envelope.type) {
      case 'tell':
        this.#cells.get(envelope.to)?.tell(envelope.body);
        return;
      case 'spawn':
        this.#spawn(envelope.to, envelope.id, envelope.init, envelope.shared);
        return;
      case 'stop':
        this.#cells.get(envelope.to)?.stop(envelope.reason);
        return;
      case 'kill':
        this.#drop(envelope.to, 'dropped');
        return;
      case 'ping':
        this.#channel.send({ type: 'pong' });
        return;
      case 'close':
        void this.#close();
        return;
      default:
        assertNever(envelope);
    }
  }

  #spawn(address: ActorAddress, id: string, init: Init, share?: Share<object>): void {
    const cell = new Cell<In, Out>(address, id, this.#cellHost);
    const shared = share && this.#shared.take(share);
    this.#cells.set(address, cell);
    cell.begin((ctx) => this.#behavior.start(id, init, ctx, shared));
  }

  #drop(address: ActorAddress, reason: string): void {
    const cell = this.#cells.get(address);
    this.#cells.delete(address);
    cell?.drop(reason);
  }

  /** What an actor said cannot be cloned: its exit goes in that place, whatever it said after. */
  #unsent(envelope: FromHost<Out>, fault: Fault): FromHost<Out> | undefined {
    if (!('from' in envelope)) return undefined;
    this.#drop(envelope.from, 'crashed');
    return { type: 'exited', from: envelope.from, exit: { type: 'crashed', fault: toWire(fault) } };
  }

  async #close(): Promise<void> {
    for (const address of [...this.#cells.keys()]) this.#drop(address, 'the host closes');
    try {
      await this.#behavior.close?.();
    } finally {
      this.#channel.send({ type: 'closed' });
      this.#channel.flush();
    }
  }
}
