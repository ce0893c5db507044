import type { Clock } from '../base/clock.ts';
import type { CancelSignal } from '../runtime/core/tool.ts';

/** Resolves after `ms`, or at once when `signal` fires. Leaves neither timer nor listener behind. */
export function pause(clock: Clock, ms: number, signal: CancelSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
