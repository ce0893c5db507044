/**
 * A queue of the numbers `0 … size - 1`, best score first. Equal scores leave in the order of the numbers, so that the
 * same input always gives the same result.
 */
export class BestFirst {
  readonly #scores: Float64Array;
  readonly #heap: number[];

  /** Every number is in the queue from the start, with its score. */
  constructor(scores: Float64Array) {
    this.#scores = scores.slice();
    this.#heap = Array.from(this.#scores.keys());
    for (let slot = (this.#heap.length >> 1) - 1; slot >= 0; slot -= 1) this.#sink(slot);
  }

  /** Takes the best number out; undefined when the queue is empty. */
  take(): number | undefined {
    const best = this.#heap[0];
    const last = this.#heap.pop();
    if (best === undefined || last === undefined) return undefined;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return best;
  }

  /** Puts a number back that was taken out. */
  put(item: number, score: number): void {
    this.#scores[item] = score;
    let slot = this.#heap.push(item) - 1;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      if (!this.#before(slot, above)) return;
      this.#swap(slot, above);
      slot = above;
    }
  }

  /** The score of the number that `take` would return; -Infinity when the queue is empty. */
  get bestScore(): number {
    const best = this.#heap[0];
    return best === undefined ? Number.NEGATIVE_INFINITY : this.#score(best);
  }

  #score(item: number): number {
    return this.#scores[item] ?? Number.NEGATIVE_INFINITY;
  }

  #before(a: number, b: number): boolean {
    const left = this.#heap[a] as number;
    const right = this.#heap[b] as number;
    const gap = this.#score(left) - this.#score(right);
    return gap === 0 ? left < right : gap > 0;
  }

  #swap(a: number, b: number): void {
    const left = this.#heap[a] as number;
    this.#heap[a] = this.#heap[b] as number;
    this.#heap[b] = left;
  }

  #sink(from: number): void {
    let slot = from;
    for (;;) {
      let best = slot;
      for (const below of [2 * slot + 1, 2 * slot + 2]) {
        if (below < this.#heap.length && this.#before(below, best)) best = below;
      }
      if (best === slot) return;
      this.#swap(slot, best);
      slot = best;
    }
  }
}
