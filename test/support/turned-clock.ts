import type { Clock } from '../../src/base/clock.ts';

/** A clock that stands still until a test turns it. */
export class TurnedClock implements Clock {
  #nowMs: number;
  #timers: { atMs: number; readonly fn: () => void }[] = [];

  constructor(nowMs = 1_000_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** As somebody sets a clock: no timer hears of it. */
  set(nowMs: number): void {
    const by = nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    for (const timer of this.#timers) timer.atMs += by;
  }

  /** How many timers somebody waits for. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Calls what falls due within the next `ms`, in order, at its moment. */
  turn(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = this.#timers
        .filter((timer) => timer.atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fn();
    }
    this.#nowMs = untilMs;
  }
}
