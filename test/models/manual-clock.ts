import type { Clock } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';

interface Timer {
  readonly ms: number;
  readonly at: number;
  readonly fn: () => void;
}

/** Time that a test turns. Remembers every delay that was asked for. */
export class ManualClock implements Clock {
  readonly delays: number[] = [];
  readonly #timers = new Set<Timer>();
  readonly #waiting: { readonly ms: number; readonly resolve: () => void }[] = [];
  #now = 1_000_000;

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { ms, at: this.#now + ms, fn };
    this.delays.push(ms);
    this.#timers.add(timer);
    for (const waiter of this.#waiting) if (waiter.ms === ms) waiter.resolve();
    return () => {
      this.#timers.delete(timer);
    };
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Resolves once a timer of this length is running. */
  async timer(ms: number): Promise<void> {
    if ([...this.#timers].some((timer) => timer.ms === ms)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push({ ms, resolve });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
  }
}

/** Chance that always falls in the middle. */
export const EVEN: Random = { id: () => 'id', uuid: () => 'uuid', unit: () => 0.5 };
