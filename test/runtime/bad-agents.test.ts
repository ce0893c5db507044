import { describe, test } from 'vitest';
import { expectOneFault } from '../support/one-fault.ts';

const AGENT = { model_provider: 'scripted.s' };
const MODELS = { models: { scripted: { s: { file: 's.json' } } } };
const agent = (fields: object) => ({
  agents: { lead: { ...AGENT, ...fields }, b: AGENT },
  providers: MODELS,
});
const JOB = { id: 'j', schedule: '* * * * *', agent: 'lead', prompt: 'p' };

/** What is wrong, the configuration, and its one fault: path, then a part of the sentence. */
const BAD: readonly (readonly [string, object, string, string])[] = [
  ['an unknown block', { agent: {} }, 'agent', 'did you mean `agents`?'],
  ['a block for sub-agents (C2)', { subagents: {} }, 'subagents', 'found an unknown key'],
  [
    'a table where a list stands',
    { agents: [] },
    'agents',
    'found an empty list, expected a table',
  ],
  ['an agent that is a text', { agents: { a: 'x' } }, 'agents.a', 'found "x", expected a table'],
  [
    'an agent without a model provider',
    { agents: { a: {} } },
    'agents.a.model_provider',
    'found nothing, expected a provider entry as "<type>.<alias>"',
  ],
  [
    'a provider that is not a reference',
    { agents: { a: { model_provider: 'gpt' } }, providers: MODELS },
    'agents.a.model_provider',
    'found "gpt", expected a provider entry: scripted.s',
  ],
  [
    'a provider entry that is not there',
    agent({ model_provider: 'scripted.t' }),
    'agents.lead.model_provider',
    'did you mean "scripted.s"?',
  ],
  [
    'a provider entry where there is none',
    { agents: { a: AGENT } },
    'agents.a.model_provider',
    'expected a provider entry, but none is configured',
  ],
  [
    'a risk profile that is not there',
    { ...agent({ risk_profile: 'saef' }), risk_profiles: { safe: {} } },
    'agents.lead.risk_profile',
    'did you mean "safe"?',
  ],
  [
    'a runtime profile that is not there',
    agent({ runtime_profile: 'x' }),
    'agents.lead.runtime_profile',
    'none is configured',
  ],
  [
    'a project that is not there',
    agent({ project: 'web' }),
    'agents.lead.project',
    'expected a project, but none is configured',
  ],
  [
    'an MCP server that is not there',
    agent({ mcp_servers: ['m'] }),
    'agents.lead.mcp_servers[0]',
    'expected an MCP server, but none is configured',
  ],
  [
    'an unknown memory source',
    agent({ workspace: { read_memory_from: ['x'] } }),
    'agents.lead.workspace.read_memory_from[0]',
    'expected an agent: lead, b',
  ],
  [
    'its own memory as a source',
    agent({ workspace: { read_memory_from: ['lead'] } }),
    'agents.lead.workspace.read_memory_from[0]',
    'expected another agent',
  ],
  [
    'an empty delegate',
    agent({ delegates: [' '] }),
    'agents.lead.delegates[0].agent',
    'agents.lead.delegates[0].agent is empty; remove it or name a configured agent',
  ],
  [
    'itself as a delegate',
    agent({ delegates: ['b', 'lead'] }),
    'agents.lead.delegates[1].agent',
    'agents.lead.delegates[1].agent = "lead" names this agent itself; an agent cannot delegate to itself',
  ],
  [
    'an unknown delegate',
    agent({ delegates: [{ agent: 'c' }] }),
    'agents.lead.delegates[0].agent',
    'agents.lead.delegates[0].agent = "c" but agents.c is not configured',
  ],
  [
    'a delegate twice, whatever the mode',
    agent({ delegates: ['b', { agent: ' b', mode: 'independent' }] }),
    'agents.lead.delegates[1].agent',
    'agents.lead.delegates[1].agent = "b" duplicates an earlier delegate target',
  ],
  [
    'a delegate without an agent',
    agent({ delegates: [{ mode: 'bounded' }] }),
    'agents.lead.delegates[0].agent',
    'found nothing, expected a text',
  ],
  [
    'an unknown field of a delegate',
    agent({ delegates: [{ agent: 'b', modus: 'bounded' }] }),
    'agents.lead.delegates[0].modus',
    'did you mean `mode`?',
  ],
  [
    'an unknown mode of a delegate',
    agent({ delegates: [{ agent: 'b', mode: 'bound' }] }),
    'agents.lead.delegates[0].mode',
    'expected one of "bounded", "independent"; did you mean "bounded"?',
  ],
  [
    'a delegate that is a number',
    agent({ delegates: [1] }),
    'agents.lead.delegates[0]',
    'found 1, expected a text or a table',
  ],
  [
    'both forms of a system prompt',
    agent({ system_prompt: 'x', system_prompt_file: 's.json' }),
    'agents.lead.system_prompt_file',
    'expected one of the two',
  ],
  [
    'a system prompt file that is not there',
    agent({ system_prompt_file: 'p.txt' }),
    'agents.lead.system_prompt_file',
    '/p.txt: no such file',
  ],
  [
    'a system prompt file that is a folder',
    agent({ system_prompt_file: '.' }),
    'agents.lead.system_prompt_file',
    'a folder, not a file',
  ],
  [
    'an empty list of tools',
    agent({ tools: [] }),
    'agents.lead.tools',
    'found an empty list, expected a list with at least one entry',
  ],
  [
    'a blank tool',
    agent({ tools: ['a', ' '] }),
    'agents.lead.tools[1]',
    'expected a text that is not blank',
  ],
  [
    'a blank name',
    agent({ name: '' }),
    'agents.lead.name',
    'found an empty text, expected a text that is not blank',
  ],
  [
    'turns that are a text',
    agent({ max_turns: '5' }),
    'agents.lead.max_turns',
    'found "5", expected a whole number of at least 1',
  ],
  ['no turns at all', agent({ max_turns: 0 }), 'agents.lead.max_turns', 'found 0'],
  ['half a turn', agent({ max_turns: 1.5 }), 'agents.lead.max_turns', 'found 1.5'],
  [
    'a capability that is a text',
    agent({ capabilities: { delegation: 'yes' } }),
    'agents.lead.capabilities.delegation',
    'expected true or false',
  ],
  [
    'an unknown capability',
    agent({ capabilities: { delegate: true } }),
    'agents.lead.capabilities.delegate',
    'did you mean `delegation`?',
  ],
  [
    'a description, which agents do not have',
    agent({ description: 'x' }),
    'agents.lead.description',
    'found an unknown key',
  ],
  [
    'an agent id of two words',
    { agents: { 'a b': AGENT }, providers: MODELS },
    'agents."a b"',
    'found "a b", expected an id',
  ],
  [
    'an agent id that is too long',
    { agents: { ['a'.repeat(65)]: AGENT }, providers: MODELS },
    `agents.${'a'.repeat(65)}`,
    'expected an id',
  ],
  [
    'a risk profile id with a slash',
    { risk_profiles: { 'a/b': {} } },
    'risk_profiles."a/b"',
    'expected an id',
  ],
  [
    'a runtime profile id that begins with a dot',
    { runtime_profiles: { '.a': {} } },
    'runtime_profiles.".a"',
    'expected an id',
  ],
  [
    'an alias with a blank',
    { providers: { models: { scripted: { 'a b': { file: 'x' } } } } },
    'providers.models.scripted."a b"',
    'expected an id',
  ],
  [
    'a project id that is empty',
    { projects: { '': {} } },
    'projects.""',
    'found an empty text, expected an id',
  ],
  [
    'an MCP server id with a colon',
    { mcp_servers: { 'a:b': { command: 'x' } } },
    'mcp_servers."a:b"',
    'expected an id',
  ],
  [
    'a cron id with a blank',
    { ...agent({}), cron: [{ ...JOB, id: 'a b' }] },
    'cron[0].id',
    'expected an id',
  ],
];

describe('C1, C7: agents and ids are refused for', () => {
  test.each(BAD)('%s', (_, source, path, words) => {
    expectOneFault(source, path, words);
  });
});
