import type { Clock } from '../base/clock.ts';
import type { RunCommand } from './core/run-command.ts';
import type { RunEffect } from './core/run-due.ts';

/** Stops a run when its time is up, counted from its start whatever was lost since. @returns how to take it back. */
export function stopAtDeadline(
  clock: Clock,
  effect: Extract<RunEffect, { type: 'deadline' }>,
  settle: (command: RunCommand | null) => void,
): () => void {
  const seconds = effect.limitMs / 1000;
  const stop =
    effect.kind === 'run_time_limit'
      ? ({
          status: 'incomplete',
          reason: 'run_time_limit',
          by: 'limit',
          error_type: null,
        } as const)
      : ({
          status: 'cancelled',
          reason: `timed out after ${seconds}s`,
          by: 'deadline',
          error_type: 'timeout',
        } as const);
  const untime = clock.after(Math.max(0, effect.atMs - clock.now()), () =>
    settle({ type: 'stop', stop }),
  );
  return () => {
    untime();
    settle(null);
  };
}
