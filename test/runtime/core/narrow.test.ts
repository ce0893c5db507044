import { describe, expect, test } from 'vitest';
import { type NarrowingParent, narrow } from '../../../src/runtime/core/narrow.ts';
import { type Rights, withinNarrowings } from '../../../src/runtime/core/narrowing.ts';
import type { AskedPolicy } from '../../../src/runtime/core/spawn-call.ts';
import { lookUpPaths } from '../../../src/runtime/look-up-paths.ts';
import { specOf } from '../../support/run-fixtures.ts';

const files = {
  workspaceDir: '/w',
  workspaceOnly: true,
  roots: ['/rw'],
  readRoots: ['/ro', '/w/docs'],
  writeRoots: ['/wo'],
  forbidden: ['/w/secret'],
  protected: ['/w/.troupe'],
};

function parentOf(change: Partial<NarrowingParent> = {}): NarrowingParent {
  return {
    ...specOf(),
    autonomy: 'supervised',
    tools: ['read_file', 'write_file', 'delegate'],
    auto_approve: ['write_file'],
    always_ask: ['shell'],
    require_tool_approval: true,
    require_approval_for_medium_risk: true,
    scope: {
      files: [files],
      commands: {
        allowed: ['git', './tool'],
        envPassthrough: ['ONE'],
        timeoutMs: 5000,
        blockHighRisk: true,
      },
    },
    budget: { actions_per_hour_max: 10, cost_per_day_max_cents: 50 },
    memory: { own: 'lead', readable: ['lead', 'a'] },
    mayDelegate: false,
    ...change,
  };
}

function ask(policy: AskedPolicy, aliases: readonly string[] | null = null, parent = parentOf()) {
  return narrow(parent, lookUpPaths('/w', { policy, aliases }));
}

describe('S4: what would widen a sub-agent’s rights is refused with its name and value', () => {
  test.each<[AskedPolicy, string]>([
    [{ autonomy: 'full' }, "subagent autonomy=Full exceeds parent's Supervised"],
    [
      { allowed_roots: ['a', '/rw/x', '/secrets'] },
      'subagent allowed_roots entry "/secrets" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots: ['/rw2'] },
      'subagent allowed_roots entry "/rw2" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots: ['../w2'] },
      'subagent allowed_roots entry "../w2" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots: ['/ro/x'] },
      'subagent allowed_roots entry "/ro/x" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots: ['docs/deep'] },
      'subagent allowed_roots entry "docs/deep" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots: ['secret/x'] },
      'subagent allowed_roots entry "secret/x" is not contained within any of the parent\'s allowed_roots entries',
    ],
    [
      { allowed_roots_read_only: ['/ro', '/rw', '.', '/wo'] },
      'subagent allowed_roots_read_only entry "/wo" is not contained within the parent\'s allowed_roots or allowed_roots_read_only',
    ],
    [
      { allowed_roots_write_only: ['/wo', '/rw', '.', '/ro'] },
      'subagent allowed_roots_write_only entry "/ro" is not contained within the parent\'s allowed_roots or allowed_roots_write_only',
    ],
    [
      { allowed_commands: ['git', 'rm'] },
      'subagent allowed_commands entry "rm" is not present on the parent\'s allowed_commands',
    ],
    [
      { allowed_commands: ['tool'] },
      'subagent allowed_commands entry "tool" is not present on the parent\'s allowed_commands',
    ],
    [
      { allowed_commands: ['./TOOL'] },
      'subagent allowed_commands entry "./TOOL" is not present on the parent\'s allowed_commands',
    ],
    [
      { allowed_commands: [' '] },
      'subagent allowed_commands entry " " is not present on the parent\'s allowed_commands',
    ],
    [
      { workspace_only: false },
      'subagent attempts to disable workspace_only but the parent enforces it',
    ],
    [
      { forbidden_paths: ['/w/secret/deeper'] },
      'subagent drops forbidden_paths entry "/w/secret" that the parent enforces',
    ],
    [
      { shell_env_passthrough: ['one'] },
      'subagent shell_env_passthrough entry "one" is not present on the parent\'s list',
    ],
    [{ max_actions_per_hour: 11 }, "subagent max_actions_per_hour=11 exceeds parent's 10"],
    [{ max_cost_per_day_cents: 50.5 }, "subagent max_cost_per_day_cents=50.5 exceeds parent's 50"],
    [{ shell_timeout_secs: 6 }, "subagent shell_timeout_secs=6 exceeds parent's 5"],
    [
      { block_high_risk_commands: false },
      'subagent attempts to set block_high_risk_commands=false but the parent enforces it',
    ],
    [
      { require_approval_for_medium_risk: false },
      'subagent attempts to set require_approval_for_medium_risk=false but the parent enforces it',
    ],
    [
      { require_tool_approval: false },
      'subagent attempts to set require_tool_approval=false but the parent enforces it',
    ],
    [{ always_ask: ['x'] }, 'subagent drops always_ask entry "shell" that the parent enforces'],
    [
      { auto_approve: ['*'] },
      'subagent auto_approve entry "*" is not present on the parent\'s auto_approve',
    ],
    [
      { allowed_tools: ['shell'] },
      'subagent allowed_tools entry "shell" is not present among the parent\'s tools',
    ],
    [
      { delegation_policy: { mode: 'allow' } },
      'subagent delegation_policy mode="allow" exceeds parent\'s "forbidden"',
    ],
  ])('%j', (policy, words) => {
    expect(ask(policy)).toEqual({
      ok: false,
      words: `subagent policy override escalates beyond parent: ${words}`,
    });
  });

  test('the first axis that fails is the one that is named', () => {
    const answer = ask({ shell_timeout_secs: 6, autonomy: 'full', allowed_commands: ['rm'] });
    expect(answer.ok ? '' : answer.words).toContain('autonomy=Full');
  });

  test('S4, S6: an alias that the parent may not read is refused; its own it always keeps', () => {
    expect(ask({}, ['a', 'b'])).toEqual({
      ok: false,
      words:
        'subagent allowlist override contains alias "b" not present on parent\'s memory allowlist; SubAgent overrides may only narrow',
    });
    const none = ask({}, []);
    expect(none).toEqual({ ok: true, narrowing: { memory_readable: [] } });
    const { memory } = parentOf();
    const rights = withinNarrowings({ ...parentOf(), memory }, [{ memory_readable: [] }]);
    expect(rights.memory).toEqual({ own: 'lead', readable: ['lead'] });
  });

  test('R9: a root that the initiator’s frozen policy keeps from the parent is refused too', () => {
    const frozen = { ...files, roots: [], workspaceDir: '/w/a' };
    const { scope } = parentOf();
    const parent = parentOf({ scope: { ...scope, files: [files, frozen] } });
    expect(ask({ allowed_roots: ['a/b'] }, null, parent).ok).toBe(true);
    expect(ask({ allowed_roots: ['b'] }, null, parent).ok).toBe(false);
  });
});

