/**
 * Typed calls into an actor host for what is said seldom: comlink over a port of its own, with its holes stopped.
 *
 * I1 Only the call of one own, listed name with plain arguments reaches comlink: through anything else a peer could
 *    reach `constructor.constructor` and run code of its own here.
 * I2 Every call settles: with its answer, or with a fault once the thread is gone. comlink alone would wait for ever.
 * I3 The proxy is held as long as its port: comlink releases the far side of a proxy that was garbage-collected.
 * I4 Faults keep their code: comlink carries no more of an error than its name, message and stack.
 */
import type { MessagePort, TransferListItem } from 'node:worker_threads';
import * as Comlink from 'comlink';
import { Fault, type FaultWire, fromWire, messageOf, toWire } from '../base/fault.ts';
import type { ControlMethods } from './actor.ts';

/** One host's control methods, called from the host thread. */
export interface Control {
  /**
   * Calls `method` with `args` and resolves to what it returned. Rejects with the fault it threw, with `channel.lost`
   * once the thread is gone, or with `argument.invalid` for an argument that no thread can receive.
   */
  call(
    method: string,
    args: readonly unknown[],
    transfer?: readonly TransferListItem[],
  ): Promise<unknown>;
  /** The thread is gone, or is let go: every open call and every later one rejects with `channel.lost`. */
  lose(detail: string): void;
}

type Answer =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly fault: FaultWire };

type Remote = Record<string, (args: unknown[]) => Promise<Answer>>;

/** Answers calls of `methods` that arrive on `port`. */
export function exposeControl(methods: ControlMethods, port: MessagePort): void {
  const listed: Record<string, (args: never[]) => Promise<Answer>> = Object.create(null);
  for (const [name, method] of Object.entries(methods)) {
    listed[name] = async (args) => {
      try {
        return { type: 'returned', value: await method(...args) };
      } catch (thrown) {
        return { type: 'threw', fault: toWire(thrown, 'actor.crashed') }; // I4
      }
    };
  }
  Comlink.expose(listed, guardedEndpoint(port, new Set(Object.keys(listed))));
}

/** Calls into the thread at the other end of `port`. The port keeps no process alive. */
export function openControl(port: MessagePort): Control {
  const remote = Comlink.wrap<Remote>(plainEndpoint(port)) as unknown as Remote; // I3: held by `call`
  port.unref();
  const open = new Set<(detail: string) => void>();
  let lostBy: string | undefined;
  return {
    call(method, args, transfer = []) {
      if (lostBy !== undefined) return Promise.reject(lost(method, lostBy));
      if (args.some((arg) => arg instanceof AbortSignal)) {
        return Promise.reject(signalRefused(method));
      }
      return new Promise((resolve, reject) => {
        const give = (detail: string): void => reject(lost(method, detail)); // I2
        open.add(give);
        ask(remote, method, args, transfer)
          .then(resolve, reject)
          .finally(() => open.delete(give));
      });
    },
    lose(detail) {
      if (lostBy !== undefined) return;
      lostBy = detail;
      for (const give of open) give(detail);
      open.clear();
      port.close();
    },
  };
}

async function ask(
  remote: Remote,
  method: string,
  args: readonly unknown[],
  transfer: readonly TransferListItem[],
): Promise<unknown> {
  let answer: Answer | undefined;
  try {
    const list = Comlink.transfer([...args], [...transfer] as never[]);
    answer = await remote[method]?.(list);
  } catch (thrown) {
    throw new Fault('channel.lost', `control call "${method}" failed: ${messageOf(thrown)}`);
  }
  if (answer?.type === 'threw') throw fromWire(answer.fault);
  return answer?.value;
}

function lost(method: string, detail: string): Fault {
  return new Fault('channel.lost', `control call "${method}" has no answer: ${detail}`, {
    retry: 'unsafe',
  });
}

function signalRefused(method: string): Fault {
  return new Fault(
    'argument.invalid',
    `control call "${method}" was given an AbortSignal, which dies when it crosses threads; send a message to cancel`,
  );
}

function plainEndpoint(
  port: MessagePort,
  accepts?: (message: unknown) => boolean,
): Comlink.Endpoint {
  return {
    postMessage: (message: unknown, transfer?: readonly unknown[]) =>
      port.postMessage(message, (transfer ?? []) as TransferListItem[]),
    addEventListener(_type: string, listener: unknown) {
      port.on('message', (data: unknown) => {
        if (accepts?.(data) ?? true) (listener as (event: unknown) => void)({ data });
      });
    },
    // I3: an endpoint lives as long as its port.
    removeEventListener: () => undefined,
  };
}

interface Request {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly path?: unknown;
  readonly argumentList?: unknown;
}

function guardedEndpoint(port: MessagePort, names: ReadonlySet<string>): Comlink.Endpoint {
  return plainEndpoint(port, (message) => {
    const request: Request = typeof message === 'object' && message !== null ? message : {};
    if (isListedCall(request, names)) return true; // I1
    const path = Array.isArray(request.path) ? request.path.join('.') : '';
    const text = `refused: ${String(request.type)} "${path}" is no control method of this thread`;
    const value = { isError: true, value: { name: 'Fault', message: text, stack: '' } };
    port.postMessage({ id: request.id, type: 'HANDLER', name: 'throw', value });
    return false;
  });
}

function isListedCall(request: Request, names: ReadonlySet<string>): boolean {
  const { type, path, argumentList } = request;
  if (type !== 'APPLY' || !Array.isArray(path) || path.length !== 1) return false;
  if (!names.has(path[0]) || !Array.isArray(argumentList)) return false;
  return argumentList.length === 1 && argumentList.every(isPlainArgument);
}

function isPlainArgument(argument: unknown): boolean {
  return (
    typeof argument === 'object' &&
    argument !== null &&
    'type' in argument &&
    argument.type === 'RAW' &&
    'value' in argument &&
    Array.isArray(argument.value)
  );
}
