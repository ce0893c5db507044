import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  readSpawnNarrowing,
  readSpawnPrompt,
  spawnSubagentSpec,
} from '../../../src/runtime/core/spawn-call.ts';

const TEXTS = 'a list of at most 64 texts of at most 1024 characters';

test('S2: the prompt is a text that is not blank, without the blanks around it', () => {
  expect(readSpawnPrompt({ prompt: ' p ' })).toBe('p');
  for (const args of [{}, { prompt: ' \n' }, { prompt: 7 }, { prompt: null }]) {
    expect(readSpawnPrompt(args)).toBeNull();
  }
});

describe('S4: the narrowing of a spawn_subagent call', () => {
  const EVERY: JsonObject = {
    autonomy: 'read_only',
    workspace_only: true,
    allowed_roots: ['src'],
    allowed_roots_read_only: ['.'],
    allowed_roots_write_only: [],
    forbidden_paths: ['secret'],
    allowed_commands: ['git'],
    shell_env_passthrough: ['HOME_URL'],
    shell_timeout_secs: 0.5,
    block_high_risk_commands: true,
    require_approval_for_medium_risk: true,
    require_tool_approval: false,
    auto_approve: [],
    always_ask: ['write_file'],
    allowed_tools: ['read_file'],
    excluded_tools: ['shell'],
    delegation_policy: { mode: 'forbidden' },
    max_actions_per_hour: 0,
    max_cost_per_day_cents: 1.5,
  };

  test('has every field of a policy that can be narrowed, each as it was written', () => {
    const read = readSpawnNarrowing({ prompt: 'p', policy: EVERY, allowed_agent_aliases: ['a'] });
    expect(read).toEqual({ ok: true, value: { policy: EVERY, aliases: ['a'] } });
  });

  test.each<JsonObject>([
    {},
    { policy: null },
    { policy: {} },
    { policy: { autonomy: null }, allowed_agent_aliases: null },
  ])('is nothing where nothing is asked: %j', (args) => {
    expect(readSpawnNarrowing({ prompt: 'p', ...args })).toEqual({ ok: true, value: null });
  });

  test('of the memory alone is one', () => {
    expect(readSpawnNarrowing({ allowed_agent_aliases: [] })).toEqual({
      ok: true,
      value: { policy: {}, aliases: [] },
    });
  });

  test.each<[JsonObject, string]>([
    [
      { autonomy: 'god' },
      `'policy.autonomy' must be one of read_only, supervised, full, found "god"`,
    ],
    [{ autonomy: 1 }, `'policy.autonomy' must be one of read_only, supervised, full, found 1`],
    [{ workspace_only: 'yes' }, `'policy.workspace_only' must be true or false, found "yes"`],
    [{ allowed_roots: 'src' }, `'policy.allowed_roots' must be ${TEXTS}, found "src"`],
    [{ always_ask: [1] }, `'policy.always_ask' must be ${TEXTS}, found [1]`],
    [
      { forbidden_paths: ['a', '~/.ssh'] },
      `'policy.forbidden_paths' holds "~/.ssh": "~" is not expanded; paths start in the workspace`,
    ],
    [{ shell_timeout_secs: 0 }, `'policy.shell_timeout_secs' must be a number above 0, found 0`],
    [
      { max_actions_per_hour: 1.5 },
      `'policy.max_actions_per_hour' must be a whole number from 0, found 1.5`,
    ],
    [
      { max_cost_per_day_cents: -1 },
      `'policy.max_cost_per_day_cents' must be a number from 0, found -1`,
    ],
    [
      { delegation_policy: 'forbidden' },
      `'policy.delegation_policy' must be {"mode": "forbidden"} or {"mode": "allow"}, found "forbidden"`,
    ],
    [
      { delegation_policy: { mode: 'allow', to: 'x' } },
      `'policy.delegation_policy' must be {"mode": "forbidden"} or {"mode": "allow"}, found {"mode":"allow","to":"x"}`,
    ],
  ])('of a wrong type is refused with what is allowed: %j', (policy, words) => {
    expect(readSpawnNarrowing({ prompt: 'p', policy })).toEqual({
      ok: false,
      words: `spawn_subagent: ${words}`,
    });
  });

  test.each<[JsonObject, string]>([
    [{ policy: [] }, "'policy' must be an object"],
    [{ policy: 'none' }, "'policy' must be an object"],
    [{ allowed_agent_aliases: 'a' }, `'allowed_agent_aliases' must be ${TEXTS}`],
  ])('that is none is refused: %j', (args, words) => {
    expect(readSpawnNarrowing({ prompt: 'p', ...args })).toEqual({
      ok: false,
      words: `spawn_subagent: ${words}`,
    });
  });

  test('is bounded in the length of its lists and of what they hold', () => {
    const many = (length: number) => Array.from({ length }, (_, at) => `p${at}`);
    const long = (length: number) => ['p'.repeat(length)];
    for (const [fits, tooMuch] of [
      [many(64), many(65)],
      [long(1024), long(1025)],
    ]) {
      expect(readSpawnNarrowing({ policy: { allowed_roots: fits ?? [] } }).ok).toBe(true);
      const read = readSpawnNarrowing({ policy: { allowed_roots: tooMuch ?? [] } });
      expect(read.ok ? '' : read.words).toContain(`must be ${TEXTS}, found [`);
      expect(readSpawnNarrowing({ allowed_agent_aliases: tooMuch ?? [] }).ok).toBe(false);
    }
  });

  test('of an unknown field is refused with the nearest and all that there are', () => {
    const read = readSpawnNarrowing({ policy: { allowed_comands: [] } });
    expect(read.ok ? '' : read.words).toMatch(
      /^spawn_subagent: unknown field 'policy\.allowed_comands' \(did you mean 'allowed_commands'\?\); allowed: autonomy, .*, max_cost_per_day_cents$/,
    );
    const inherited = readSpawnNarrowing({ policy: { constructor: 1 } });
    expect(inherited.ok ? '' : inherited.words).toContain("unknown field 'policy.constructor'");
  });

  test('and the schema that the model is shown take the same fields', () => {
    const accepts = new Ajv({ strict: true }).compile(spawnSubagentSpec().parameters);
    expect(accepts({ prompt: 'p', policy: EVERY, allowed_agent_aliases: ['a'] })).toBe(true);
    for (const [name, value] of Object.entries(EVERY)) {
      const odd = typeof value === 'string' || Array.isArray(value) ? 7 : 'odd';
      expect(accepts({ prompt: 'p', policy: { [name]: odd } }), name).toBe(false);
      expect(readSpawnNarrowing({ policy: { [name]: odd } }).ok, name).toBe(false);
    }
    const { parameters } = spawnSubagentSpec();
    const { policy } = parameters['properties'] as { policy: { properties: object } };
    expect(Object.keys(policy.properties).sort()).toEqual(Object.keys(EVERY).sort());
  });
});
