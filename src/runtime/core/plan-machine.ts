import type { Machine } from '../../base/machine.ts';
import { assertNever } from '../../base/never.ts';
import { type AnswerBook, startPlan } from './plan-answers.ts';
import { endTask } from './plan-decide.ts';
import type { PlanEvent, ReviewVerdict } from './plan-event.ts';
import { evolvePlan } from './plan-evolve.ts';
import { followPlan } from './plan-follow.ts';
import type { PlanSpec } from './plan-spec.ts';
import {
  cancelledChildren,
  type Launch,
  liveLaunches,
  PENDING_PLAN,
  type PlanState,
} from './plan-state.ts';
import type { ChildOutcome } from './run-event.ts';

/** What can happen to a plan that runs on its own. */
export type PlanCommand =
  | {
      readonly type: 'start';
      readonly spec: PlanSpec;
      readonly operationId: string;
      readonly frame: string | null;
      readonly book: AnswerBook;
    }
  | {
      readonly type: 'task-ended';
      readonly ordinal: number;
      readonly outcome: ChildOutcome;
      readonly verdict: ReviewVerdict | null;
    }
  | { readonly type: 'out-of-time' };

/** What a plan owes the world. `key` tells effects apart, as for a run. */
export type PlanEffect =
  | { readonly type: 'task.run'; readonly key: string; readonly launch: Launch }
  | { readonly type: 'task.cancel'; readonly key: string; readonly ordinal: number };

/** Where a plan on its own stands; its width is nobody else's. */
export interface PlanPlace {
  readonly parentRunId: string;
  readonly width: number;
  readonly childDepth: number;
  /** Ordinal of its first launch. */
  readonly firstOrdinal: number;
}

/** The machine of one plan alone. Inside a run the same parts are driven by the run's machine (SPEC P14). */
export function planMachine(
  place: PlanPlace,
): Machine<PlanState, PlanCommand, PlanEvent, PlanEffect> {
  return {
    initial: PENDING_PLAN,
    decide: (state, command) => decide(state, command, place),
    evolve: (state, event) => evolvePlan(state, event),
    due: dueOfPlan,
  };
}

/** The events of a command and all that follows of itself from them; none where the command comes too late. */
function decide(state: PlanState, command: PlanCommand, place: PlanPlace): readonly PlanEvent[] {
  const events = respond(state, command);
  const isTimeUp = command.type === 'out-of-time';
  if (events.length === 0 && !isTimeUp) return events;
  const after = events.reduce((now, event) => evolvePlan(now, event), state);
  const following = followPlan(after, {
    free: place.width - liveLaunches(after).length,
    nextOrdinal: (after.launches.at(-1)?.ordinal ?? place.firstOrdinal - 1) + 1,
    childDepth: place.childDepth,
    parentRunId: place.parentRunId,
    nothingNew: isTimeUp ? 'run_time_limit' : null,
  });
  return [...events, ...following];
}

function respond(state: PlanState, command: PlanCommand): readonly PlanEvent[] {
  switch (command.type) {
    case 'start':
      return state.spec === null ? [startPlan(command.spec, command)] : [];
    case 'task-ended':
      return endTask(state, command.ordinal, command.outcome, command.verdict);
    case 'out-of-time':
      return [];
    default:
      return assertNever(command);
  }
}

function dueOfPlan(state: PlanState): readonly PlanEffect[] {
  return [
    ...liveLaunches(state).map((launch): PlanEffect => {
      return { type: 'task.run', key: `run:${launch.ordinal}`, launch };
    }),
    ...cancelledChildren(state).map((ordinal): PlanEffect => {
      return { type: 'task.cancel', key: `cancel:${ordinal}`, ordinal };
    }),
  ];
}
