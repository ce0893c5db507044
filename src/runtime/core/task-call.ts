import type { JsonObject } from '../../base/json.ts';
import { given, quoted, type RefusedCall } from './delegate-arguments.ts';

/** What a run may ask about background tasks (SPEC D10 to D12). */
export type TaskCall =
  | { readonly ok: true; readonly action: 'check_result' | 'cancel_task'; readonly taskId: string }
  | { readonly ok: true; readonly action: 'list_results' }
  | {
      readonly ok: true;
      readonly action: 'await_sessions';
      readonly taskIds: readonly string[];
      readonly timeoutMs: number;
    };

export const MANAGEMENT_ACTIONS = [
  'check_result',
  'list_results',
  'cancel_task',
  'await_sessions',
] as const;

/** SPEC D11. */
const TASK_IDS_MAX = 128;
const TIMEOUT_DEFAULT_MS = 30_000;
const TIMEOUT_MAX_MS = 120_000;

const USED: Readonly<Record<TaskCall['action'], readonly string[]>> = {
  check_result: ['task_id'],
  cancel_task: ['task_id'],
  list_results: [],
  await_sessions: ['task_ids', 'timeout_ms'],
};

/** The arguments of `action`, of which nothing may be given that it does not use. */
export function readTaskCall(action: TaskCall['action'], args: JsonObject): TaskCall | RefusedCall {
  const used = ['action', ...USED[action]];
  const others = Object.keys(args).filter(
    (name) => !used.includes(name) && given(args, name) !== undefined,
  );
  if (others.length > 0) {
    return refused(`Action '${action}' does not use these parameters: ${quoted(others)}`);
  }
  switch (action) {
    case 'list_results':
      return { ok: true, action };
    case 'await_sessions':
      return readAwait(args);
    default:
      return readOne(action, args);
  }
}

function readOne(action: 'check_result' | 'cancel_task', args: JsonObject): TaskCall | RefusedCall {
  const written = given(args, 'task_id');
  if (written === undefined) return refused(`Missing 'task_id' parameter for ${action}`);
  const taskId = uuidOf(written);
  return taskId === null ? invalidId(written) : { ok: true, action, taskId };
}

function readAwait(args: JsonObject): TaskCall | RefusedCall {
  const written = given(args, 'task_ids');
  if (!Array.isArray(written)) return refused("Missing 'task_ids' parameter for await_sessions");
  if (written.length > TASK_IDS_MAX) {
    return refused(`'task_ids' must contain no more than ${TASK_IDS_MAX} task ids`);
  }
  const taskIds: string[] = [];
  for (const each of written) {
    if (typeof each !== 'string') return refused("'task_ids' must contain only strings");
    const taskId = uuidOf(each);
    if (taskId === null) return invalidId(each);
    if (taskIds.includes(taskId)) return refused(`Duplicate task_id '${each}' in task_ids`);
    taskIds.push(taskId);
  }
  if (taskIds.length === 0) return refused("'task_ids' must contain at least one task id");
  const timeoutMs = given(args, 'timeout_ms') ?? TIMEOUT_DEFAULT_MS;
  if (typeof timeoutMs !== 'number' || !Number.isInteger(timeoutMs) || timeoutMs < 0) {
    return refused("'timeout_ms' must be an integer");
  }
  if (timeoutMs > TIMEOUT_MAX_MS) {
    return refused(`'timeout_ms' must be no more than ${TIMEOUT_MAX_MS}`);
  }
  return { ok: true, action: 'await_sessions', taskIds, timeoutMs };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id as it was given out; `null` for what could be none, so that no path is ever made of it (SPEC D10). */
function uuidOf(written: unknown): string | null {
  const id = typeof written === 'string' ? written.trim().toLowerCase() : '';
  return UUID.test(id) ? id : null;
}

function invalidId(written: unknown): RefusedCall {
  const shown = typeof written === 'string' ? written : JSON.stringify(written);
  return refused(`Invalid task_id '${shown}': must be a valid UUID`);
}

function refused(words: string): RefusedCall {
  return { ok: false, words };
}
