import { beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { parseScenario } from '../../src/models/scenario.ts';
import { ScriptedProvider } from '../../src/models/scripted.ts';
import { openTemplateEngine, type TemplateEngine } from '../../src/models/template.ts';
import { ManualClock } from './manual-clock.ts';
import { entryOf, user } from './model-client.ts';

let engine: TemplateEngine;
beforeAll(async () => {
  engine = await openTemplateEngine();
});

function problemOf(text: string): Fault {
  try {
    parseScenario('bad.yaml', text, engine);
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('the scenario was taken');
}

const turn = (yaml: string) => `agents: { lead: { turns: [${yaml}] } }`;

function expectProblem(text: string, words: string): void {
  const fault = problemOf(text);
  expect(fault).toMatchObject({ code: 'scenario.invalid', retry: 'never' });
  expect(fault.message).toContain('scenario bad.yaml: ');
  expect(fault.message).toContain(words);
}

describe('a scenario file that is wrong', () => {
  it.each([
    ['broken YAML', 'agents: {\n  lead: [', 'line 2, column '],
    ['a key given twice', 'agents:\n  a: 1\n  a: 2\n', 'line 3, column 3'],
    ['no map', '- a', 'must be a map with the key agents'],
    ['no agents', 'description: x', 'agents: must be a map'],
    [
      'an unknown key at the top',
      'agent: {}',
      'agent: unknown key; allowed are agents, description',
    ],
    [
      'an agent that is no map',
      'agents: { lead: [] }',
      'agents.lead: must be a map with the key turns',
    ],
    [
      'no turns',
      'agents: { lead: { turns: [] } }',
      'agents.lead.turns: must be a list of at least one',
    ],
  ])('says where: %s', (_, text, words) => {
    expectProblem(text, words);
  });
});

describe('a turn that is wrong', () => {
  it.each([
    ['an empty turn', turn('{}'), 'agents.lead.turns[0]: a turn has either text or calls'],
    [
      'text beside fail',
      turn('{ text: a, fail: { kind: refused } }'),
      'turns[0]: a turn has either',
    ],
    [
      'an unknown key of a turn',
      turn('{ txt: a }'),
      'agents.lead.turns[0].txt: unknown key; allowed are text,',
    ],
    ['a text that is a number', turn('{ text: 5 }'), 'turns[0].text: must be a text, found 5'],
    [
      'a wait that is negative',
      turn('{ text: a, wait_ms: -1 }'),
      'wait_ms: must be a number from 0 to',
    ],
    [
      'a flag that is a word',
      turn('{ text: a, stream: yes please }'),
      'stream: must be true or false',
    ],
    [
      'repeat before the end',
      turn('{ text: a, repeat: true }, { text: b }'),
      'turns[0].repeat: only the last',
    ],
    [
      'an unknown failure',
      turn('{ fail: { kind: boom } }'),
      'fail: must be a map with kind, one of malformed,',
    ],
    [
      'a condition without words',
      turn('{ text: a, when: {} }'),
      'when: must be a map with the key prompt_contains',
    ],
  ])('says where: %s', (_, text, words) => {
    expectProblem(text, words);
  });
});

describe('a call that is wrong', () => {
  it.each([
    ['a call without a tool', turn('{ calls: [{ args: {} }] }'), 'calls[0].tool: is missing'],
    [
      'an unknown key of a call',
      turn('{ calls: [{ tool: t, arg: {} }] }'),
      'calls[0].arg: unknown key',
    ],
    [
      'args twice',
      turn('{ calls: [{ tool: t, args: {}, args_text: "" }] }'),
      'args_text: stands beside args',
    ],
    ['a template that cannot be read', turn('{ text: "{{ a | }" }'), 'turns[0].text: '],
    [
      'a tag in args',
      turn('{ calls: [{ tool: t, args: { a: ["{% include x %}"] } }] }'),
      'calls[0].args: ',
    ],
  ])('says where: %s', (_, text, words) => {
    expectProblem(text, words);
  });
});

describe('a scenario file with faults', () => {
  it('has all its faults listed at once', () => {
    const fault = problemOf(turn('{ txt: a }, { text: 5 }, { text: b, wait_ms: x }'));
    expect(fault.message.split('\n')).toHaveLength(4);
  });

  it('is read again at the next question, so that mending it is enough', async () => {
    const texts = ['agents: {}', turn('{ text: mended }')];
    const provider = new ScriptedProvider(entryOf('scripted', { file: 'a.yaml' }), {
      clock: new ManualClock(),
      readText: () => Promise.resolve(texts.shift() ?? ''),
    });
    const ask = () =>
      provider.ask(
        {
          runId: 'run_1',
          agentId: 'lead',
          turn: 1,
          system: '',
          history: [user('hi')],
          tools: [],
          model: { provider: 'scripted.local', model: '' },
        },
        { signal: new AbortController().signal, onDelta: () => undefined },
      );
    await expect(ask()).rejects.toMatchObject({ code: 'scenario.invalid' });
    expect((await ask()).text).toBe('mended');
  });
});
