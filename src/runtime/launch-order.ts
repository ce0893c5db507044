import type { Narrowing } from './core/narrowing.ts';
import { promptOf } from './core/plan-prompt.ts';
import { launchOf, taskOf } from './core/plan-state.ts';
import { type ChildState, callAt, planOf, type RunState } from './core/run-state.ts';

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
  const verdict = callAt(state, child.call)?.verdict;
  if (verdict?.kind !== 'delegate' && verdict?.kind !== 'subagent') return null;
  return {
    prompt: verdict.prompt,
    maxTurns: verdict.kind === 'delegate' ? verdict.max_turns : null,
    reviewOf: [],
    independent: verdict.kind === 'delegate' && verdict.mode === 'independent',
    narrowing: verdict.kind === 'subagent' ? (verdict.narrowing ?? null) : null,
    isRework: false,
  };
}

function orderOfTask(state: RunState, child: ChildState): LaunchOrder | null {
  const plan = planOf(state, child);
  const launch = plan === undefined ? undefined : launchOf(plan, child.ordinal);
  if (plan === undefined || launch === undefined || state.spec === null) return null;
  const task = taskOf(plan, launch.task_id)?.task;
  const prompt = promptOf(plan, child.ordinal, state.spec.result_chars_max);
  if (task === undefined || prompt === null) return null;
  const { max_turns: maxTurns, review_of: reviewOf } = task;
  const isRework = launch.round > 1;
  return { prompt, maxTurns, reviewOf, independent: false, narrowing: null, isRework };
}
