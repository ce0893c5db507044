import type { Clock } from '../base/clock.ts';

/** The system's time for what is redrawn; its timers keep no process alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, ms).unref();
    return () => clearTimeout(timer);
  },
};
