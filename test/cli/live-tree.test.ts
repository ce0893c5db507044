import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { FRAME_MS, LiveTree } from '../../src/cli/live-tree.ts';

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Time that moves only when a test says so. */
class HandClock implements Clock {
  #now = 1000;
  #timers: readonly Timer[] = [];

  get waiting(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + ms, fn };
    this.#timers = [...this.#timers, timer];
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#now = next.at;
      next.fn();
    }
    this.#now = end;
  }
}

function stage() {
  const clock = new HandClock();
  const drawn: string[] = [];
  let frames = 0;
  const frame = () => {
    frames += 1;
    return `frame ${frames}`;
  };
  const draw = Object.assign((text: string) => void drawn.push(text), {
    clear: () => void drawn.push('clear'),
    persist: (text: string) => void drawn.push(`line ${text}`),
  });
  const live = new LiveTree(draw, frame, clock);
  return { clock, drawn, live };
}

describe('the live tree', () => {
  it('K1: a thousand changes in a second are at most ten frames and one', () => {
    const { clock, drawn, live } = stage();
    for (let ms = 0; ms < 1000; ms += 1) {
      live.changed();
      clock.pass(1);
    }
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn.length).toBeLessThanOrEqual(1000 / FRAME_MS + 1);
  });

  it('K1: without a change there is one frame a second, for the elapsed time', () => {
    const { clock, drawn } = stage();
    clock.pass(5000);
    expect(drawn).toHaveLength(6);
  });

  it('a change after a quiet while is shown at once, and the last of many is shown too', () => {
    const { clock, drawn, live } = stage();
    clock.pass(500);
    live.changed();
    expect(drawn).toHaveLength(2);
    live.changed();
    live.changed();
    expect(drawn).toHaveLength(2);
    clock.pass(FRAME_MS);
    expect(drawn).toHaveLength(3);
  });

  it('a line goes above the frame, which is drawn again', () => {
    const { drawn, live } = stage();
    live.above('warning');
    expect(drawn).toEqual(['frame 1', 'line warning', 'frame 2']);
  });

  it('after its end nothing is drawn and no timer is left', () => {
    const { clock, drawn, live } = stage();
    live.changed();
    live.end();
    live.end();
    live.changed();
    clock.pass(5000);
    expect(drawn).toEqual(['frame 1', 'clear']);
    expect(clock.waiting).toBe(0);
  });
});
