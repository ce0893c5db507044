import { callSaid } from './call-end.ts';
import { delegateResult, structuredResult, subagentResult } from './child-result.ts';
import { hasBegun } from './outcome.ts';
import { isParallelOver, parallelResult, partText } from './parallel-result.ts';
import { endTask } from './plan-decide.ts';
import {
  type ChildOutcome,
  callFrame,
  type RunEvent,
  type RunEventData,
  runEvent,
} from './run-event.ts';
import { evolveRun } from './run-evolve.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  childAt,
  isRunning,
  launcherOf,
  planOf,
  type RunState,
} from './run-state.ts';

/** What a child's outcome means to its parent: the end of the child, and the result of the call that launched it. */
export function childEnded(state: RunState, ordinal: number, outcome: ChildOutcome): RunEvent[] {
  const child = childAt(state, ordinal);
  if (child === undefined || !isRunning(child)) return [];
  const plan = child.kind === 'plan' ? planOf(state, child) : undefined;
  if (plan !== undefined) return endTask(plan, child.ordinal, outcome, outcome.review);
  const call = launcherOf(state, child);
  const frame = call === undefined ? null : callFrame(state.turn, call.index);
  if (call?.verdict.kind === 'parallel') return partEnded(state, call, child, outcome);
  const ending = endOfChild(child, outcome, frame);
  if (call?.status !== 'running') return [ending];
  if (child.taskId === null || !hasBegun(outcome)) {
    return [ending, resultOfChild(state, call, child, outcome)];
  }
  // It ended before its beginning was told, as a lost host leaves it.
  return [...childBegan(state, ordinal), ending];
}

/** SPEC D9: the result of a background call says how to ask for the child's. */
export function childBegan(state: RunState, ordinal: number): RunEvent[] {
  const child = childAt(state, ordinal);
  const call = child === undefined ? undefined : launcherOf(state, child);
  if (child === undefined || child.taskId === null || call?.status !== 'running') return [];
  const { taskId, agentId, runId } = child;
  const text = `Background task started for agent '${agentId}'.\ntask_id: ${taskId}\nUse action='check_result' with task_id='${taskId}' to retrieve the result.`;
  const structured = { status: 'running', task_id: taskId, child_run_id: runId };
  return [callSaid(state, call, text, structured)];
}

/** SPEC D8: the last child to end brings the result of its call. */
function partEnded(
  state: RunState,
  { index }: CallState,
  child: ChildState,
  outcome: ChildOutcome,
): RunEvent[] {
  const part = { text: partText(outcome), full_path: outcome.full_path };
  const ending = endOfChild(child, outcome, callFrame(state.turn, index), part);
  const after = evolveRun(state, ending);
  const call = callAt(after, index);
  if (call === undefined || !isParallelOver(after, call)) return [ending];
  return [ending, parallelResult(after, call, unlaunchedWords(after))];
}

/** Why an entry of a parallel call was never launched. */
export function unlaunchedWords({ stopping }: RunState): string {
  return stopping === null
    ? "Not executed: the run's time limit was reached before it began."
    : `Cancelled: the run was stopped (${stopping.reason}).`;
}

function endOfChild(
  child: ChildState,
  outcome: ChildOutcome,
  frame: string | null,
  part?: RunEventData<'delegation.completed'>['part'],
): RunEvent {
  const data = {
    child_run_id: child.runId,
    agent_id: child.agentId,
    ordinal: child.ordinal,
    turns: outcome.turns,
    effect: outcome.effect,
    operations: outcome.operations,
    usage: outcome.usage,
    cost_cents: outcome.cost_cents,
    ...(part === undefined ? {} : { part }),
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
