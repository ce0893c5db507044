import type { endTask } from '../../src/runtime/core/plan-decide.ts';
import type { runMachine } from '../../src/runtime/core/run.ts';
import type { RunCommand } from '../../src/runtime/core/run-command.ts';
import type { causeOf } from '../../src/runtime/core/run-due.ts';
import type { RunEvent } from '../../src/runtime/core/run-event.ts';
import { evolveRun } from '../../src/runtime/core/run-evolve.ts';
import type { following } from '../../src/runtime/core/run-follow.ts';
import type { RunState } from '../../src/runtime/core/run-state.ts';

type Machine = ReturnType<typeof runMachine>;
type Steps = ReturnType<Machine['advance']>;

/** What a mutant puts in the place of the real thing; `null` = nothing. */
export interface Hooks {
  machine: ((real: Machine) => Partial<Machine>) | null;
  following: ((real: typeof following) => typeof following) | null;
  causeOf: ((real: typeof causeOf) => typeof causeOf) | null;
  endTask: ((real: typeof endTask) => typeof endTask) | null;
}

export const NO_HOOKS: Hooks = { machine: null, following: null, causeOf: null, endTask: null };

/** The steps with other events: each taken on the state that the one before it left. */
function replayed(from: RunState, events: readonly RunEvent[]): Steps {
  let state = from;
  return events.map((event) => {
    const before = state;
    state = evolveRun(before, event);
    return { before, event, after: state };
  });
}

/** Changes what is decided. */
export function decides(
  hooks: Hooks,
  change: (events: readonly RunEvent[], command: RunCommand) => RunEvent[],
) {
  hooks.machine = (real) => ({
    advance: (state, command) => {
      const events = real.advance(state, command).map(({ event }) => event);
      return replayed(state, change(events, command));
    },
  });
}

/** Changes what is asked for. */
export function hears(hooks: Hooks, change: (command: RunCommand) => RunCommand) {
  hooks.machine = (real) => ({ advance: (state, command) => real.advance(state, change(command)) });
}

export function isEnd(event: RunEvent): boolean {
  return /^run\.(completed|failed|cancelled|incomplete)$/.test(event.type);
}

export function isResult(event: RunEvent): boolean {
  return event.type === 'tool.completed' || event.type === 'tool.failed';
}
