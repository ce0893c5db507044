// A text at the foot of a terminal, redrawn in place. Owns the frame that stands there and the timer of the next one.
// L1  At most one frame in `FRAME_MS`, except for the one that a line printed above it needs.
// L2  A frame is drawn because something changed or because a second has passed, never otherwise.
// L3  After `end` nothing is drawn and no timer is left.
import type { Clock } from '../base/clock.ts';

export const FRAME_MS = 100;
const TICK_MS = 1000;

/** What draws: `log-update`'s function for a stream. */
export interface Draw {
  (text: string): void;
  clear(): void;
  persist(text: string): void;
}

export class LiveTree {
  readonly #draw: Draw;
  readonly #frame: () => string;
  readonly #clock: Clock;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #waiting = false;
  #ended = false;

  constructor(draw: Draw, frame: () => string, clock: Clock) {
    this.#draw = draw;
    this.#frame = frame;
    this.#clock = clock;
    this.#paint();
  }

  /** There is something new to show. */
  changed(): void {
    if (this.#ended || this.#waiting) return;
    const sinceLast = this.#clock.now() - this.#drawnAt;
    if (sinceLast >= FRAME_MS) {
      this.#paint();
      return;
    }
    this.#stopTimer();
    this.#waiting = true;
    this.#stopTimer = this.#clock.after(FRAME_MS - sinceLast, () => this.#paint()); // L1
  }

  /** A line that stays, above the frame. */
  above(line: string): void {
    this.#draw.persist(line);
    if (!this.#ended) this.#paint();
  }

  /** Takes the frame away. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopTimer(); // L3
    this.#draw.clear();
  }

  #paint(): void {
    this.#stopTimer();
    this.#waiting = false;
    this.#drawnAt = this.#clock.now();
    this.#draw(this.#frame());
    this.#stopTimer = this.#clock.after(TICK_MS, () => this.#paint()); // L2
  }
}
