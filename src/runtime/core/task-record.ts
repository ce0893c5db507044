import type { Json } from '../../base/json.ts';
import { delegateResult } from './child-result.ts';
import type { ChildOutcome } from './run-event.ts';
import type { ToolOutcome } from './tool.ts';

/** `lost`: its run is in no journal any more, so nobody can say what became of it. */
export type TaskStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'lost';

/** A background task as its result file and `check_result` show it (SPEC D9). */
export interface TaskRecord {
  readonly task_id: string;
  readonly agent: string;
  readonly status: TaskStatus;
  readonly output: string | null;
  readonly error: string | null;
  /** RFC 3339. */
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly child_run_id: string;
  readonly owner_run_id: string;
}

/**
 * What a task came to, from its run's terminal event and nothing else: a run that its own deadline cancelled has failed,
 * one that ended without its own answer too, and its last words are the output.
 */
export function finished(record: TaskRecord, outcome: ChildOutcome, at: string): TaskRecord {
  const { isError, text, partial } = delegateResult(outcome);
  const isCancelled = outcome.status === 'cancelled' && outcome.stopped_by !== 'deadline';
  const failed = isCancelled ? 'cancelled' : 'failed';
  return {
    ...record,
    status: isError ? failed : 'completed',
    output: isError ? partial || null : text,
    error: isError ? text : null,
    finished_at: at,
  };
}

/** SPEC D10. */
export function checkOutcome(record: TaskRecord | undefined, taskId: string): ToolOutcome {
  if (record === undefined) return refusal('not_found', `No result found for task_id '${taskId}'`);
  const text = shown(record);
  const { status, error } = record;
  if (status === 'running' || status === 'completed') return { ok: true, text };
  return {
    ...refusal(`task_${status}`, error ?? `background task is ${status} and will not complete`),
    text,
  };
}

/** SPEC D12. */
export function listOutcome(records: readonly TaskRecord[]): ToolOutcome {
  if (records.length === 0) return { ok: true, text: 'No background delegate results found.' };
  const rows = records.map(({ task_id, agent, status, started_at, finished_at }) => ({
    task_id,
    agent,
    status,
    started_at,
    finished_at,
  }));
  return { ok: true, text: shown(rows) };
}

/** SPEC D11. `records` in the order of `taskIds`, `undefined` where there is no such task. */
export function awaitOutcome(
  taskIds: readonly string[],
  records: readonly (TaskRecord | undefined)[],
): ToolOutcome {
  const idsOf = (holds: (record: TaskRecord | undefined) => boolean) =>
    taskIds.filter((_, at) => holds(records[at]));
  const pending = idsOf((record) => record?.status === 'running');
  const missing = idsOf((record) => record === undefined);
  const completed = idsOf((record) => record?.status === 'completed');
  const failed = idsOf(
    (record) => record !== undefined && !['running', 'completed'].includes(record.status),
  );
  const isComplete = pending.length + missing.length === 0;
  const text = shown({
    status: isComplete ? 'complete' : 'timeout',
    completed: completed.length,
    pending,
    missing,
    failed,
    results: records.filter((record) => record !== undefined),
  });
  if (!isComplete) {
    const words = 'one or more background tasks are still pending or missing';
    return { ...refusal('await_timeout', words), text };
  }
  if (failed.length === 0) return { ok: true, text };
  return {
    ...refusal('task_failed', 'one or more background tasks failed or were cancelled'),
    text,
  };
}

/** SPEC D12. `was` = its state when it was to be cancelled. */
export function cancelOutcome(was: TaskRecord | undefined, taskId: string): ToolOutcome {
  if (was === undefined) return refusal('not_found', `No task found for task_id '${taskId}'`);
  if (was.status === 'running') {
    return { ok: true, text: `Task '${taskId}' cancelled: the running task was aborted.` };
  }
  return refusal('not_running', `Task '${taskId}' is not running (status: ${was.status})`);
}

function refusal(errorType: string, error: string) {
  return { ok: false, errorType, error, effect: 'none' } as const;
}

function shown(value: object): string {
  return JSON.stringify(value as Json, null, 2);
}
