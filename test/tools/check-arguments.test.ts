import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ToolSpec } from '../../src/runtime/core/tool.ts';
import { checkArguments } from '../../src/tools/check-arguments.ts';

function specOf(parameters: JsonObject): ToolSpec {
  return { name: 'probe', description: 'A probe', parameters: { type: 'object', ...parameters } };
}

const SPEC = specOf({
  properties: {
    path: { type: 'string', minLength: 1 },
    depth: { type: 'integer', minimum: 1, maximum: 5 },
    mode: { enum: ['a', 'b'] },
    tasks: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
  required: ['path'],
  additionalProperties: false,
});

const ANY = specOf({});

function errorOf(spec: ToolSpec, text: string): string {
  const checked = checkArguments(spec, text);
  return checked.ok ? 'ok' : `${checked.errorType}: ${checked.error}`;
}

test.each(['', ' ', '\n\t', '{}'])('the argument text %j is an empty object', (text) => {
  expect(checkArguments(ANY, text)).toEqual({ ok: true, args: {} });
});

test('valid arguments come back as they were written, nothing coerced and nothing filled in', () => {
  const spec = specOf({
    properties: { a: { type: 'integer' }, b: { type: 'string', default: 'x' } },
  });
  expect(checkArguments(spec, '{"a":1}')).toEqual({ ok: true, args: { a: 1 } });
  expect(errorOf(spec, '{"a":"1"}')).toContain('a: must be integer, found "1"');
});

describe('R5: malformed JSON says what is wrong and where', () => {
  test.each([
    [
      '{"path": "a",}',
      'line 1, column 14 (position 13): a comma right before "}"',
      '{"path": "a",>>>}<<<',
    ],
    ["{'path': 1}", 'column 2', 'single quote'],
    ['{path: 1}', 'expected a property name in double quotes or "}", found "path"', '>>>p<<<'],
    ['{"path": "a"', 'the text ends too early', 'closed by }'],
    ['{"a": [1, {"b": 2', 'still open, to be closed by }]}', ''],
    ['{"a": "never', 'column 7', 'never closed'],
    ['{"a": "x\ny"}', 'line 1, column 9', 'must be written as an escape such as \\n'],
    ['{"a": "\\q"}', 'an escape that JSON does not know', ''],
    ['{"a": "\\u12"}', 'an escape that JSON does not know', ''],
    ['{"a" 1}', 'expected ":" after a property name, found "1"', ''],
    ['{"a": 1 "b": 2}', 'expected "," or "}", found "\\""', ''],
    ['{\n  "a": 1,\n  "b": True\n}', 'line 3, column 8', 'expected a value, found "True"'],
    ['{"a": NaN}', 'found "NaN"', ''],
    ['{"a": 01}', 'expected "," or "}", found "1"', ''],
    ['{"a": 1} extra', 'text goes on after the JSON value ended: found', ''],
    ['```json\n{}\n```', 'a Markdown fence', ''],
    ['{"a": 1}}', 'position 8', ''],
    ['{"a": // no\n 1}', 'expected a value', ''],
    ['nul', 'found "nul"', ''],
    ['\ufeff{}', 'position 0', ''],
    [`${'['.repeat(100_000)}`, 'the text ends too early', 'closed by ]]]]]]]]…'],
  ])('%j', (text, words, more) => {
    const error = errorOf(ANY, text);
    expect(error.replace('ended: ', 'ended: found ')).toMatch(
      /^malformed_arguments: Arguments of probe: not valid JSON at line/,
    );
    expect(error.replace('ended: ', 'ended: found ')).toContain(words);
    expect(error).toContain(more);
    expect(error.length).toBeLessThan(600);
  });
});

describe('R5: faults against the schema are all told, each with its place', () => {
  test.each([
    ['{}', 'path: required, but missing'],
    ['{"path":""}', 'path: must NOT have fewer than 1 characters, found ""'],
    ['{"path":"x","depth":9}', 'depth: must be <= 5, found 9'],
    ['{"path":"x","depth":1.5}', 'depth: must be integer, found 1.5'],
    ['{"path":"x","mode":"c"}', 'mode: must be one of ["a","b"], found "c"'],
    ['{"path":"x","tasks":[{"id":"a"},{}]}', 'tasks[1].id: required, but missing'],
    ['{"path":"x","tasks":[{"id":7}]}', 'tasks[0].id: must be string, found 7'],
    [
      '{"path":"x","pth":1}',
      'pth: unknown property (allowed: path, depth, mode, tasks). Did you mean "path"?',
    ],
    ['{"path":"x","zzzzzz":1}', 'zzzzzz: unknown property (allowed: path, depth, mode, tasks).'],
    ['[]', 'must be one JSON object, found an array'],
    ['null', 'must be one JSON object, found null'],
    ['"x"', 'must be one JSON object, found a string'],
    ['7', 'must be one JSON object, found a number'],
  ])('%s', (text, words) => {
    const error = errorOf(SPEC, text);
    expect(error).toMatch(/^invalid_arguments: /);
    expect(error).toContain(words);
  });

  test('three faults are three lines, a hundred are cut', () => {
    expect(errorOf(SPEC, '{"depth":0,"mode":1}').split('\n')).toHaveLength(4);
    const items = JSON.stringify({ path: 'x', tasks: Array.from({ length: 100 }, () => 1) });
    expect(errorOf(SPEC, items)).toContain('and 80 more');
  });

  test('a huge wrong value is shown cut', () => {
    expect(errorOf(SPEC, JSON.stringify({ path: ['x'.repeat(500_000)] })).length).toBeLessThan(400);
  });
});

describe('hostile arguments are refused in words', () => {
  test.each([
    ['{"__proto__": {"polluted": true}}', 'property name at __proto__'],
    ['{"a": {"constructor": 1}}', 'property name at a.constructor'],
    ['{"a": [{"prototype": 1}]}', 'property name at a[0].prototype'],
    [`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, 'deeper than 64 levels'],
    [`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'deeper than 64 levels'],
    [`{"a":[${'1,'.repeat(10_001)}1]}`, 'has 10002 items (at most 10000)'],
  ])('case %#', (text, words) => {
    expect(errorOf(ANY, text)).toContain(words);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('64 levels are accepted, more than 1 MiB of text is not', () => {
    expect(errorOf(ANY, `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`)).toBe('ok');
    expect(errorOf(ANY, JSON.stringify({ a: 'x'.repeat(1_048_576) }))).toMatch(
      /^malformed_arguments: .*at most 1048576/,
    );
  });
});

describe('foreign schemas', () => {
  test.each([
    [{ properties: { a: { pattern: '^(a+)+$' } } }, 'parameters.properties.a.pattern'],
    [{ properties: { a: { pattern: '((a*)b)*' } } }, 'repeats a group'],
    [{ properties: { a: { pattern: '(?:x{2,})+' } } }, 'repeats a group'],
    [{ properties: { a: { pattern: 'a'.repeat(201) } } }, '201 characters'],
    [{ properties: { a: { pattern: '(' } } }, 'pattern'],
    [{ patternProperties: { '(a+)+': {} } }, 'patternProperties'],
    [{ properties: { a: { $ref: 'https://example.org/schema.json' } } }, '$ref'],
    [{ properties: { a: { $ref: 'other.json#/x' } } }, '$ref'],
    [{ $async: true }, '$async'],
    [{ properties: { a: { type: 'strng' } } }, 'a schema that ajv compiles'],
    [{ type: 'array' }, 'parameters.type is type "array"'],
  ] as const)('%j cannot be used, and says why', (parameters, words) => {
    const error = errorOf(
      { name: 'p', description: 'd', parameters: { type: 'object', ...parameters } },
      '{}',
    );
    expect(error).toContain("the tool's own schema cannot be used");
    expect(error).toContain(words);
  });

  test.each([
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.org/same' },
    { $id: 'https://example.org/same', properties: { a: {} } },
    { properties: { pattern: { type: 'string' }, $ref: { type: 'string' } } },
    { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string' } } },
    { properties: { a: { type: 'string', format: 'no-such-format' } } },
    { properties: { a: { pattern: '[\\w\\-]+' } }, 'x-foreign': true },
    { properties: { a: { const: { pattern: '(a+)+' } } } },
  ] as readonly JsonObject[])('%j can be used', (parameters) => {
    expect(errorOf(specOf(parameters), '{}')).toBe('ok');
  });

  test('patterns that differ are told apart', () => {
    const spec = specOf({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } });
    expect(errorOf(spec, '{"a":"a","b":"b"}')).toBe('ok');
    expect(errorOf(spec, '{"a":"b","b":"a"}')).toContain('2 faults');
  });

  test('a pattern that the simple check misses is cut off by its time budget', () => {
    const spec = specOf({ properties: { a: { pattern: '^(a|a)*$' } } });
    const error = errorOf(spec, JSON.stringify({ a: `${'a'.repeat(60)}b` }));
    expect(error).toContain('takes too long');
  });

  test('a schema that refers to itself without end is an error of the call, not a crash', () => {
    const spec = specOf({
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { allOf: [{ $ref: '#/$defs/x' }] } },
    });
    expect(errorOf(spec, '{"a":1}')).toContain('cannot be evaluated');
  });

  test('a thousand different schemas are checked one after the other', () => {
    for (let i = 0; i < 1000; i += 1) {
      const spec = specOf({
        properties: { [`p${i}`]: { type: 'string' } },
        additionalProperties: false,
      });
      expect(errorOf(spec, `{"p${i}":"x"}`)).toBe('ok');
    }
  });
});
