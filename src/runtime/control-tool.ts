import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { CallState } from './core/run-state.ts';
import { readTaskCall, type TaskCall } from './core/task-call.ts';
import { awaitOutcome, cancelOutcome, checkOutcome, listOutcome } from './core/task-record.ts';
import type { ToolOutcome } from './core/tool.ts';
import type { RunTree } from './run-tree.ts';

interface Asking {
  readonly tree: RunTree;
  readonly clock: Clock;
  readonly runId: string;
  readonly spec: RunSpec;
}

/** Runs a tool of the supervisor itself. `done` is called once. @returns how to take it back, which leads to `done` too. */
export function runControl(
  asking: Asking,
  { name, args_text: argsText }: CallState,
  done: (outcome: ToolOutcome) => void,
): () => void {
  if (name === 'delegate') return manage(asking, JSON.parse(argsText) as JsonObject, done);
  done(asking.tree.runControlTool(asking.spec, name));
  return () => undefined;
}

/** SPEC D10 to D12. */
function manage(
  asking: Asking,
  args: JsonObject,
  done: (outcome: ToolOutcome) => void,
): () => void {
  const call = readTaskCall(String(args['action']) as TaskCall['action'], args);
  const { tasks } = asking.tree;
  const { runId } = asking;
  if (!call.ok) {
    done({ ok: false, errorType: 'invalid_arguments', error: call.words, effect: 'none' });
    return () => undefined;
  }
  switch (call.action) {
    case 'check_result':
      done(checkOutcome(tasks.find(runId, call.taskId), call.taskId));
      return () => undefined;
    case 'list_results':
      done(listOutcome(tasks.all(runId)));
      return () => undefined;
    case 'cancel_task':
      return cancel(asking, call.taskId, done);
    case 'await_sessions':
      return awaitTasks(asking, call.taskIds, call.timeoutMs, done);
  }
}

/** Answers once the task has ended, which a cancel bounds (SPEC N2). What was journaled first wins: its end or its stop. */
function cancel(
  { tree: { tasks }, runId }: Asking,
  taskId: string,
  done: (outcome: ToolOutcome) => void,
): () => void {
  const was = tasks.find(runId, taskId);
  if (was?.status !== 'running') {
    done(cancelOutcome(was, taskId));
    return () => undefined;
  }
  const answer = once(done);
  const unhear = tasks.onEnded(taskId, () => answer(cancelOutcome(was, taskId)));
  tasks.cancel(taskId, `Cancelled by cancel_task of ${runId}`);
  return () => {
    unhear();
    answer(CALLED_OFF);
  };
}

/**
 * SPEC D11: event driven. It answers as soon as no task of the list runs, at the latest when its time is up; an id that is
 * not known now never will be, so nothing is waited for on its account.
 */
function awaitTasks(
  { tree: { tasks }, clock, runId }: Asking,
  taskIds: readonly string[],
  timeoutMs: number,
  done: (outcome: ToolOutcome) => void,
): () => void {
  const answer = once(done);
  const records = () => taskIds.map((taskId) => tasks.find(runId, taskId));
  const isRunning = (taskId: string) => tasks.find(runId, taskId)?.status === 'running';
  const running = taskIds.filter(isRunning);
  if (running.length === 0 || timeoutMs === 0) {
    answer(awaitOutcome(taskIds, records()));
    return () => undefined;
  }
  const end = (outcome: () => ToolOutcome) => {
    untime();
    for (const unhear of unhears) unhear();
    answer(outcome());
  };
  const tell = () => end(() => awaitOutcome(taskIds, records()));
  const untime = clock.after(timeoutMs, tell);
  const unhears = running.map((taskId) =>
    tasks.onEnded(taskId, () => {
      if (!running.some(isRunning)) tell();
    }),
  );
  return () => end(() => CALLED_OFF);
}

const CALLED_OFF: ToolOutcome = {
  ok: false,
  errorType: 'cancelled',
  error: 'Cancelled: the run is being stopped.',
  effect: 'none',
};

function once(done: (outcome: ToolOutcome) => void): (outcome: ToolOutcome) => void {
  let isDone = false;
  return (outcome) => {
    if (isDone) return;
    isDone = true;
    done(outcome);
  };
}
