import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { readManagement } from '../../../src/runtime/core/delegate-call.ts';

const ID = '0b0e7b8a-3c51-4c8e-9d0a-7d6f2f1c9a11';
const OTHER = '1b0e7b8a-3c51-4c8e-9d0a-7d6f2f1c9a11';
const many = (count: number) =>
  Array.from({ length: count }, (_, at) => ID.slice(0, -3) + String(at).padStart(3, '0'));

const TAKEN: readonly (readonly [string, JsonObject, object])[] = [
  ['D10: check_result', { action: 'check_result', task_id: ID }, { taskId: ID }],
  [
    'D10: an id in another spelling',
    { action: 'check_result', task_id: ` ${ID.toUpperCase()} ` },
    { taskId: ID },
  ],
  ['D12: cancel_task', { action: 'cancel_task', task_id: ID }, { taskId: ID }],
  ['D12: list_results', { action: 'list_results', task_id: null }, { action: 'list_results' }],
  [
    'D11: await_sessions for 30 seconds',
    { action: 'await_sessions', task_ids: [ID, OTHER] },
    { taskIds: [ID, OTHER], timeoutMs: 30_000 },
  ],
  [
    'D11: await_sessions for no time at all',
    { action: 'await_sessions', task_ids: [ID], timeout_ms: 0 },
    { timeoutMs: 0 },
  ],
  [
    'D11: await_sessions for 120000 ms',
    { action: 'await_sessions', task_ids: many(128), timeout_ms: 120_000 },
    { timeoutMs: 120_000 },
  ],
];

const wait = (more: JsonObject) => ({ action: 'await_sessions', task_ids: [ID], ...more });

const REFUSED: readonly (readonly [string, JsonObject, string])[] = [
  [
    'D10: check_result without an id',
    { action: 'check_result' },
    "Missing 'task_id' parameter for check_result",
  ],
  [
    'D12: cancel_task without an id',
    { action: 'cancel_task' },
    "Missing 'task_id' parameter for cancel_task",
  ],
  [
    'D10: an id that is a path',
    { action: 'check_result', task_id: '../../etc/passwd' },
    "Invalid task_id '../../etc/passwd': must be a valid UUID",
  ],
  [
    'D10: an id that is no text',
    { action: 'cancel_task', task_id: 7 },
    "Invalid task_id '7': must be a valid UUID",
  ],
  [
    'D10: an id with a path behind it',
    { action: 'check_result', task_id: `${ID}/x` },
    `Invalid task_id '${ID}/x': must be a valid UUID`,
  ],
  [
    'what the action does not use',
    { action: 'check_result', task_id: ID, prompt: 'p', agent_id: 'a' },
    "Action 'check_result' does not use these parameters: 'prompt', 'agent_id'",
  ],
  [
    'ids given to list_results',
    { action: 'list_results', task_ids: [ID] },
    "Action 'list_results' does not use these parameters: 'task_ids'",
  ],
  ['D11: no list', { action: 'await_sessions' }, "Missing 'task_ids' parameter for await_sessions"],
  [
    'D11: a list that is a text',
    wait({ task_ids: ID }),
    "Missing 'task_ids' parameter for await_sessions",
  ],
  ['D11: an empty list', wait({ task_ids: [] }), "'task_ids' must contain at least one task id"],
  [
    'D11: 129 ids',
    wait({ task_ids: many(129) }),
    "'task_ids' must contain no more than 128 task ids",
  ],
  [
    'D11: an id that is no text',
    wait({ task_ids: [ID, 7] }),
    "'task_ids' must contain only strings",
  ],
  [
    'D11: an id that is none',
    wait({ task_ids: ['x'] }),
    "Invalid task_id 'x': must be a valid UUID",
  ],
  [
    'D11: an id twice',
    wait({ task_ids: [ID, OTHER, ID] }),
    `Duplicate task_id '${ID}' in task_ids`,
  ],
  [
    'D11: more than 120000 ms',
    wait({ timeout_ms: 120_001 }),
    "'timeout_ms' must be no more than 120000",
  ],
  ['D11: a time in words', wait({ timeout_ms: 'later' }), "'timeout_ms' must be an integer"],
  ['D11: a time before now', wait({ timeout_ms: -1 }), "'timeout_ms' must be an integer"],
  ['D11: half a millisecond', wait({ timeout_ms: 0.5 }), "'timeout_ms' must be an integer"],
];

describe('what a run asks about background tasks', () => {
  test.each(TAKEN)('takes %s', (_, args, expected) => {
    expect(readManagement(args)).toMatchObject({ ok: true, action: args['action'], ...expected });
  });

  test.each(REFUSED)('is refused for %s', (_, args, words) => {
    expect(readManagement(args)).toEqual({ ok: false, words });
  });

  test.each([{}, { action: 'delegate' }, { action: 'stop' }, { action: null }])(
    'is nothing in %j',
    (args) => {
      expect(readManagement(args)).toBeNull();
    },
  );
});
