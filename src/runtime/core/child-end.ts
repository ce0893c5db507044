import { delegateResult, structuredResult, subagentResult } from './child-result.ts';
import { endTask } from './plan-decide.ts';
import { type ChildOutcome, callFrame, type RunEvent, runEvent } from './run-event.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  childAt,
  isRunning,
  planOf,
  type RunState,
} from './run-state.ts';

/** What a child's outcome means to its parent: the end of the child, and the result of the call that launched it. */
export function childEnded(state: RunState, ordinal: number, outcome: ChildOutcome): RunEvent[] {
  const child = childAt(state, ordinal);
  if (child === undefined || !isRunning(child)) return [];
  const plan = child.kind === 'plan' ? planOf(state, child) : undefined;
  if (plan !== undefined) return endTask(plan, child.ordinal, outcome, outcome.review);
  const launcher = callAt(state, child.call);
  const call = launcher?.ordinal === child.ordinal ? launcher : undefined;
  const frame = call === undefined ? null : callFrame(state.turn, call.index);
  const ending = endOfChild(child, outcome, frame);
  return call === undefined ? [ending] : [ending, resultOfChild(state, call, child, outcome)];
}

function endOfChild(child: ChildState, outcome: ChildOutcome, frame: string | null): RunEvent {
  const data = {
    child_run_id: child.runId,
    agent_id: child.agentId,
    ordinal: child.ordinal,
    turns: outcome.turns,
    effect: outcome.effect,
    operations: outcome.operations,
    usage: outcome.usage,
    cost_cents: outcome.cost_cents,
  };
  const timedOut = outcome.status === 'cancelled' && outcome.stopped_by === 'deadline';
  if (outcome.status === 'failed' || timedOut) {
    const errorType = timedOut ? 'timeout' : (outcome.error_type ?? 'failed');
    return runEvent('delegation.failed', frame, { ...data, error_type: errorType });
  }
  return runEvent('delegation.completed', frame, { ...data, child_status: outcome.status });
}

function resultOfChild(
  state: RunState,
  call: CallState,
  child: ChildState,
  outcome: ChildOutcome,
): RunEvent {
  const result = child.kind === 'subagent' ? subagentResult(outcome) : delegateResult(outcome);
  const frame = callFrame(state.turn, call.index);
  const about = {
    call_id: call.id,
    name: call.name,
    full_path: outcome.full_path,
    structured: structuredResult(outcome),
  };
  if (!result.isError) {
    return runEvent('tool.completed', frame, {
      ...about,
      text: result.text,
      chars: result.text.length,
    });
  }
  return runEvent('tool.failed', frame, {
    ...about,
    error_type: result.errorType,
    error: result.text,
    effect: outcome.effect,
    text: result.partial,
    chars: result.partial.length,
  });
}
