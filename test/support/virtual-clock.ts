import type { Clock } from '../../src/base/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** Time that only moves when a test turns it. Timers due at the same instant fire in an order that `tie` decides. */
export class VirtualClock implements Clock {
  #now = 0;
  #count = 0;
  readonly #timers = new Set<Timer>();
  readonly #tie: () => number;

  constructor(tie: () => number = () => 0) {
    this.#tie = tie;
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
}
