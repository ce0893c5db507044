/**
 * One life of one actor inside an actor host. It owns the order in which the actor sees its messages.
 *
 * I1 The actor's exit is reported once, by whichever cause comes first; after that it says nothing.
 * I2 One message at a time: the next is taken once what `receive` returned has settled.
 * I3 A stop overtakes every waiting message, and even a `receive` that has not settled.
 * I4 The actor's code only ever runs inside its own scope, so a stray exception names the cell it came from.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { TransferListItem } from 'node:worker_threads';
import { Fault, toWire } from '../base/fault.ts';
import type { Actor, ActorContext } from './actor.ts';
import type { ActorAddress } from './core/envelope.ts';
import type { ExitReason } from './core/exit.ts';
import { advance, type Lifecycle } from './core/lifecycle.ts';
import { type Mailbox, openMailbox } from './core/mailbox.ts';

/** What a cell tells its host. After `exited` the host forgets it. */
export interface CellReports<Out> {
  started(from: ActorAddress): void;
  tell(from: ActorAddress, body: Out, transfer?: readonly TransferListItem[]): void;
  exited(from: ActorAddress, exit: ExitReason): void;
}

export type CellScope = AsyncLocalStorage<StrayCatcher>;

/** Where a stray exception of an actor goes. */
export interface StrayCatcher {
  crash(thrown: unknown): void;
}

/** What all cells of a host share. */
export interface CellHost<Out> {
  readonly scope: CellScope;
  readonly reports: CellReports<Out>;
  readonly mailMax: number;
}

export class Cell<In, Out> implements StrayCatcher {
  readonly #address: ActorAddress;
  readonly #id: string;
  readonly #host: CellHost<Out>;
  #life: Lifecycle = 'starting';
  #actor: Actor<In> | undefined;
  #mailbox: Mailbox<string, In> | undefined;
  #busy = false;
  /** `stop` has been called, or must not be any more. */
  #letGo = false;
  #stopReason: string | undefined;

  constructor(address: ActorAddress, id: string, host: CellHost<Out>) {
    this.#address = address;
    this.#id = id;
    this.#host = host;
  }

  begin(start: (ctx: ActorContext<Out>) => Actor<In> | Promise<Actor<In>>): void {
    this.#inScope(() => {
      const actor = start(this.#context());
      if (!isPromise(actor)) return this.#started(actor);
      return actor.then((later) => this.#started(later));
    });
  }

  tell(body: In): void {
    if (this.#life === 'running' && !this.#busy) {
      this.#host.scope.run(this, this.#receive, body); // I4
      return;
    }
    this.#park(body);
  }

  stop(reason: string): void {
    if (this.#life === 'starting') this.#mail().offerSystem(reason);
    else this.#drain(reason);
  }

  /** Ends the actor because its code, or code it left running, failed. */
  crash(thrown: unknown): void {
    this.#end({ type: 'crashed', fault: toWire(thrown, 'actor.crashed') });
  }

  /** Ends the actor without a report. */
  drop(reason: string): void {
    this.#life = 'stopped'; // I1: the pool has judged it already
    this.#abandon(reason);
  }

  #context(): ActorContext<Out> {
    return {
      tell: (body, transfer) => {
        if (this.#life !== 'stopped') this.#host.reports.tell(this.#address, body, transfer);
      },
      exit: () => {
        this.#letGo = true;
        this.#end(this.#ownExit());
      },
    };
  }

  #ownExit(): ExitReason {
    if (this.#stopReason === undefined) return { type: 'normal' };
    return { type: 'stopped', reason: this.#stopReason };
  }

  #started(actor: Actor<In>): void {
    this.#actor = actor;
    if (this.#life === 'stopped') {
      if (!this.#letGo) this.#abandon('ended');
      return;
    }
    this.#life = advance(this.#life, 'running');
    this.#host.reports.started(this.#address);
    this.#next();
  }

  #park(body: In): void {
    if (this.#life !== 'starting' && this.#life !== 'running') return;
    if (this.#mail().offerUser(body) !== 'full') return;
    const { mailMax } = this.#host;
    const fault = new Fault(
      'mailbox.full',
      `the mailbox of actor "${this.#id}" is full: ${mailMax} messages wait; send fewer at a time or let it receive faster`,
    );
    this.crash(fault);
  }

  #mail(): Mailbox<string, In> {
    this.#mailbox ??= openMailbox(this.#host.mailMax);
    return this.#mailbox;
  }

  readonly #receive = (body: In): void => {
    try {
      const pending = this.#actor?.receive(body);
      if (!isPromise(pending)) return;
      this.#busy = true; // I2
      pending.then(this.#settled, this.#failed);
    } catch (thrown) {
      this.crash(thrown);
    }
  };

  readonly #settled = (): void => {
    this.#busy = false;
    this.#next();
  };

  readonly #failed = (thrown: unknown): void => this.crash(thrown);

  #next(): void {
    while (this.#life === 'running' && !this.#busy) {
      const mail = this.#mailbox?.take();
      if (mail === undefined) return;
      if (mail.lane === 'system') this.#drain(mail.body);
      else this.#receive(mail.body);
    }
  }

  #drain(reason: string): void {
    if (this.#life !== 'running') return; // the first reason holds
    this.#life = advance(this.#life, 'draining');
    this.#mailbox?.close();
    this.#letGo = true;
    this.#stopReason = reason;
    const stopped = (): void => this.#end(this.#ownExit());
    this.#inScope(() => {
      const pending = this.#actor?.stop(reason); // I3
      if (!isPromise(pending)) return stopped();
      return pending.then(stopped);
    });
  }

  #end(exit: ExitReason): void {
    if (this.#life === 'stopped') return; // I1
    this.#life = 'stopped';
    this.#host.reports.exited(this.#address, exit);
    this.#abandon(exit.type);
  }

  /** Lets the actor clean up when nobody waits for it any more; what goes wrong there has nobody to fail. */
  #abandon(reason: string): void {
    this.#mailbox?.close();
    if (this.#letGo || this.#actor === undefined) return;
    this.#letGo = true;
    this.#inScope(() => this.#actor?.stop(reason));
  }

  /** Runs the actor's code; a throw or a rejection is a crash. */
  #inScope(run: () => void | Promise<void>): void {
    this.#host.scope.run(this, () => {
      try {
        const pending = run();
        if (isPromise(pending)) pending.then(undefined, this.#failed);
      } catch (thrown) {
        this.crash(thrown);
      }
    });
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
