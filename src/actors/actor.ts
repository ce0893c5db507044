import type { TransferListItem } from 'node:worker_threads';

/**
 * What runs in an actor host: one behavior a thread, any number of actors. An actor gets one message at a time; the next
 * one waits until what `receive` returned has settled.
 */
export interface Behavior<Init, In, Out> {
  /**
   * Throwing or rejecting ends the actor as `crashed`. Messages wait until the returned actor is there. `shared` is what
   * `spawn` was given beside `init`: one object for all actors here that were given the same one.
   */
  start(
    id: string,
    init: Init,
    ctx: ActorContext<Out>,
    shared: object | undefined,
  ): Actor<In> | Promise<Actor<In>>;
  /** What the pool's `control` may call, by name; nothing else of this thread is reachable through it. */
  readonly control?: ControlMethods;
  /** Called once when the pool closes, after its actors have ended. */
  close?(): void | Promise<void>;
  /** How many messages may wait for one actor (default 10,000). One more, and it ends as `crashed: mailbox.full`. */
  readonly mailMax?: number;
}

export interface Actor<In> {
  receive(body: In): void | Promise<void>;
  /**
   * Let go of timers, streams and requests. Called at most once: when the actor is asked to stop (even while `receive`
   * is still busy; no further message follows, and it has ended once this has settled), or after it crashed or was
   * dropped (then nobody waits for it).
   */
  stop(reason: string): void | Promise<void>;
}

/** What an actor may do. Its functions may be taken apart from it; after the actor's end they do nothing. */
export interface ActorContext<Out> {
  /** Sends `body` to whoever spawned this actor. A body that cannot be cloned ends the actor as `crashed`. */
  tell(body: Out, transfer?: readonly TransferListItem[]): void;
  /** Ends this actor as `normal`, at once. What it told before arrives before that. */
  exit(): void;
}

export type ControlMethods = Readonly<Record<string, (...args: never[]) => unknown>>;
