/**
 * One refusal and the calls that meet it. `<asked>` stands for what a call asked for; `<x*5000>` for so many of that
 * character, `<deep*100>` for an object so many levels deep.
 */
export interface RefusedCalls {
  readonly errorType: string;
  readonly error: string;
  readonly calls: readonly (readonly [name: string, args: object | string, asked: string | null])[];
}

export const REFUSED_CALLS: readonly RefusedCalls[] = [
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id '<asked>': must be a valid UUID",
    calls: [
      ['delegate', { action: 'check_result', task_id: '../../x' }, '../../x'],
      ['delegate', { action: 'cancel_task', task_id: '../../x' }, '../../x'],
      [
        'delegate',
        { action: 'check_result', task_id: '../delegate_results/x' },
        '../delegate_results/x',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '../delegate_results/x' },
        '../delegate_results/x',
      ],
      [
        'delegate',
        { action: 'check_result', task_id: '../11111111-1111-4111-8111-111111111111' },
        '../11111111-1111-4111-8111-111111111111',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '../11111111-1111-4111-8111-111111111111' },
        '../11111111-1111-4111-8111-111111111111',
      ],
      [
        'delegate',
        { action: 'check_result', task_id: '11111111-1111-4111-8111-111111111111/../x' },
        '11111111-1111-4111-8111-111111111111/../x',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '11111111-1111-4111-8111-111111111111/../x' },
        '11111111-1111-4111-8111-111111111111/../x',
      ],
      [
        'delegate',
        { action: 'check_result', task_id: '11111111-1111-4111-8111-111111111111.json' },
        '11111111-1111-4111-8111-111111111111.json',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '11111111-1111-4111-8111-111111111111.json' },
        '11111111-1111-4111-8111-111111111111.json',
      ],
      [
        'delegate',
        { action: 'check_result', task_id: '11111111-1111-4111-8111-111111111111\u0000' },
        '11111111-1111-4111-8111-111111111111\u0000',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '11111111-1111-4111-8111-111111111111\u0000' },
        '11111111-1111-4111-8111-111111111111\u0000',
      ],
      [
        'delegate',
        { action: 'check_result', task_id: '/tmp/11111111-1111-4111-8111-111111111111' },
        '/tmp/11111111-1111-4111-8111-111111111111',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '/tmp/11111111-1111-4111-8111-111111111111' },
        '/tmp/11111111-1111-4111-8111-111111111111',
      ],
      ['delegate', { action: 'check_result', task_id: '%2e%2e%2fx' }, '%2e%2e%2fx'],
      ['delegate', { action: 'cancel_task', task_id: '%2e%2e%2fx' }, '%2e%2e%2fx'],
      ['delegate', { action: 'check_result', task_id: 'journal.db' }, 'journal.db'],
      ['delegate', { action: 'cancel_task', task_id: 'journal.db' }, 'journal.db'],
      ['delegate', { action: 'check_result', task_id: '\u202e../x' }, '\u202e../x'],
      ['delegate', { action: 'cancel_task', task_id: '\u202e../x' }, '\u202e../x'],
      [
        'delegate',
        { action: 'check_result', task_id: '{11111111-1111-4111-8111-111111111111}' },
        '{11111111-1111-4111-8111-111111111111}',
      ],
      [
        'delegate',
        { action: 'cancel_task', task_id: '{11111111-1111-4111-8111-111111111111}' },
        '{11111111-1111-4111-8111-111111111111}',
      ],
      ['delegate', { action: 'check_result', task_id: '__proto__' }, '__proto__'],
      ['delegate', { action: 'cancel_task', task_id: '__proto__' }, '__proto__'],
      ['delegate', { action: 'check_result', task_id: '<1*5000>' }, '<1*5000>'],
      ['delegate', { action: 'cancel_task', task_id: '<1*5000>' }, '<1*5000>'],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id '*': must be a valid UUID",
    calls: [
      ['delegate', { action: 'check_result', task_id: '*' }, null],
      ['delegate', { action: 'cancel_task', task_id: '*' }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id '': must be a valid UUID",
    calls: [
      ['delegate', { action: 'check_result', task_id: '' }, null],
      ['delegate', { action: 'cancel_task', task_id: '' }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id ' ': must be a valid UUID",
    calls: [
      ['delegate', { action: 'check_result', task_id: ' ' }, null],
      ['delegate', { action: 'cancel_task', task_id: ' ' }, null],
    ],
  },
  {
    errorType: 'not_found',
    error: "No result found for task_id '<asked>'",
    calls: [
      [
        'delegate',
        { action: 'check_result', task_id: '11111111-1111-4111-8111-111111111111' },
        '11111111-1111-4111-8111-111111111111',
      ],
    ],
  },
  {
    errorType: 'not_found',
    error: "No task found for task_id '<asked>'",
    calls: [
      [
        'delegate',
        { action: 'cancel_task', task_id: '11111111-1111-4111-8111-111111111111' },
        '11111111-1111-4111-8111-111111111111',
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id '../../x': must be a valid UUID",
    calls: [['delegate', { action: 'await_sessions', task_ids: ['../../x'] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Duplicate task_id '11111111-1111-4111-8111-111111111111' in task_ids",
    calls: [
      [
        'delegate',
        {
          action: 'await_sessions',
          task_ids: [
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
          ],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'timeout_ms' must be no more than 120000",
    calls: [
      [
        'delegate',
        {
          action: 'await_sessions',
          task_ids: ['11111111-1111-4111-8111-111111111111'],
          timeout_ms: 1000000000000,
        },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'timeout_ms' must be an integer",
    calls: [
      [
        'delegate',
        {
          action: 'await_sessions',
          task_ids: ['11111111-1111-4111-8111-111111111111'],
          timeout_ms: -1,
        },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'task_ids' must contain at least one task id",
    calls: [['delegate', { action: 'await_sessions', task_ids: [] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "'task_ids' must contain no more than 128 task ids",
    calls: [
      [
        'delegate',
        {
          action: 'await_sessions',
          task_ids: [
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
            '11111111-1111-4111-8111-111111111111',
          ],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Missing 'task_ids' parameter for await_sessions",
    calls: [['delegate', { action: 'await_sessions', task_ids: '../../x' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Invalid task_id '7': must be a valid UUID",
    calls: [['delegate', { action: 'check_result', task_id: 7 }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: 'Invalid task_id \'["a"]\': must be a valid UUID',
    calls: [['delegate', { action: 'check_result', task_id: ['a'] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Missing 'task_id' parameter for check_result",
    calls: [['delegate', { action: 'check_result', task_id: null }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Action 'list_results' does not use these parameters: 'task_id'",
    calls: [
      [
        'delegate',
        { action: 'list_results', task_id: '11111111-1111-4111-8111-111111111111' },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error:
      "Unknown action 'delete_everything'. Use delegate/check_result/list_results/cancel_task/await_sessions.",
    calls: [['delegate', { action: 'delete_everything' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      "Unknown action '__proto__'. Use delegate/check_result/list_results/cancel_task/await_sessions.",
    calls: [['delegate', { action: '__proto__' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      "Unknown action 'constructor'. Use delegate/check_result/list_results/cancel_task/await_sessions.",
    calls: [['delegate', { action: 'constructor', agent_id: 'worker', prompt: 'x' }, null]],
  },
  {
    errorType: 'unreachable_target',
    error: "Unknown agent '<asked>'. Available agents: worker",
    calls: [
      ['delegate', { agent_id: 'w\u043erker', prompt: 'x' }, 'w\u043erker'],
      ['delegate', { agent_id: 'worker\u200b', prompt: 'x' }, 'worker\u200b'],
      ['delegate', { agent_id: 'worker\u0000', prompt: 'x' }, 'worker\u0000'],
      ['delegate', { agent_id: '\u202eworker', prompt: 'x' }, '\u202eworker'],
      ['delegate', { agent_id: '\uff57orker', prompt: 'x' }, '\uff57orker'],
      ['delegate', { agent_id: 'worker/../lead', prompt: 'x' }, 'worker/../lead'],
      ['delegate', { agent_id: 'worker/delegate/01', prompt: 'x' }, 'worker/delegate/01'],
      ['delegate', { agent_id: '../worker', prompt: 'x' }, '../worker'],
      ['delegate', { agent_id: 'worker\nlead', prompt: 'x' }, 'worker\nlead'],
      ['delegate', { agent_id: 'WORKER2', prompt: 'x' }, 'WORKER2'],
      ['delegate', { agent_id: 'other', prompt: 'x' }, 'other'],
      ['delegate', { agent_id: '__proto__', prompt: 'x' }, '__proto__'],
      ['delegate', { agent_id: 'constructor', prompt: 'x' }, 'constructor'],
      ['delegate', { agent_id: 'toString', prompt: 'x' }, 'toString'],
      ['delegate', { agent_id: 'hasOwnProperty', prompt: 'x' }, 'hasOwnProperty'],
      ['delegate', { agent_id: '<a*5000>', prompt: 'x' }, '<a*5000>'],
      [
        'delegate',
        { agent_id: '\u05e2\u05d5\u05d1\u05d3', prompt: 'x' },
        '\u05e2\u05d5\u05d1\u05d3',
      ],
    ],
  },
  {
    errorType: 'unreachable_target',
    error:
      'delegate target "lead" is not reachable from "lead"; add it to [agents.lead].delegates or share a risk profile with delegate_same_risk_profile enabled',
    calls: [['delegate', { agent_id: 'lead', prompt: 'x' }, null]],
  },
  {
    errorType: 'unreachable_target',
    error: 'delegate target "off" is not reachable from "lead": the target agent is disabled',
    calls: [['delegate', { agent_id: 'off', prompt: 'x' }, null]],
  },
  {
    errorType: 'unreachable_target',
    error: "Unknown agent '*'. Available agents: worker",
    calls: [['delegate', { agent_id: '*', prompt: 'x' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "'agent_id' parameter must not be empty",
    calls: [
      ['delegate', { agent_id: '', prompt: 'x' }, null],
      ['delegate', { agent_id: ' ', prompt: 'x' }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Missing 'agent_id' parameter",
    calls: [
      ['delegate', { agent_id: 5, prompt: 'x' }, null],
      ['delegate', { agent_id: ['worker'], prompt: 'x' }, null],
      ['delegate', { agent_id: { id: 'worker' }, prompt: 'x' }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Missing 'prompt' parameter",
    calls: [
      ['delegate', { agent_id: 'worker' }, null],
      ['delegate', { agent_id: 'worker', prompt: 5 }, null],
      ['delegate', { agent_id: 'worker', prompt: { toString: 'x' } }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'prompt' parameter must not be empty",
    calls: [
      ['delegate', { agent_id: 'worker', prompt: '' }, null],
      ['delegate', { agent_id: 'worker', prompt: ' \n\t\u3000' }, null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'context' parameter must be a text",
    calls: [
      ['delegate', { agent_id: 'worker', prompt: 'x', context: ['y'] }, null],
      [
        'delegate',
        '{"agent_id":"worker","prompt":"x","context":{"__proto__":{"polluted":1}}}',
        null,
      ],
      ['delegate', '{"agent_id":"worker","prompt":"x","context":<deep*100>}', null],
      ['delegate', '{"agent_id":"worker","prompt":"x","context":<deep*50000>}', null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'max_turns' parameter must be a whole number",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', max_turns: 'all' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "'background' parameter must be true or false",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', background: 'yes' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      "'parallel' and 'background' cannot be used together. Make one background call for each agent, or leave 'background' out: the call then returns when all of them have answered.",
    calls: [
      [
        'delegate',
        { agent_id: 'worker', prompt: 'x', background: true, parallel: ['worker'] },
        null,
      ],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "'parallel' names the agents: leave out 'agent_id', or put it into 'parallel'.",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', parallel: ['worker'] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "'parallel' array must contain at least one agent name",
    calls: [['delegate', { prompt: 'x', parallel: [] }, null]],
  },
  {
    errorType: 'unreachable_target',
    error: "Unknown agent 'w\u043erker'. Available agents: worker",
    calls: [['delegate', { prompt: 'x', parallel: ['worker', 'w\u043erker'] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "'parallel' must contain only strings",
    calls: [['delegate', { prompt: 'x', parallel: ['worker', 5] }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: 'results_dir'",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', results_dir: '/etc' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: 'depth'",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', depth: 0 }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: 'autonomy'",
    calls: [['delegate', { agent_id: 'worker', prompt: 'x', autonomy: 'full' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: '__proto__'",
    calls: [
      ['delegate', '{"agent_id":"worker","prompt":"x","__proto__":{"background":true}}', null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: 'constructor'",
    calls: [
      ['delegate', '{"agent_id":"worker","prompt":"x","constructor":{"prototype":{"x":1}}}', null],
    ],
  },
  {
    errorType: 'invalid_arguments',
    error: "Unknown parameters for delegate: 'prototype'",
    calls: [['delegate', '{"agent_id":"worker","prompt":"x","prototype":{}}', null]],
  },
  {
    errorType: 'malformed_arguments',
    error: 'Arguments of delegate: they are 1100033 characters long (at most 1048576)',
    calls: [['delegate', '{"agent_id":"worker","prompt":"<x*1100000>"}', null]],
  },
  {
    errorType: 'malformed_arguments',
    error:
      'Arguments of delegate: not valid JSON at line 1, column 34 (position 33): the text ends too early: still open, to be closed by }. Near: \u2026gent_id":"worker","prompt":"x">>><<<',
    calls: [['delegate', '{"agent_id":"worker","prompt":"x"', null]],
  },
  {
    errorType: 'malformed_arguments',
    error:
      'Arguments of delegate: not valid JSON at line 1, column 33 (position 32): "\\n" inside a string must be written as an escape such as \\n. Near: \u2026agent_id":"worker","prompt":"a>>>\\n<<<b"}',
    calls: [['delegate', '{"agent_id":"worker","prompt":"a\nb"}', null]],
  },
  {
    errorType: 'malformed_arguments',
    error: 'arguments of delegate must be a JSON object',
    calls: [
      ['delegate', '[]', null],
      ['delegate', '"worker"', null],
      ['delegate', 'null', null],
    ],
  },
  {
    errorType: 'malformed_arguments',
    error:
      'Arguments of delegate: not valid JSON at line 1, column 1 (position 0): expected a value, found "NaN". Near: >>>N<<<aN',
    calls: [['delegate', 'NaN', null]],
  },
  {
    errorType: 'malformed_arguments',
    error:
      'Arguments of delegate: not valid JSON at line 1, column 36 (position 35): text goes on after the JSON value ended: "{". Near: \u2026nt_id":"worker","prompt":"x"} >>>{<<<"agent_id":"lead"}',
    calls: [['delegate', '{"agent_id":"worker","prompt":"x"} {"agent_id":"lead"}', null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '<asked>' (tasks[0]), id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        { goal: 'g', tasks: [{ id: '../../x', agent_id: 'worker', prompt: 'x' }] },
        '../../x',
      ],
      ['plan', { goal: 'g', tasks: [{ id: 'a/b', agent_id: 'worker', prompt: 'x' }] }, 'a/b'],
      ['plan', { goal: 'g', tasks: [{ id: '..', agent_id: 'worker', prompt: 'x' }] }, '..'],
      [
        'plan',
        { goal: 'g', tasks: [{ id: '__proto__', agent_id: 'worker', prompt: 'x' }] },
        '__proto__',
      ],
      [
        'plan',
        { goal: 'g', tasks: [{ id: 'a\u0000', agent_id: 'worker', prompt: 'x' }] },
        'a\u0000',
      ],
      ['plan', { goal: 'g', tasks: [{ id: 'a b', agent_id: 'worker', prompt: 'x' }] }, 'a b'],
      ['plan', { goal: 'g', tasks: [{ id: '<a*65>', agent_id: 'worker', prompt: 'x' }] }, '<a*65>'],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '.' (tasks[0]), id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit\nMend all of it and call plan again.",
    calls: [['plan', { goal: 'g', tasks: [{ id: '.', agent_id: 'worker', prompt: 'x' }] }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '' (tasks[0]), id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit\nMend all of it and call plan again.",
    calls: [['plan', { goal: 'g', tasks: [{ id: '', agent_id: 'worker', prompt: 'x' }] }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '<asked>' (tasks[0]), depends_on: a task cannot depend on itself\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [
            { id: 'constructor', agent_id: 'worker', prompt: 'x', depends_on: ['constructor'] },
          ],
        },
        'constructor',
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '\u0430' (tasks[0]), id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit\nMend all of it and call plan again.",
    calls: [
      ['plan', { goal: 'g', tasks: [{ id: '\u0430', agent_id: 'worker', prompt: 'x' }] }, null],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- tasks[0], id: must be a text, found a number\nMend all of it and call plan again.',
    calls: [['plan', { goal: 'g', tasks: [{ id: 5, agent_id: 'worker', prompt: 'x' }] }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[1]), id: already the id of tasks[0]\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [
            { id: 'a', agent_id: 'worker', prompt: 'x' },
            { id: 'a', agent_id: 'worker', prompt: 'x' },
          ],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[0]), depends_on: unknown task '../a'\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        { goal: 'g', tasks: [{ id: 'a', agent_id: 'worker', prompt: 'x', depends_on: ['../a'] }] },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[0]), depends_on: unknown task '__proto__'\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [{ id: 'a', agent_id: 'worker', prompt: 'x', depends_on: ['__proto__'] }],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[0]), agent_id: Unknown agent 'w\u043erker'. Available agents: worker\nMend all of it and call plan again.",
    calls: [
      ['plan', { goal: 'g', tasks: [{ id: 'a', agent_id: 'w\u043erker', prompt: 'x' }] }, null],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[0]), agent_id: Unknown agent '__proto__'. Available agents: worker\nMend all of it and call plan again.",
    calls: [
      ['plan', { goal: 'g', tasks: [{ id: 'a', agent_id: '__proto__', prompt: 'x' }] }, null],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task '5' (tasks[1]), prompt: {{b.answer}} is neither upstream of this task in the plan nor answered earlier in this run\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [
            { id: 'a', agent_id: 'worker', prompt: '{{../../x.answer}}' },
            { id: '5', agent_id: 'worker', prompt: '{{b.answer}}' },
          ],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- tasks: there must be at least 1 task\nMend all of it and call plan again.',
    calls: [['plan', { goal: 'g', tasks: [] }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- tasks: must be a list of 1 to 16 tasks, found a text\nMend all of it and call plan again.',
    calls: [['plan', { goal: 'g', tasks: 'x' }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- tasks: must be a list of 1 to 16 tasks, found an object\nMend all of it and call plan again.',
    calls: [['plan', { goal: 'g', tasks: { length: 1 } }, null]],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- tasks: 17 tasks are given, at most 16 are allowed\nMend all of it and call plan again.',
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [
            { id: 't0', agent_id: 'worker', prompt: 'x' },
            { id: 't1', agent_id: 'worker', prompt: 'x' },
            { id: 't2', agent_id: 'worker', prompt: 'x' },
            { id: 't3', agent_id: 'worker', prompt: 'x' },
            { id: 't4', agent_id: 'worker', prompt: 'x' },
            { id: 't5', agent_id: 'worker', prompt: 'x' },
            { id: 't6', agent_id: 'worker', prompt: 'x' },
            { id: 't7', agent_id: 'worker', prompt: 'x' },
            { id: 't8', agent_id: 'worker', prompt: 'x' },
            { id: 't9', agent_id: 'worker', prompt: 'x' },
            { id: 't10', agent_id: 'worker', prompt: 'x' },
            { id: 't11', agent_id: 'worker', prompt: 'x' },
            { id: 't12', agent_id: 'worker', prompt: 'x' },
            { id: 't13', agent_id: 'worker', prompt: 'x' },
            { id: 't14', agent_id: 'worker', prompt: 'x' },
            { id: 't15', agent_id: 'worker', prompt: 'x' },
            { id: 't16', agent_id: 'worker', prompt: 'x' },
          ],
        },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      'Invalid plan, nothing was started (1 fault):\n- max_rework: must be a whole number from 0 to 4, found -1\nMend all of it and call plan again.',
    calls: [
      [
        'plan',
        { goal: 'g', tasks: [{ id: 'a', agent_id: 'worker', prompt: 'x' }], max_rework: -1 },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- on_failure: must be one of continue, stop, abort; found '__proto__'\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        {
          goal: 'g',
          tasks: [{ id: 'a', agent_id: 'worker', prompt: 'x' }],
          on_failure: '__proto__',
        },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- mode: must be one of full, wave; found '../../x'\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        { goal: 'g', tasks: [{ id: 'a', agent_id: 'worker', prompt: 'x' }], mode: '../../x' },
        null,
      ],
    ],
  },
  {
    errorType: 'plan_invalid',
    error:
      "Invalid plan, nothing was started (1 fault):\n- task 'a' (tasks[0]): unknown field '__proto__'; allowed: id, agent_id, prompt, depends_on, review_of, max_turns\nMend all of it and call plan again.",
    calls: [
      [
        'plan',
        '{"goal":"g","tasks":[{"id":"a","agent_id":"worker","prompt":"x","__proto__":{}}]}',
        null,
      ],
    ],
  },
  {
    errorType: 'unknown_tool',
    error: 'Unknown tool: <asked>. Available tools: <tools>',
    calls: [
      ['__proto__', {}, '__proto__'],
      ['constructor', {}, 'constructor'],
      ['toString', {}, 'toString'],
      ['file_read\u0000', { path: 'x' }, 'file_read\u0000'],
      ['f\u0456le_read', { path: 'x' }, 'f\u0456le_read'],
      ['../file_read', { path: 'x' }, '../file_read'],
    ],
  },
  {
    errorType: 'unknown_tool',
    error: 'Unknown tool: submit_review. Only a reviewer of a plan has it.',
    calls: [['submit_review', { verdict: 'accept' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error: 'Arguments of agents: the property name at __proto__ is not allowed in arguments',
    calls: [['agents', '{"__proto__":{"id":"x"}}', null]],
  },
  {
    errorType: 'invalid_arguments',
    error: "Missing or empty 'prompt' parameter",
    calls: [['spawn_subagent', { prompt: '' }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      'spawn_subagent: \'policy.autonomy\' must be one of read_only, supervised, full, found "god"',
    calls: [['spawn_subagent', { prompt: 'x', policy: { autonomy: 'god' } }, null]],
  },
  {
    errorType: 'rights_widened',
    error:
      'subagent spawn failed: subagent policy override escalates beyond parent: subagent allowed_roots entry "/" is not contained within any of the parent\'s allowed_roots entries',
    calls: [['spawn_subagent', { prompt: 'x', policy: { allowed_roots: ['/'] } }, null]],
  },
  {
    errorType: 'rights_widened',
    error:
      'subagent spawn failed: subagent policy override escalates beyond parent: subagent attempts to disable workspace_only but the parent enforces it',
    calls: [['spawn_subagent', { prompt: 'x', policy: { workspace_only: false } }, null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      "spawn_subagent: unknown field 'policy.__proto__'; allowed: autonomy, workspace_only, allowed_roots, allowed_roots_read_only, allowed_roots_write_only, forbidden_paths, allowed_commands, shell_env_passthrough, shell_timeout_secs, block_high_risk_commands, require_approval_for_medium_risk, require_tool_approval, auto_approve, always_ask, allowed_tools, excluded_tools, delegation_policy, max_actions_per_hour, max_cost_per_day_cents",
    calls: [['spawn_subagent', '{"prompt":"x","policy":{"__proto__":{"autonomy":"full"}}}', null]],
  },
  {
    errorType: 'invalid_arguments',
    error:
      'Arguments of memory_store: 1 fault:\n- alias: unknown property (allowed: key, content).',
    calls: [['memory_store', { alias: 'worker', key: 'x', content: 'x' }, null]],
  },
];
