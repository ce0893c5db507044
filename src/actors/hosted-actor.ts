/**
 * One actor as its owner on the host thread knows it.
 *
 * I1 `exited` is called once; nothing is received after it, because its host has forgotten it by then.
 */
import type { TransferListItem } from 'node:worker_threads';
import type { Fault } from '../base/fault.ts';
import type { ActorAddress, ToHost } from './core/envelope.ts';
import type { ExitReason } from './core/exit.ts';
import type { ActorEvents, ActorRef } from './pool.ts';

/** The host that an actor lives on, as far as the actor needs it. */
export interface Home<Init, In> {
  readonly index: number;
  post(envelope: ToHost<Init, In>, transfer?: readonly TransferListItem[]): void;
  forget(address: ActorAddress): void;
}

export class HostedActor<Init, In, Out> implements ActorRef<In> {
  readonly id: string;
  readonly address: ActorAddress;
  readonly bornMs: number;
  readonly #home: Home<Init, In>;
  readonly #events: ActorEvents<Out>;
  #ended = false;
  #awaitingEnd: (() => void)[] | undefined;

  constructor(
    id: string,
    address: ActorAddress,
    home: Home<Init, In>,
    events: ActorEvents<Out>,
    bornMs: number,
  ) {
    this.id = id;
    this.address = address;
    this.bornMs = bornMs;
    this.#home = home;
    this.#events = events;
  }

  get hostIndex(): number {
    return this.#home.index;
  }

  tell(body: In, transfer?: readonly TransferListItem[]): void {
    if (!this.#ended) this.#home.post({ type: 'tell', to: this.address, body }, transfer);
  }

  stop(reason: string): void {
    if (!this.#ended) this.#home.post({ type: 'stop', to: this.address, reason });
  }

  kill(detail: string): void {
    this.drop({ type: 'lost', detail });
  }

  /** Judged here; its host is told to forget it. */
  drop(exit: ExitReason): void {
    if (this.#ended) return;
    this.#home.post({ type: 'kill', to: this.address });
    this.end(exit);
  }

  received(body: Out): void {
    this.#events.receive(body);
  }

  end(exit: ExitReason): void {
    if (this.#ended) return; // I1
    this.#ended = true;
    this.#home.forget(this.address);
    for (const resolve of this.#awaitingEnd ?? []) resolve();
    this.#events.exited(exit);
  }

  whenEnded(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#awaitingEnd = [...(this.#awaitingEnd ?? []), resolve];
    });
  }

  /** A body for this actor cannot be cloned. Says whether its owner took that upon itself. */
  refused(body: unknown, fault: Fault): boolean {
    if (this.#events.refused === undefined) return false;
    this.#events.refused(body, fault);
    return true;
  }
}
