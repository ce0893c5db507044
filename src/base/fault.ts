import type { JsonObject } from './json.ts';

/**
 * Every way troupe itself can fail, by what went wrong. Stable: callers branch on these, never on texts.
 * The part before the dot is the piece of troupe that says so.
 */
export type FaultCode =
  | 'actor.crashed'
  | 'actor.lost'
  | 'actor.not-ready'
  | 'agent.not-found'
  | 'agent.unusable'
  | 'approval.not-found'
  | 'approval.settled'
  | 'argument.invalid'
  | 'channel.lost'
  | 'config.invalid'
  | 'defect'
  | 'host.absent'
  | 'host.closed'
  | 'journal.closed'
  | 'journal.corrupt'
  | 'journal.unwritable'
  | 'mailbox.full'
  | 'memory.not-found'
  | 'memory.unusable'
  | 'model.aborted'
  | 'model.malformed'
  | 'model.rate-limited'
  | 'model.refused'
  | 'model.server-error'
  | 'model.timeout'
  | 'model.unreachable'
  | 'model.unsupported'
  | 'pool.closed'
  | 'pool.full'
  | 'project.quota'
  | 'run.cancelled'
  | 'run.ended'
  | 'run.limit'
  | 'run.not-found'
  | 'scenario.invalid'
  | 'sqlite.absent'
  | 'state.locked'
  | 'tool.failed'
  | 'tool.invalid'
  | 'tool.killed'
  | 'tool.timeout';

/** May the caller try again? `safe`: nothing happened; `unsafe`: it may have happened; `never`: it will fail alike. */
export type RetryAdvice = 'safe' | 'unsafe' | 'never';

export interface FaultOptions {
  readonly retry?: RetryAdvice;
  readonly detail?: JsonObject;
  readonly cause?: unknown;
}

/** The one error class of troupe. `code` says what went wrong, `retry` what the caller may do about it. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly retry: RetryAdvice;
  readonly detail: JsonObject;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.retry = options.retry ?? 'never';
    this.detail = options.detail ?? {};
  }
}

/** How a fault crosses a thread: structured clone drops an error's class, code and fields. */
export interface FaultWire {
  readonly code: FaultCode;
  readonly message: string;
  readonly retry: RetryAdvice;
  readonly detail: JsonObject;
}

/** Anything thrown, as a wire form. What is not a `Fault` becomes one with `code`. */
export function toWire(thrown: unknown, code: FaultCode = 'defect'): FaultWire {
  if (thrown instanceof Fault) {
    return {
      code: thrown.code,
      message: thrown.message,
      retry: thrown.retry,
      detail: thrown.detail,
    };
  }
  return { code, message: messageOf(thrown), retry: 'never', detail: {} };
}

export function fromWire(wire: FaultWire): Fault {
  return new Fault(wire.code, wire.message, { retry: wire.retry, detail: wire.detail });
}

/** The words of anything that was thrown, be it an error, a string or `undefined`. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === 'string') return thrown;
  try {
    return `thrown value ${JSON.stringify(thrown) ?? String(thrown)}`;
  } catch {
    return `thrown value of type ${typeof thrown}`;
  }
}
