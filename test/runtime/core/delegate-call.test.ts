import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  agentsSpec,
  composePrompt,
  delegateSpec,
  readDelegateCall,
} from '../../../src/runtime/core/delegate-call.ts';
import { spawnSubagentSpec } from '../../../src/runtime/core/spawn-call.ts';

const CALL = { agent_id: 'a', prompt: 'do' };

const TAKEN: readonly (readonly [string, JsonObject, object])[] = [
  ['the alias', { agent: 'b', prompt: 'p' }, { agentIds: ['b'], prompt: 'p' }],
  ['both names with one value', { agent: 'a ', ...CALL }, { agentIds: ['a'] }],
  ['the action by name', { ...CALL, action: 'delegate' }, { action: 'delegate' }],
  ['a context', { ...CALL, context: ' c ' }, { context: 'c' }],
  ['a blank context as none', { ...CALL, context: ' \n' }, { context: null }],
  [
    'D8: parallel, each entry once, also identical ones',
    { parallel: [' a', 'b', 'a', ' '], prompt: 'p', context: 'c', max_turns: 30 },
    { agentIds: ['a', 'b', 'a'], isParallel: true, prompt: 'p', context: 'c', maxTurns: 30 },
  ],
  ['D9: background', { ...CALL, background: true }, { agentIds: ['a'], isBackground: true }],
  ['background: false', { ...CALL, background: false }, { isBackground: false }],
  [
    'null for what is left out',
    {
      ...CALL,
      action: null,
      context: null,
      max_turns: null,
      background: null,
      parallel: null,
      task_id: null,
      agent: null,
    },
    { context: null, maxTurns: null },
  ],
];

const unknown = (value: string) =>
  `Unknown action '${value}'. Use delegate/check_result/list_results/cancel_task/await_sessions.`;
const REFUSED: readonly (readonly [string, JsonObject, string])[] = [
  ['no target', { prompt: 'p' }, "Missing 'agent_id' parameter"],
  ['a target that is no text', { agent_id: 3, prompt: 'p' }, "Missing 'agent_id' parameter"],
  ['a blank target', { agent_id: ' ', prompt: 'p' }, "'agent_id' parameter must not be empty"],
  ['a blank alias', { agent: '', prompt: 'p' }, "'agent' parameter must not be empty"],
  ['an alias that is no text', { agent: ['a'], prompt: 'p' }, "Missing 'agent' parameter"],
  [
    'two targets',
    { ...CALL, agent: 'b' },
    "'agent' and 'agent_id' name different agents: 'b' and 'a'. Give 'agent_id' alone.",
  ],
  ['no prompt', { agent_id: 'a' }, "Missing 'prompt' parameter"],
  ['a prompt that is no text', { agent_id: 'a', prompt: {} }, "Missing 'prompt' parameter"],
  ['a blank prompt', { agent_id: 'a', prompt: '\n' }, "'prompt' parameter must not be empty"],
  ['neither, target first', {}, "Missing 'agent_id' parameter"],
  ['a context that is no text', { ...CALL, context: 1 }, "'context' parameter must be a text"],
  [
    'turns that are a text',
    { ...CALL, max_turns: '30' },
    "'max_turns' parameter must be a whole number",
  ],
  ['half a turn', { ...CALL, max_turns: 30.5 }, "'max_turns' parameter must be a whole number"],
  ['D13: an unknown action, before all else', { action: 'stop' }, unknown('stop')],
  ['D13: an action that is no text', { ...CALL, action: 1 }, unknown('1')],
  ['D13: a blank action', { ...CALL, action: '' }, unknown('')],
  [
    'arguments of other actions',
    { ...CALL, task_id: 'x', timeout_ms: 5 },
    "Action 'delegate' does not use these parameters: 'task_id', 'timeout_ms'",
  ],
  [
    'task_ids',
    { ...CALL, task_ids: [] },
    "Action 'delegate' does not use these parameters: 'task_ids'",
  ],
  [
    'arguments of nothing',
    { ...CALL, model: 'x', role: 'y' },
    "Unknown parameters for delegate: 'model', 'role'",
  ],
  [
    'D8: parallel without a prompt',
    { parallel: ['a'] },
    "Missing 'prompt' parameter for parallel execution",
  ],
  [
    'D8: parallel with a blank prompt',
    { parallel: ['a'], prompt: ' ' },
    "'prompt' parameter must not be empty",
  ],
  [
    'D8: parallel with background',
    { parallel: ['a'], prompt: 'p', background: true },
    "'parallel' and 'background' cannot be used together. Make one background call for each agent, or leave 'background' out: the call then returns when all of them have answered.",
  ],
  [
    'D8: parallel with another target beside it',
    { ...CALL, parallel: ['b'] },
    "'parallel' names the agents: leave out 'agent_id', or put it into 'parallel'.",
  ],
  [
    'D8: parallel that is no list',
    { parallel: 'a', prompt: 'p' },
    "'parallel' must be an array of agent ids",
  ],
  [
    'D8: parallel with what is no text',
    { parallel: ['a', 7], prompt: 'p' },
    "'parallel' must contain only strings",
  ],
  [
    'D8: parallel with nobody',
    { parallel: [' ', ''], prompt: 'p' },
    "'parallel' array must contain at least one agent name",
  ],
  [
    'a background that is a text',
    { ...CALL, background: 'true' },
    "'background' parameter must be true or false",
  ],
  [
    'a name of every object',
    { ...CALL, constructor: 'x' },
    "Unknown parameters for delegate: 'constructor'",
  ],
];

