import type { ExitReason } from './exit.ts';
import type { Share } from './shared-values.ts';

/**
 * The number that one life of an actor is addressed by: unique within a pool and never reused. An actor that is started
 * again under its old id has a new address, so mail of its earlier life cannot be mistaken for mail of this one.
 */
export type ActorAddress = number;

/** Everything the pool says to an actor host. Plain data; `init` and `body` belong to the actors. */
export type ToHost<Init, In> =
  | {
      readonly type: 'spawn';
      readonly to: ActorAddress;
      readonly id: string;
      readonly init: Init;
      readonly shared?: Share<object>;
    }
  | { readonly type: 'tell'; readonly to: ActorAddress; readonly body: In }
  | { readonly type: 'stop'; readonly to: ActorAddress; readonly reason: string }
  /** Drop it without asking; nothing is answered. */
  | { readonly type: 'kill'; readonly to: ActorAddress }
  | { readonly type: 'ping' }
  /** Let go of everything and answer `closed`. */
  | { readonly type: 'close' };

/** Everything an actor host says to its pool. */
export type FromHost<Out> =
  | { readonly type: 'up' }
  | { readonly type: 'started'; readonly from: ActorAddress }
  | { readonly type: 'tell'; readonly from: ActorAddress; readonly body: Out }
  | { readonly type: 'exited'; readonly from: ActorAddress; readonly exit: ExitReason }
  | { readonly type: 'pong' }
  /** The last word of a host that is about to end its thread, and why. */
  | { readonly type: 'failing'; readonly detail: string }
  | { readonly type: 'closed' };
