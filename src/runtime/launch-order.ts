import type { Narrowing } from './core/narrowing.ts';
import { promptOf } from './core/plan-prompt.ts';
import { launchOf, taskOf } from './core/plan-state.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  planOf,
  type RunState,
  runningChildren,
} from './core/run-state.ts';

/** What a child is to do, from the call or the plan's task that launches it. */
export interface LaunchOrder {
  readonly prompt: string;
  /** The call's or task's own budget of turns; `null` = the agent's. */
  readonly maxTurns: number | null;
  readonly reviewOf: readonly string[];
  /** Its target was listed as independent when the call was judged (SPEC G8). */
  readonly independent: boolean;
  /** What a sub-agent is launched without (SPEC S4). */
  readonly narrowing: Narrowing | null;
  /** A run that no call asked for: its task was sent back by a reviewer, or builds on one that was. */
  readonly isRework: boolean;
}

/** `null` where nothing in the state asks for this child. */
export function orderOf(state: RunState, child: ChildState): LaunchOrder | null {
  if (child.kind === 'plan') return orderOfTask(state, child);
  const call = callAt(state, child.call);
  if (call === undefined || !('prompt' in call.verdict)) return null;
  const { verdict } = call;
  return {
    prompt: verdict.prompt,
    maxTurns: 'max_turns' in verdict ? verdict.max_turns : null,
    reviewOf: [],
    independent: modeOf(call, child) === 'independent',
    narrowing: verdict.kind === 'subagent' ? (verdict.narrowing ?? null) : null,
    isRework: false,
  };
}

/** How the target of a child was judged when its call was (SPEC G8). */
function modeOf({ verdict, parts }: CallState, child: ChildState): 'independent' | undefined {
  if (verdict.kind === 'delegate') return verdict.mode;
  if (verdict.kind !== 'parallel') return undefined;
  return verdict.entries[parts.findIndex(({ ordinal }) => ordinal === child.ordinal)]?.mode;
}

/** Does the child do a task again? */
export function isRework(state: RunState, child: ChildState): boolean {
  const plan = child.kind === 'plan' ? planOf(state, child) : undefined;
  return plan !== undefined && (launchOf(plan, child.ordinal)?.round ?? 1) > 1;
}

/** Launches that were promised to a run, admitted by it, and have not begun. */
export function unbegunLaunches(
  state: RunState,
  hasBegun: (childRunId: string) => boolean,
): number {
  const children = runningChildren(state);
  return children.filter((child) => !hasBegun(child.runId) && !isRework(state, child)).length;
}

function orderOfTask(state: RunState, child: ChildState): LaunchOrder | null {
  const plan = planOf(state, child);
  const launch = plan === undefined ? undefined : launchOf(plan, child.ordinal);
  if (plan === undefined || launch === undefined || state.spec === null) return null;
  const task = taskOf(plan, launch.task_id)?.task;
  const prompt = promptOf(plan, child.ordinal, state.spec.result_chars_max);
  if (task === undefined || prompt === null) return null;
  const { max_turns: maxTurns, review_of: reviewOf } = task;
  return {
    prompt,
    maxTurns,
    reviewOf,
    independent: false,
    narrowing: null,
    isRework: isRework(state, child),
  };
}