describe('the arguments of delegate', () => {
  test('are read with blanks around texts taken off and absent ones as null', () => {
    expect(readDelegateCall({ agent_id: ' a ', prompt: ' do\n' })).toEqual({
      ok: true,
      action: 'delegate',
      agentIds: ['a'],
      isParallel: false,
      isBackground: false,
      prompt: 'do',
      context: null,
      maxTurns: null,
    });
  });

  test.each(TAKEN)('take %s', (_, args, expected) => {
    expect(readDelegateCall(args)).toMatchObject({ ok: true, ...expected });
  });

  test.each([
    [1, 24],
    [-5, 24],
    [24, 24],
    [60, 60],
    [100, 100],
    [1e9, 100],
  ])('D2: move max_turns %i to %i', (written, turns) => {
    expect(readDelegateCall({ ...CALL, max_turns: written })).toMatchObject({ maxTurns: turns });
  });

  test.each(REFUSED)('are refused for %s', (_, args, words) => {
    expect(readDelegateCall(args)).toEqual({ ok: false, words });
  });

  test('are read or refused in words, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'agent_id',
            'agent',
            'prompt',
            'context',
            'max_turns',
            'action',
            'background',
            'parallel',
            'x',
          ),
          fc.jsonValue(),
        ),
        (args) => {
          const call = readDelegateCall(args as JsonObject);
          if (call.ok)
            expect(call.agentIds.some((id) => id.trim() === '') || call.prompt.trim() === '').toBe(
              false,
            );
          else expect(call.words).not.toBe('');
        },
      ),
    );
  });
});

test('D1: a context stands before the task, and a task alone as it is', () => {
  expect(composePrompt('p', 'c')).toBe('[Context]\nc\n\n[Task]\np');
  expect(composePrompt('p', null)).toBe('p');
});

describe('A1: what the model is told of the tools', () => {
  const specs = [delegateSpec(['a', 'b']), spawnSubagentSpec(), agentsSpec()];

  test.each(specs)(
    '$name has a schema that is closed and compiles',
    ({ parameters, description }) => {
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
      expect(description).not.toBe('');
      const accepts = new Ajv({ strict: true }).compile(parameters);
      expect(accepts({ surprise: 1 })).toBe(false);
    },
  );

  test('delegate says to call agents first, to use ids verbatim, and lists the reachable ids', () => {
    const { description, parameters } = delegateSpec(['a', 'b']);
    expect(description).toContain(
      'Call the tool agents first, and use the agent_id it lists verbatim.',
    );
    expect(parameters).toMatchObject({
      properties: { agent_id: { description: expect.stringMatching(/Available: a, b$/) } },
      required: [],
    });
  });

  test('delegate lists none where nobody is reachable', () => {
    expect(JSON.stringify(delegateSpec([]))).toContain('Available: (none)');
  });

  test('whatever the advertised schemas accept, the readers accept, but for blank texts', () => {
    const accepts = new Ajv({ strict: true }).compile(delegateSpec([]).parameters);
    const word = fc.constantFrom('x', 'y z');
    const args = fc.record(
      {
        agent_id: word,
        prompt: word,
        context: fc.string(),
        max_turns: fc.integer(),
        background: fc.boolean(),
      },
      { requiredKeys: ['agent_id', 'prompt'] },
    );
    fc.assert(
      fc.property(args, (call) => {
        expect(accepts(call)).toBe(true);
        expect(readDelegateCall(call as JsonObject).ok).toBe(true);
      }),
    );
  });
});
