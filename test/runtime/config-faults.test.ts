import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { checkConfig, loadConfig } from '../../src/runtime/load-config.ts';
import { configFolder } from '../support/config-folder.ts';

const SIX = `[agents.lead]
model_provider = "scripted.s"
max_turn = 5
risk_profile = "missing"
delegates = ["lead", "nobody"]

[runtime_profiles.fast]
max_delegation_width = 0

[providers.models.scripted.s]
file = "s.json"
timeout_secs = "2m"
`;

const SIX_PLACES = [
  ['agents.lead.max_turn', 3, 1],
  ['agents.lead.risk_profile', 4, 1],
  ['agents.lead.delegates[0].agent', 5, 14],
  ['agents.lead.delegates[1].agent', 5, 22],
  ['runtime_profiles.fast.max_delegation_width', 8, 1],
  ['providers.models.scripted.s.timeout_secs', 12, 1],
];

describe('C1: a configuration with six faults', () => {
  test('is refused with all six at once, each with its place, what was found and what is allowed', () => {
    const file = join(configFolder({ 'troupe.toml': SIX, 's.json': '' }), 'troupe.toml');
    const { faults, config } = checkConfig(file);
    expect(config).toBeUndefined();
    expect(faults.map(({ path, line, column }) => [path, line, column])).toEqual(SIX_PLACES);
    expect(faults[0]).toMatchObject({
      file,
      found: 'an unknown key',
      hint: 'did you mean `max_turns`?',
    });
    expect(faults[0]?.expected).toContain('one of name, purpose, enabled');
    expect(faults[4]).toMatchObject({
      found: '0',
      expected: 'a whole number of at least 1 and at most 1024',
    });
    expect(faults[5]).toMatchObject({
      found: '"2m"',
      expected: 'a number above 0 and at most 2147483',
    });
  });

  test('throws one fault whose message and detail hold them all', () => {
    const file = join(configFolder({ 'troupe.toml': SIX, 's.json': '' }), 'troupe.toml');
    let thrown: unknown;
    try {
      loadConfig(file);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Fault);
    const fault = thrown as Fault;
    expect(fault).toMatchObject({ code: 'config.invalid', retry: 'never' });
    const lines = fault.message.split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[0]).toBe('invalid configuration, 6 faults:');
    expect(lines[1]).toContain(
      `  ${file}:3:1 agents.lead.max_turn: found an unknown key, expected one of `,
    );
    expect(lines[1]).toMatch(/; did you mean `max_turns`\?$/);
    expect(lines[4]).toBe(
      `  ${file}:5:22 agents.lead.delegates[1].agent = "nobody" but agents.nobody is not configured`,
    );
    const detail = fault.detail as { faults: readonly Record<string, unknown>[] };
    expect(detail.faults.map(({ path, line, column }) => [path, line, column])).toEqual(SIX_PLACES);
    expect(Object.keys(detail.faults[0] ?? {}).sort()).toEqual([
      'column',
      'expected',
      'file',
      'found',
      'hint',
      'line',
      'path',
    ]);
  });

  test('is refused alike when given as an object, without places', () => {
    const { faults } = checkConfig({
      agents: { lead: { model_provider: 'scripted.s', max_turn: 1 } },
    });
    expect(faults.map(({ file, path, line }) => [file, path, line])).toEqual([
      [null, 'agents.lead.max_turn', undefined],
      [null, 'agents.lead.model_provider', undefined],
    ]);
  });
});

describe('C1: a file is refused', () => {
  const check = (text: string) => {
    const file = join(configFolder({ 'troupe.toml': text }), 'troupe.toml');
    const { faults } = checkConfig(file);
    return { file, faults, text: JSON.stringify(faults) };
  };

  test('where it does not parse, with the place and without quoting it (C6)', () => {
    const { file, faults, text } = check(
      '[providers.models.openai.x]\napi_key_env = sk-hunter2hunter2\n',
    );
    expect(faults).toMatchObject([
      { file, path: '(top level)', line: 2, column: 15, expected: 'TOML' },
    ]);
    expect(text).not.toContain('hunter2');
  });

  test('where a key stands twice', () => {
    expect(check('[agents.a]\n[agents.a]\n').faults).toMatchObject([{ line: 2, expected: 'TOML' }]);
  });

  test('where a date stands for a table', () => {
    expect(check('runtime = 1979-05-27\n').faults).toMatchObject([
      { path: 'runtime', found: 'a date', line: 1 },
    ]);
  });

  test('where it is not there, naming the next step', () => {
    const file = join(configFolder({}), 'none.toml');
    expect(() => loadConfig(file)).toThrow(
      `invalid configuration, 1 fault:\n  ${file} (top level): found no such file, expected a configuration file; \`troupe init\` writes one, \`--config\` names another`,
    );
  });

  test('where what is given in code is a list', () => {
    expect(checkConfig([]).faults).toMatchObject([{ found: 'a list', expected: 'a table' }]);
  });
});
