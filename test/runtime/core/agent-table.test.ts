import { describe, expect, test } from 'vitest';
import { normaliseDelegates, serialiseAgent } from '../../../src/runtime/core/agent-table.ts';
import { agentOf, configOf } from '../../support/agent-config.ts';

describe('C5: saving an agent', () => {
  test('writes every delegate as an object with an explicit mode', () => {
    const delegates = ['b', ' c ', { agent: 'd' }, { agent: 'e', mode: 'independent' as const }];
    const expected = [
      { agent: 'b', mode: 'bounded' },
      { agent: 'c', mode: 'bounded' },
      { agent: 'd', mode: 'bounded' },
      { agent: 'e', mode: 'independent' },
    ];
    expect(normaliseDelegates(delegates)).toEqual(expected);
    const config = configOf({ a: { delegates }, b: {}, c: {}, d: {}, e: {} });
    expect(serialiseAgent(agentOf(config, 'a'))).toEqual({
      model_provider: 'scripted.s',
      delegates: expected,
    });
  });

  test('gives a table that loads as the same agent', () => {
    const blocks = {
      risk_profiles: { r: {} },
      runtime_profiles: { t: {} },
      projects: { p: {} },
      mcp_servers: { m: { command: 'm' } },
    };
    const full = {
      name: 'A',
      purpose: 'p',
      enabled: false,
      project: 'p',
      model: 'm',
      system_prompt: 'hi',
      risk_profile: 'r',
      runtime_profile: 't',
      capabilities: { delegation: false },
      delegates: ['b'],
      delegate_same_risk_profile: false,
      max_turns: 3,
      workspace: { dir: '/w', read_memory_from: ['b'] },
      skills: ['s'],
      mcp_servers: ['m'],
      tools: ['x'],
    };
    for (const fields of [full, {}]) {
      const agent = agentOf(configOf({ a: fields, b: {} }, blocks), 'a');
      const again = configOf({ a: serialiseAgent(agent), b: {} }, blocks);
      expect(agentOf(again, 'a')).toEqual(agent);
    }
  });
});
