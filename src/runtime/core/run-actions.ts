import type { CallVerdict, RunEvent } from './run-event.ts';
import { launchesFreed, reservedFor } from './run-launches.ts';
import { callOf, type RunState } from './run-state.ts';

/**
 * SPEC X2: a call of a tool that changes something outside is an action, also where doing it twice is doing it once; and
 * so is every run that a call launches.
 */
export interface Actions {
  readonly launches: number;
  readonly tools: number;
}

const NONE: Actions = { launches: 0, tools: 0 };

export function actionsOf(verdict: CallVerdict): Actions {
  return { launches: reservedFor(verdict), tools: Number(acts(verdict)) };
}

/** Promised actions that an event gives back, because what they were promised to will not begin. */
export function actionsFreed(before: RunState, event: RunEvent): Actions {
  const launches = launchesFreed(before, event);
  if (event.type !== 'tool.failed') return { launches, tools: 0 };
  const call = callOf(before, event.data.call_id);
  // What a new host could not promise again was not promised.
  if (call === undefined || event.data.error_type === 'action_budget') return NONE;
  const hasBegun = call.status === 'running' || call.status === 'done';
  return { launches, tools: Number(!hasBegun && acts(call.verdict)) };
}

/** Does this event begin an action of a tool? Launches are charged by the runs that they begin (`run.started`). */
export function beginsAction(before: RunState, event: RunEvent): boolean {
  if (event.type !== 'tool.started') return false;
  const call = callOf(before, event.data.call_id);
  return call !== undefined && acts(call.verdict);
}

function acts(verdict: CallVerdict): boolean {
  return verdict.kind === 'tool' && verdict.effect !== 'read';
}

/** Calls that have not begun and that actions were promised to. */
export function promisedCalls(
  state: RunState,
): readonly { readonly index: number; readonly actions: Actions }[] {
  return state.calls
    .filter(({ status }) => status !== 'running' && status !== 'done')
    .map(({ index, verdict }) => ({ index, actions: actionsOf(verdict) }))
    .filter(({ actions }) => actions.launches + actions.tools > 0);
}
