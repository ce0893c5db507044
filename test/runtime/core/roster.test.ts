import { describe, expect, test } from 'vitest';
import { roster } from '../../../src/runtime/core/gate.ts';
import { configOf } from '../../support/agent-config.ts';

const MAY = { capabilities: { delegation: true } };

test('A1: each reachable agent is listed with id, name, purpose, what it may do, model and can_delegate', () => {
  const config = configOf(
    {
      lead: { risk_profile: 'p', delegates: [{ agent: 'solo', mode: 'independent' }] },
      writer: { name: 'Writer', purpose: 'writes', risk_profile: 'p', model: 'big', ...MAY },
      solo: { risk_profile: 'q', tools: ['read_file', 'shell', 'grep'] },
      hidden: { risk_profile: 'r' },
    },
    {
      risk_profiles: {
        p: { autonomy: 'read_only' },
        q: { autonomy: 'full', excluded_tools: ['shell'] },
        r: {},
      },
    },
  );
  expect(roster(config, 'lead', null, { depth: 0, depthMax: 2 })).toEqual([
    {
      agent_id: 'solo',
      name: 'solo',
      purpose: '',
      capability_profile:
        'full autonomy: tools with effects need no approval; tools: read_file, grep',
      model: 'scripted.s',
      can_delegate: false,
    },
    {
      agent_id: 'writer',
      name: 'Writer',
      purpose: 'writes',
      capability_profile:
        'read-only: no tool with effects; tools: all, as far as you have them yourself',
      model: 'scripted.s/big',
      can_delegate: true,
    },
  ]);
});

describe('A1: the tools in the words of a capability profile', () => {
  test.each([
    [{}, undefined, 'all'],
    [{ excluded_tools: ['shell', 'fetch'] }, undefined, 'all but shell, fetch'],
    [{ allowed_tools: ['a', 'b'], excluded_tools: ['b'] }, undefined, 'a'],
    [{ allowed_tools: ['a', 'b'] }, ['b', 'c'], 'b'],
    [{ excluded_tools: ['a'] }, ['a'], 'none'],
  ])('of profile %j and list %j are %s', (risk, tools, words) => {
    const config = configOf(
      { lead: { delegates: ['a'] }, a: { risk_profile: 'p', tools } },
      { risk_profiles: { p: risk } },
    );
    const [entry] = roster(config, 'lead', null, { depth: 0, depthMax: 2 });
    expect(entry?.capability_profile).toBe(
      `supervised: tools with effects may need approval; tools: ${words}, as far as you have them yourself`,
    );
  });
});

describe('A1, G10: can_delegate at the depth where the agent would run', () => {
  const canDelegate = (fields: object, blocks: object, depth: number, depthMax: number) => {
    const config = configOf({ lead: { delegates: ['a'] }, a: { ...MAY, ...fields } }, blocks);
    return roster(config, 'lead', null, { depth, depthMax })[0]?.can_delegate;
  };

  test.each([
    [0, 2, true],
    [0, 1, false],
    [1, 2, false],
    [1, 3, false],
  ])(
    'from level %i of at most %i, under its own limit of 2, is %s',
    (depth, depthMax, expected) => {
      expect(canDelegate({}, {}, depth, depthMax)).toBe(expected);
    },
  );

  test('is no where its own profile lowers the cap, and never more than the tree allows', () => {
    const profile = (cap: number) => ({ runtime_profiles: { t: { max_delegation_depth: cap } } });
    expect(canDelegate({ runtime_profile: 't' }, profile(1), 0, 5)).toBe(false);
    expect(canDelegate({ runtime_profile: 't' }, profile(9), 2, 5)).toBe(true);
    expect(canDelegate({ runtime_profile: 't' }, profile(9), 1, 2)).toBe(false);
  });

  test('is no where its definition does not allow it, where the tool is excluded, or where it has no tools', () => {
    expect(canDelegate({ capabilities: {} }, {}, 0, 2)).toBe(false);
    const excluded = { risk_profiles: { p: { excluded_tools: ['delegate'] } } };
    expect(canDelegate({ risk_profile: 'p' }, excluded, 0, 2)).toBe(false);
    const bare = { runtime_profiles: { t: { agentic: false } } };
    expect(canDelegate({ runtime_profile: 't' }, bare, 0, 2)).toBe(false);
  });
});
