import { Fault } from '../base/fault.ts';
import type { CancelSignal } from '../runtime/core/tool.ts';

/**
 * One request in flight and, to whoever carries it out, the signal that calls it off. An `AbortController` does the
 * same and takes more memory than all the rest of a waiting run.
 */
export class Flight implements CancelSignal {
  readonly turn: number;
  /** Its answer or its failure is known. */
  isOver = false;
  #reason: Fault | undefined;
  #listeners: (() => void)[] | null = null;

  constructor(turn: number) {
    this.turn = turn;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The second call does nothing. */
  abort(): void {
    if (this.#reason !== undefined) return;
    this.#reason = new Fault('model.aborted', 'the request was called off');
    const listeners = this.#listeners ?? [];
    this.#listeners = null;
    for (const listener of listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    this.#listeners = [...(this.#listeners ?? []), listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners?.filter((each) => each !== listener) ?? null;
  }
}
