import type { PartedMachine } from './parted-machine.ts';
import type { RunCommand } from './run-command.ts';
import { advanceRun, decideRun } from './run-decide.ts';
import { dueInPart, dueOfRun, partsOfRun, partsTouched, type RunEffect } from './run-due.ts';
import type { RunEvent } from './run-event.ts';
import { evolveRun } from './run-evolve.ts';
import { ALONE, type RunSurroundings } from './run-follow.ts';
import { pendingRun, type RunState } from './run-state.ts';

/** The machine of one run: its turns, its calls, its children, its end. */
export function runMachine(
  runId: string,
  around: RunSurroundings = ALONE,
): PartedMachine<RunState, RunCommand, RunEvent, RunEffect> {
  return {
    initial: pendingRun(runId),
    decide: (state, command) => decideRun(state, command, around),
    advance: (state, command) => advanceRun(state, command, around),
    evolve: evolveRun,
    due: dueOfRun,
    parts: partsOfRun,
    dueInPart,
    partsTouched,
  };
}
