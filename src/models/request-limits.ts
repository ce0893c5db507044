/**
 * The clocks of one question to a provider, over all its attempts. Owns the total timer, the idle timer and the
 * abort controller of the attempt under way.
 *
 * 1. The first cause to stop a request is the one that counts; later ones change nothing.
 * 2. The total limit and the caller's cancellation are final; an idle limit ends only its attempt.
 * 3. After `end()` no timer and no listener is left.
 */
import type { Clock } from '../base/clock.ts';
import type { ProviderEntry } from '../runtime/core/model.ts';
import type { CancelSignal } from '../runtime/core/tool.ts';

export type Stop = 'caller' | 'total' | 'idle' | 'size';

export class RequestLimits {
  readonly #entry: ProviderEntry;
  readonly #clock: Clock;
  readonly #caller: CancelSignal;
  readonly #endsAt: number;
  readonly #cancelTotal: () => void;
  #final: Stop | null = null;
  #attemptStop: Stop | null = null;
  #controller: AbortController | null = null;
  #cancelIdle: () => void = () => undefined;
  #aliveAt = 0;
  #wake: () => void = () => undefined;

  constructor(entry: ProviderEntry, clock: Clock, caller: CancelSignal) {
    this.#entry = entry;
    this.#clock = clock;
    this.#caller = caller;
    this.#endsAt = clock.now() + entry.totalTimeoutMs;
    this.#cancelTotal = clock.after(entry.totalTimeoutMs, () => this.#finish('total'));
    caller.addEventListener('abort', this.#onCaller, { once: true });
    if (caller.aborted) this.#onCaller();
  }

  /** What stopped the attempt under way, or all of them; `null` while nothing did. */
  get stop(): Stop | null {
    return this.#final ?? this.#attemptStop;
  }

  /** No further attempt may be made (2). */
  get final(): boolean {
    return this.#final !== null;
  }

  get remainingMs(): number {
    return this.#endsAt - this.#clock.now();
  }

  /** Starts the clocks of an attempt; its signal fires when the attempt has to end. */
  begin(): AbortSignal {
    this.#attemptStop = null;
    this.#controller = new AbortController();
    if (this.#final !== null) this.#controller.abort();
    this.alive();
    this.#armIdle(this.#entry.idleTimeoutMs);
    return this.#controller.signal;
  }

  /** Bytes arrived: the silence is over. */
  alive(): void {
    this.#aliveAt = this.#clock.now();
  }

  /** The attempt is over, well or not. */
  finishAttempt(): void {
    this.#cancelIdle();
    this.#controller = null;
  }

  /** The attempt sent more than anyone may send. */
  tooLarge(): void {
    this.#stopAttempt('size');
  }

  /** Waits, or returns early when a final cause comes. */
  async pause(ms: number): Promise<void> {
    if (this.#final !== null) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  end(): void {
    this.finishAttempt();
    this.#cancelTotal();
    this.#caller.removeEventListener('abort', this.#onCaller); // 3
  }

  readonly #onCaller = () => this.#finish('caller');

  #finish(cause: Stop): void {
    if (this.#final !== null) return; // 1
    this.#final = cause;
    this.#controller?.abort();
    this.#wake();
  }

  #stopAttempt(cause: Stop): void {
    if (this.stop !== null) return; // 1
    this.#attemptStop = cause;
    this.#controller?.abort();
  }

  /** One timer for any number of chunks: it looks at the time of the last one when it fires. */
  #armIdle(ms: number): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#clock.after(ms, () => {
      const leftMs = this.#aliveAt + this.#entry.idleTimeoutMs - this.#clock.now();
      if (leftMs <= 0) this.#stopAttempt('idle');
      else this.#armIdle(leftMs);
    });
  }
}
