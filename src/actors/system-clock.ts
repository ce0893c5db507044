import type { Clock } from '../base/clock.ts';

/** The computer's own clock. Its timers keep no process alive: what waits for work in flight holds on to that work. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
