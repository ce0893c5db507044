// Runs under whose work their host ended more than once, taken up again one at a time: when it ends once more, only one
// of them was at work, so a healthy neighbour is not taken for the one that does it. It owns who has to wait.
// Q1  The next one begins when the one before it has ended, has finished a turn, or waits for others.
// Q2  One that ends while it waits here is passed over.
import type { RunState } from './core/run-state.ts';

export interface Suspect {
  readonly runId: string;
  readonly state: RunState;
  readonly hasEnded: boolean;
  resume(suspect: boolean): void;
}

export class Quarantine {
  readonly #waiting: Suspect[] = [];
  #current: Suspect | null = null;

  add(suspect: Suspect): void {
    this.#waiting.push(suspect);
  }

  /** This run has recorded something: it may be cleared. */
  recorded(runId: string): void {
    // The next one is not begun in the middle of what this one does.
    if (this.#current?.runId === runId) queueMicrotask(() => this.next());
  }

  /** Takes up whose turn it is. */
  next(): void {
    while (this.#current === null || isCleared(this.#current)) {
      const next = this.#waiting.shift();
      this.#current = next ?? null;
      if (next === undefined) return;
      if (!next.hasEnded && next.state.stopping === null) next.resume(true); // Q2
    }
  }
}

/** Q1 */
function isCleared({ hasEnded, state }: Suspect): boolean {
  const waitsForOthers = state.phase === 'calling' && state.agenda.counts.working === 0;
  return hasEnded || state.stopping !== null || state.hostLosses === 0 || waitsForOthers;
}
