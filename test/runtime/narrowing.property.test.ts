import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { excessOf } from '../../src/runtime/core/audit-narrowing.ts';
import type { ResolvedConfig } from '../../src/runtime/core/config.ts';
import { judgeDelegation } from '../../src/runtime/core/gate.ts';
import { type Narrowed, narrow } from '../../src/runtime/core/narrow.ts';
import { narrowingOf } from '../../src/runtime/core/narrowing.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import { readSpawnNarrowing } from '../../src/runtime/core/spawn-call.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { lookUpPaths } from '../../src/runtime/look-up-paths.ts';
import { SCRIPTED } from '../support/agent-config.ts';
import { launch, TOOLS } from '../support/launches.ts';
import { type Probes, rightsBeyond } from '../support/rights.ts';

let dir: string;
let probes: Probes;

/** Relative to the workspace `ws`: below it, beside it, through symlinks out of it, and things that do not exist. */
const PLACES = [
  '.',
  'a',
  'a/deep',
  'a/new/leaf',
  'b',
  'out',
  'out/inner',
  'a/back',
  '..',
  '../far',
  '../far/inner',
  '/',
  'a/../../far',
] as const;
const COMMANDS = ['git', 'GIT', '"git"', 'ls', './tool', 'tool', 'rm', '*', ' '];
const VARIABLES = ['ONE', 'TWO', 'THREE'];
const NAMES = [...TOOLS.keys(), 'delegate', 'plan', 'agents', 'spawn_subagent', '*'];

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-narrow-')));
  for (const path of ['ws/a/deep', 'ws/b', 'far/inner'])
    mkdirSync(join(dir, path), { recursive: true });
  symlinkSync(join(dir, 'far'), join(dir, 'ws/out'));
  symlinkSync(join(dir, 'ws'), join(dir, 'ws/a/back'));
  const ways = PLACES.map((place) => join(place.startsWith('/') ? '' : join(dir, 'ws'), place));
  probes = {
    paths: ways.flatMap((path) => [path, join(path, 'file.txt'), join(path, 'a/file.txt')]),
    lines: [
      'git status',
      'GIT status',
      'ls',
      './tool',
      'tool',
      'rm -rf x',
      'git push --force',
      'ls; rm x',
    ],
    variables: VARIABLES,
    tools: [...TOOLS.values()].map(({ name, effect }) => [name, effect] as const),
  };
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const some = <Value>(values: readonly Value[], maxLength = 4) =>
  fc.uniqueArray(fc.constantFrom(...values), { maxLength });

/** Fields of a risk profile that are lists may each be left out. */
const fields = {
  autonomy: fc.constantFrom('read_only', 'supervised', 'full'),
  workspace_only: fc.boolean(),
  allowed_roots: some(PLACES, 2),
  allowed_roots_read_only: some(PLACES, 2),
  allowed_roots_write_only: some(PLACES, 2),
  forbidden_paths: some(
    PLACES.filter((place) => place !== '/'),
    2,
  ),
  allowed_commands: some(COMMANDS),
  shell_env_passthrough: some(VARIABLES),
  shell_timeout_secs: fc.constantFrom(1, 5, 60),
  max_actions_per_hour: fc.constantFrom(0, 5, 1000),
  max_cost_per_day_cents: fc.constantFrom(0, 2.5, 500),
  block_high_risk_commands: fc.boolean(),
  require_approval_for_medium_risk: fc.boolean(),
  require_tool_approval: fc.boolean(),
  auto_approve: some(NAMES),
  always_ask: some(NAMES, 2),
  allowed_tools: some(NAMES, 6),
  excluded_tools: some(NAMES, 2),
  delegation_policy: fc.constantFrom({ mode: 'allow' }, { mode: 'forbidden' }),
};
const policies = fc.record(fields, { requiredKeys: [] });
/** One or two fields: most of those with many are refused for one of them. */
const asked = fc
  .tuple(policies, some(Object.keys(fields), 3))
  .map(([policy, kept]) =>
    Object.fromEntries(Object.entries(policy).filter(([name]) => kept.includes(name))),
  );
const aliases = fc.option(some(['lead', 'a', 'b', 'c']), { nil: null });

/** Relative paths of a configuration start at its folder, which here is the workspace. */
function configOf(own: object, other: object): ResolvedConfig {
  const written = (policy: object) =>
    Object.fromEntries(
      Object.entries(policy).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.filter((each) => String(each).trim() !== '') : value,
      ]),
    );
  const agent = { model_provider: 'scripted.s', risk_profile: 'p' };
  return loadConfig(
    {
      providers: SCRIPTED,
      agents: {
        lead: { ...agent, workspace: { read_memory_from: ['a', 'b'] } },
        a: agent,
        b: { ...agent, risk_profile: 'q', workspace: { dir: 'b' } },
        c: agent,
      },
      risk_profiles: { p: written(own), q: written(other) },
    },
    { baseDir: join(dir, 'ws') },
  );
}

