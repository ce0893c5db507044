import { expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { DEFAULT_TOOL_TIMEOUT_MS, defineTool } from '../../src/tools/define-tool.ts';

const GOOD = {
  name: 'word_count',
  description: 'Counts words',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
  effect: 'read',
  run: () => 'x',
} as const;

test('L1: a tool of an author is a definition with its code, on the actor thread, ten minutes at most', () => {
  const tool = defineTool<{ text: string }>({ ...GOOD, run: ({ text }) => text.length });
  expect(tool).toMatchObject({
    name: 'word_count',
    place: 'actor',
    effect: 'read',
    timeoutMs: 600_000,
  });
  expect(DEFAULT_TOOL_TIMEOUT_MS).toBe(600_000);
});

test('L1: cpu sends it to the compute pool', () => {
  expect(defineTool({ ...GOOD, cpu: true, timeoutMs: 5 })).toMatchObject({
    place: 'compute',
    timeoutMs: 5,
  });
});

test.each([
  ['name', ''],
  ['name', '1x'],
  ['name', 'a b'],
  ['name', 'é'],
  ['name', 'x'.repeat(65)],
  ['name', 'a\n'],
  ['name', undefined],
  ['name', 7],
  ['description', ''],
  ['description', '  '],
  ['description', undefined],
  ['effect', 'write'],
  ['effect', undefined],
  ['cpu', 'yes'],
  ['timeoutMs', 0],
  ['timeoutMs', -1],
  ['timeoutMs', Number.NaN],
  ['timeoutMs', Number.POSITIVE_INFINITY],
  ['timeoutMs', 86_400_001],
  ['run', undefined],
  ['run', 'code'],
  ['parameters', undefined],
  ['parameters', null],
  ['parameters', []],
  ['parameters', 'object'],
  ['parameters.type', {}, 'parameters'],
  ['parameters.type', { type: 'string' }, 'parameters'],
  [
    'parameters.properties.a.$ref',
    { type: 'object', properties: { a: { $ref: 'http://x/y' } } },
    'parameters',
  ],
  ['parameters', { type: 'object', properties: { a: { type: 'strnig' } } }, 'parameters'],
  [
    'parameters.properties.a.pattern',
    { type: 'object', properties: { a: { pattern: '(a+)+' } } },
    'parameters',
  ],
])(
  'a wrong %s (%j) is a fault that names the tool, the key, what was found and what is expected',
  (key, value, field = key) => {
    const options = { ...GOOD, [field]: value } as unknown as Parameters<typeof defineTool>[0];
    let thrown: unknown;
    try {
      defineTool(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Fault);
    const fault = thrown as Fault;
    expect(fault.code).toBe('tool.invalid');
    expect(fault.message).toContain(`"${key}" is `);
    expect(fault.message).toContain('expected');
    if (field !== 'name') expect(fault.message).toContain('"word_count"');
  },
);
