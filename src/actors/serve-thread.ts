import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ServiceThreadData } from './service-thread.ts';

/** Called once when the thread is asked to end; the thread ends once this has settled. */
export type OnClose = () => void | Promise<void>;

/**
 * The body of a service thread's entry: called once by that file, with a function that gets what `openServiceThread` was
 * given. What the function throws or rejects with ends the thread as `crashed`.
 */
export function serveThread<Data>(
  serve: (data: Data, port: MessagePort) => OnClose | undefined | Promise<OnClose | undefined>,
): void {
  const { data, port } = workerData as ServiceThreadData & { readonly data: Data };
  const served = Promise.resolve(serve(data, port));
  // A rejection stays unhandled on purpose: that is what ends the thread as crashed.
  parentPort?.once('message', () => {
    void served.then(async (onClose) => {
      await onClose?.();
      // What was sent last is posted by a microtask; a turn of the loop lets that happen.
      setImmediate(() => process.exit(0));
    });
  });
}
