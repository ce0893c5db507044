import type { FaultWire } from '../../base/fault.ts';

/**
 * How an actor, or a thread that serves one purpose, came to its end. Plain data: it crosses threads as it is.
 * `normal`: it ended itself; `stopped`: it was asked to and did; `crashed`: its own code failed; `lost`: its thread died
 * or it was dropped, so nobody knows how far it came; `not-ready`: it never reported that it had started.
 */
export type ExitReason =
  | { readonly type: 'normal' }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'crashed'; readonly fault: FaultWire }
  | { readonly type: 'lost'; readonly detail: string }
  | { readonly type: 'not-ready'; readonly detail: string };

/** One line for a log or an error text. */
export function describeExit(exit: ExitReason): string {
  switch (exit.type) {
    case 'normal':
      return 'ended by itself';
    case 'stopped':
      return `stopped: ${exit.reason}`;
    case 'crashed':
      return `crashed: ${exit.fault.message}`;
    case 'lost':
      return `lost: ${exit.detail}`;
    case 'not-ready':
      return `not ready: ${exit.detail}`;
  }
}