describe('S4: what narrows is taken', () => {
  const rightsFor = (policy: AskedPolicy, parent = parentOf()): Rights => {
    const answer = ask(policy, null, parent);
    if (!answer.ok) throw new Error(answer.words);
    return withinNarrowings(parent, [answer.narrowing]);
  };

  test('with programs by the parent’s own spelling, whatever their case and quotes', () => {
    const { commands } = rightsFor({ allowed_commands: ['"GIT"'] }).scope;
    expect(commands.allowed).toEqual(['git']);
  });

  test.each<AskedPolicy>([{ auto_approve: [] }, { require_approval_for_medium_risk: true }])(
    'with what is asked about binding those below who would else be asked nothing: %j',
    (policy) => {
      const supervised = parentOf({ autonomy: 'supervised', auto_approve: ['shell'] });
      const answer = ask(policy, null, supervised);
      if (!answer.ok) throw new Error(answer.words);
      const free: Rights = { ...supervised, autonomy: 'full' };
      expect(withinNarrowings(free, [answer.narrowing]).autonomy).toBe('supervised');
    },
  );

  test('with roots and forbidden paths as a further scope beside the parent’s', () => {
    const { scope } = rightsFor({
      allowed_roots: [],
      allowed_roots_read_only: ['.'],
      forbidden_paths: ['/w/secret', 'more'],
    });
    expect(scope.files).toEqual([
      files,
      { ...files, roots: [], readRoots: ['/w'], forbidden: ['/w/secret', '/w/more'] },
    ]);
  });

  test('with forbidden paths alone binding nothing else', () => {
    const { scope } = rightsFor({ forbidden_paths: ['/w'] });
    expect(scope.files.at(-1)).toEqual({
      ...files,
      workspaceOnly: false,
      roots: [],
      readRoots: [],
      writeRoots: [],
      forbidden: ['/w'],
    });
  });

  test('with tools that go on unasked under less autonomy, as they did under full', () => {
    const parent = parentOf({ autonomy: 'full', auto_approve: [], always_ask: [] });
    const rights = rightsFor({ autonomy: 'supervised', auto_approve: ['write_file'] }, parent);
    expect(rights).toMatchObject({ autonomy: 'supervised', auto_approve: ['write_file'] });
    expect(rightsFor({ autonomy: 'supervised' }, parent).auto_approve).toEqual([]);
  });

  test('with * in a list standing for every tool', () => {
    const parent = parentOf({ auto_approve: ['*'], always_ask: ['x'] });
    const rights = rightsFor({ auto_approve: ['y'], always_ask: ['*'] }, parent);
    expect(rights).toMatchObject({ auto_approve: ['y'], always_ask: ['x', '*'] });
  });

  test('in every number and switch, and where the parent enforces nothing, a switch may stay off', () => {
    const rights = rightsFor({
      shell_timeout_secs: 0.5,
      max_actions_per_hour: 0,
      max_cost_per_day_cents: 1.5,
      shell_env_passthrough: [],
    });
    expect(rights.scope.commands).toMatchObject({ timeoutMs: 500, envPassthrough: [] });
    expect(rights.budget).toEqual({ actions_per_hour_max: 0, cost_per_day_max_cents: 1.5 });
    const lax = parentOf({ require_tool_approval: false, require_approval_for_medium_risk: false });
    const off = { require_tool_approval: false, require_approval_for_medium_risk: false };
    expect(rightsFor(off, lax)).toMatchObject(off);
    const on = { require_tool_approval: true, require_approval_for_medium_risk: true };
    expect(rightsFor(on, lax)).toMatchObject(on);
  });
});