function narrowed(
  config: ResolvedConfig,
  parent: RunSpec,
  policy: object,
  names: unknown,
): Narrowed {
  const read = readSpawnNarrowing(
    JSON.parse(JSON.stringify({ policy, allowed_agent_aliases: names })),
  );
  if (!read.ok) throw new Error(read.words);
  const mayDelegate = judgeDelegation(config, 'lead').allowed;
  const looked = lookUpPaths(join(dir, 'ws'), read.value ?? { policy: {}, aliases: null });
  return narrow({ ...parent, mayDelegate }, looked);
}

test('S4: whatever a model asks for, its sub-agent may do nothing that its parent may not', () => {
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(policies, asked, aliases, (own, policy, names) => {
      const config = configOf(own, {});
      const parent = launch(config, 'lead');
      const answer = narrowed(config, parent, policy, names);
      if (!answer.ok) {
        refused += 1;
        return;
      }
      taken += 1;
      const { narrowing } = answer;
      const child = launch(config, 'lead', { parent, origin: 'subagent', narrowing });
      expect(rightsBeyond(child, parent, probes)).toEqual([]);
      expect([narrowingOf(parent), narrowing].flatMap((by) => excessOf(child, by))).toEqual([]);
    }),
    { numRuns: 1500 },
  );
  expect(Math.min(taken, refused)).toBeGreaterThan(200);
});

test('S4: what was taken from a sub-agent is taken from those it delegates to, in their own profile or another', () => {
  let narrower = 0;
  fc.assert(
    fc.property(policies, policies, asked, (own, other, policy) => {
      const config = configOf(own, other);
      const parent = launch(config, 'lead');
      const answer = narrowed(config, parent, policy, null);
      if (!answer.ok) return;
      const { narrowing } = answer;
      const child = launch(config, 'lead', { parent, origin: 'subagent', narrowing });
      const peer = launch(config, 'a', { parent: child });
      const aspects = { delegation: false, memory: false };
      expect(rightsBeyond(peer, child, probes, aspects)).toEqual([]);
      const abroad = launch(config, 'b', { parent: child });
      expect([peer, abroad].flatMap((spec) => excessOf(spec, narrowing))).toEqual([]);
      // Nor has either more than it would have below a parent that was not narrowed.
      for (const [id, spec] of [
        ['a', peer],
        ['b', abroad],
      ] as const) {
        expect(rightsBeyond(spec, launch(config, id, { parent }), probes)).toEqual([]);
      }
      if (rightsBeyond(parent, child, probes).length > 0) narrower += 1;
    }),
    { numRuns: 800 },
  );
  expect(narrower).toBeGreaterThan(50);
});

test('S4: a sub-agent that is asked to be held to what its parent has has just that', () => {
  fc.assert(
    fc.property(policies, (own) => {
      const config = configOf(own, {});
      const parent = launch(config, 'lead');
      const child = launch(config, 'lead', { parent, origin: 'subagent', narrowing: {} });
      const tools = parent.tools.filter(
        (name) => !['spawn_subagent', 'model_switch'].includes(name),
      );
      expect(child.tools).toEqual(tools);
      expect(rightsBeyond({ ...parent, tools }, child, probes)).toEqual([]);
      expect(child.scope).toEqual(parent.scope);
    }),
    { numRuns: 300 },
  );
});

test('S4, G7: where the configuration changed, a sub-agent has what both it and its parent allow', () => {
  fc.assert(
    fc.property(policies, policies, (own, later) => {
      const parent = launch(configOf(own, {}), 'lead');
      const child = launch(configOf(later, {}), 'lead', { parent, origin: 'subagent' });
      const aspects = { delegation: false, memory: true };
      expect(rightsBeyond(child, parent, probes, aspects)).toEqual([]);
      expect(rightsBeyond(child, launch(configOf(later, {}), 'lead'), probes)).toEqual([]);
      expect(excessOf(child, narrowingOf(parent))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('G8: an independent delegate has just what a new chat with it has, whoever its caller is', () => {
  fc.assert(
    fc.property(policies, policies, (own, other) => {
      const config = configOf(own, other);
      const parent = launch(config, 'lead');
      const alone = launch(config, 'b', { parent, independent: true });
      const chat = launch(config, 'b', { workspaceDir: join(dir, 'ws/b') });
      for (const key of ['tools', 'scope', 'autonomy', 'auto_approve', 'always_ask'] as const) {
        expect(alone[key], key).toEqual(chat[key]);
      }
      expect(alone.budget).toEqual({ ...chat.budget, own: true });
      expect(alone.memory).toEqual(chat.memory);
    }),
    { numRuns: 300 },
  );
});
