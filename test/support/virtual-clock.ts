import type { Clock } from '../../src/base/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** Time that only moves when a test turns it. Timers due at the same instant fire in an order that `tie` decides. */
export class VirtualClock implements Clock {
  #now: number;
  #count = 0;
  readonly #timers = new Set<Timer>();
  readonly #tie: () => number;

  constructor(tie: () => number = () => 0, nowMs = 0) {
    this.#tie = tie;
    this.#now = nowMs;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    this.#count += 1;
    const timer = { at: this.#now + ms, order: this.#tie() * 1e9 + this.#count, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Moves to the next timer and fires it. @returns false if nobody waits. */
  step(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      const sooner =
        next === undefined ||
        timer.at < next.at ||
        (timer.at === next.at && timer.order < next.order);
      if (sooner) next = timer;
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.fn();
    return true;
  }

  /** The same time for somebody whose own timers are counted apart. */
  counted(): Clock & { readonly pending: number } {
    const own = new Set<() => void>();
    return {
      now: () => this.now(),
      after: (ms, fn) => {
        const untime = this.after(ms, () => {
          own.delete(untime);
          fn();
        });
        own.add(untime);
        return () => {
          own.delete(untime);
          untime();
        };
      },
      get pending() {
        return own.size;
      },
    };
  }
}

/** `step`s in one turn of the event loop. */
const BURST = 16;

/** Calls `step` until it returns false; between two calls every promise that can settle has done so. */
export function pump(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let over = false;
    const once = () => {
      if (over) return;
      try {
        if (step()) return;
        over = true;
        resolve();
      } catch (thrown) {
        over = true;
        reject(thrown);
      }
    };
    const burst = () => {
      if (over) return;
      // Node empties the queue of promises after each callback: a turn of the event loop a step is not needed.
      for (let at = 0; at < BURST; at += 1) setImmediate(once);
      setImmediate(burst);
    };
    burst();
  });
}
