/**
 * How many requests may be under way at one provider. Owns the count and the queue.
 *
 * 1. At most `max` permits are out; `null` = no limit.
 * 2. Waiters are served in the order in which they came.
 * 3. A waiter that is cancelled leaves the queue at once and never takes a permit.
 * 4. A permit goes back once, however often its release is called.
 */
import type { CancelSignal } from '../runtime/core/tool.ts';

export class Permits {
  readonly #max: number | null;
  #out = 0;
  readonly #queue: (() => void)[] = [];

  constructor(max: number | null) {
    this.#max = max;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** A permit's release, or `null` if `signal` fired first. */
  take(signal: CancelSignal): Promise<(() => void) | null> {
    if (signal.aborted) return Promise.resolve(null);
    if (this.#max === null || this.#out < this.#max) {
      this.#out += 1; // 1
      return Promise.resolve(this.#release());
    }
    return new Promise((resolve) => {
      const cancelled = () => {
        const at = this.#queue.indexOf(granted);
        if (at >= 0) this.#queue.splice(at, 1); // 3
        resolve(null);
      };
      const granted = () => {
        signal.removeEventListener('abort', cancelled);
        resolve(this.#release());
      };
      signal.addEventListener('abort', cancelled, { once: true });
      this.#queue.push(granted); // 2
    });
  }

  #release(): () => void {
    let held = true;
    return () => {
      if (!held) return; // 4
      held = false;
      const next = this.#queue.shift();
      if (next === undefined) this.#out -= 1;
      else next();
    };
  }
}
