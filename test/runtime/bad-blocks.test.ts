import { describe, test } from 'vitest';
import { expectOneFault } from '../support/one-fault.ts';

const AGENT = { model_provider: 'scripted.s' };
const MODELS = { models: { scripted: { s: { file: 's.json' } } } };
const agent = (fields: object) => ({
  agents: { lead: { ...AGENT, ...fields }, b: AGENT },
  providers: MODELS,
});
const entry = (type: string, fields: object) => ({
  providers: { models: { [type]: { x: fields } } },
});
const risk = (fields: object) => ({ risk_profiles: { r: fields } });
const runtime = (fields: object) => ({ runtime_profiles: { t: fields } });
const LOCAL = { base_url: 'http://h/v1', model: 'm' };
const JOB = { id: 'j', schedule: '* * * * *', agent: 'lead', prompt: 'p' };

/** What is wrong, the configuration, and its one fault: path, then a part of the sentence. */
const BAD: readonly (readonly [string, object, string, string])[] = [
  [
    'autonomy spelt otherwise',
    risk({ autonomy: 'readonly' }),
    'risk_profiles.r.autonomy',
    'did you mean "read_only"?',
  ],
  [
    'a policy that is a text',
    risk({ delegation_policy: 'allow' }),
    'risk_profiles.r.delegation_policy',
    'expected a table',
  ],
  [
    'an unknown policy mode',
    risk({ delegation_policy: { mode: 'deny' } }),
    'risk_profiles.r.delegation_policy.mode',
    'expected one of "forbidden", "allow"',
  ],
  [
    'a negative budget',
    risk({ max_cost_per_day_cents: -1 }),
    'risk_profiles.r.max_cost_per_day_cents',
    'a number of at least 0',
  ],
  [
    'an environment variable that is none',
    risk({ shell_env_passthrough: ['A-B'] }),
    'risk_profiles.r.shell_env_passthrough[0]',
    'expected the name of an environment variable',
  ],
  [
    'C6: commands that would see the key of a provider',
    {
      ...risk({ shell_env_passthrough: ['LANG', 'MY_KEY'] }),
      ...entry('openai-compatible', { ...LOCAL, api_key_env: 'MY_KEY' }),
    },
    'risk_profiles.r.shell_env_passthrough[1]',
    'found "MY_KEY", which holds the key of a provider, expected variables that hold no key of a provider',
  ],
  [
    'C6: commands that would see the key of a vendor',
    {
      ...risk({ shell_env_passthrough: ['OPENAI_API_KEY'] }),
      ...entry('openai', { model: 'm' }),
    },
    'risk_profiles.r.shell_env_passthrough[0]',
    'which holds the key of a provider',
  ],
  [
    'a width of nothing',
    runtime({ max_delegation_width: 0 }),
    'runtime_profiles.t.max_delegation_width',
    'at least 1',
  ],
  [
    'a negative depth',
    runtime({ max_delegation_depth: -1 }),
    'runtime_profiles.t.max_delegation_depth',
    'at least 0',
  ],
  [
    'a timeout of zero',
    runtime({ delegation_timeout_secs: 0 }),
    'runtime_profiles.t.delegation_timeout_secs',
    'a number above 0',
  ],
  [
    'a timeout longer than a timer can wait',
    runtime({ max_run_secs: 3e6 }),
    'runtime_profiles.t.max_run_secs',
    'at most 2147483',
  ],
  [
    'an endless timeout',
    runtime({ max_run_secs: Number.POSITIVE_INFINITY }),
    'runtime_profiles.t.max_run_secs',
    'found Infinity',
  ],
  [
    'an order spelt otherwise',
    runtime({ delegation_order: 'FIFO' }),
    'runtime_profiles.t.delegation_order',
    'did you mean "fifo"?',
  ],
  [
    'a provider type that is not known',
    { providers: { models: { openia: { x: LOCAL } } } },
    'providers.models.openia',
    'did you mean `openai`?',
  ],
  [
    'no address of a compatible server',
    entry('openai-compatible', { model: 'm' }),
    'providers.models.openai-compatible.x.base_url',
    'expected the address of the server',
  ],
  [
    'an address that is none',
    entry('openai-compatible', { ...LOCAL, base_url: 'localhost' }),
    'providers.models.openai-compatible.x.base_url',
    'found "localhost", expected an http or https address',
  ],
  [
    'an address of another kind',
    entry('openai-compatible', { ...LOCAL, base_url: 'ftp://h' }),
    'providers.models.openai-compatible.x.base_url',
    'found an address of kind "ftp:"',
  ],
  [
    'an address with a password',
    entry('openai-compatible', { ...LOCAL, base_url: 'https://u:hunter2@h/' }),
    'providers.models.openai-compatible.x.base_url',
    'found an address with credentials (not shown)',
  ],
  [
    'an address with a key in its query',
    entry('openai-compatible', { ...LOCAL, base_url: 'https://h/?api_key=hunter2' }),
    'providers.models.openai-compatible.x.base_url',
    'found an address with credentials (not shown)',
  ],
  [
    'a key for the name of its variable',
    entry('openai', { ...LOCAL, api_key_env: 'sk-hunter2hunter2' }),
    'providers.models.openai.x.api_key_env',
    'found a value that looks like a key (not shown)',
  ],
  [
    'a key that even has the form of a name',
    entry('google', { ...LOCAL, api_key_env: 'AIzaHunter2hunter2' }),
    'providers.models.google.x.api_key_env',
    'found a value that looks like a key (not shown)',
  ],
  [
    'some other text for the name of a variable',
    entry('openai', { ...LOCAL, api_key_env: 'hunter2 hunter2' }),
    'providers.models.openai.x.api_key_env',
    'found a text (not shown), expected the name of an environment variable',
  ],
  [
    'a key in a field of its own',
    entry('openai', { ...LOCAL, api_key: 'sk-hunter2' }),
    'providers.models.openai.x.api_key',
    'did you mean `api_key_env`?',
  ],
  [
    'a temperature out of bounds',
    entry('openai', { ...LOCAL, temperature: 3 }),
    'providers.models.openai.x.temperature',
    'at most 2',
  ],
  [
    'a key in a place that is not secret by its name',
    entry('openai', { ...LOCAL, temperature: 'sk-hunter2hunter2' }),
    'providers.models.openai.x.temperature',
    'found a value that looks like a key (not shown)',
  ],
  [
    'too many retries',
    entry('openai', { ...LOCAL, max_retries: 100 }),
    'providers.models.openai.x.max_retries',
    'at most 20',
  ],
  [
    'half a price',
    entry('openai', { ...LOCAL, price: { input: 1 } }),
    'providers.models.openai.x.price.output',
    'found nothing, expected a number of at least 0',
  ],
  [
    'a scripted model without a scenario',
    entry('scripted', {}),
    'providers.models.scripted.x.file',
    'expected a scenario file',
  ],
  [
    'a replay without a recording',
    entry('replay', {}),
    'providers.models.replay.x.file',
    'expected a recording',
  ],
  [
    'a file for a real model',
    entry('openai', { ...LOCAL, file: 's.json' }),
    'providers.models.openai.x.file',
    'only scripted and replay read one',
  ],
  [
    'a fallback to itself',
    entry('openai', { ...LOCAL, fallback: ['openai.x'] }),
    'providers.models.openai.x.fallback[0]',
    'the entry itself',
  ],
  [
    'a fallback that is not there',
    { providers: { models: { openai: { x: { ...LOCAL, fallback: ['openai.z'] }, y: LOCAL } } } },
    'providers.models.openai.x.fallback[0]',
    'did you mean "openai.y"?',
  ],
  [
    'no name of a model anywhere',
    { ...entry('openai', {}), agents: { a: { model_provider: 'openai.x' } } },
    'agents.a.model',
    'expected the name of a model, here or as providers.models.openai.x.model',
  ],
  [
    'an MCP server without anything',
    { mcp_servers: { m: {} } },
    'mcp_servers.m',
    'found neither command nor url',
  ],
  [
    'an MCP server with two ways to it',
    { mcp_servers: { m: { command: 'x', url: 'http://h' } } },
    'mcp_servers.m',
    'found command beside url',
  ],
  [
    'a cron job without a schedule',
    { ...agent({}), cron: [{ ...JOB, schedule: undefined }] },
    'cron[0].schedule',
    'found nothing',
  ],
  [
    'a cron job of nobody',
    { ...agent({}), cron: [{ ...JOB, agent: 'x' }] },
    'cron[0].agent',
    'expected an agent: lead, b',
  ],
  [
    'two cron jobs of one id',
    { ...agent({}), cron: [JOB, JOB] },
    'cron[1].id',
    'which cron[0] has',
  ],
  ['a cron table that is no list', { cron: {} }, 'cron', 'found a table, expected a list'],
  [
    'no threads for actors',
    { runtime: { actor_threads: 0 } },
    'runtime.actor_threads',
    'at least 1',
  ],
  [
    'an unknown setting of the host',
    { runtime: { max_runs: 3 } },
    'runtime.max_runs',
    'did you mean `max_runs_per_root`?',
  ],
  [
    'a journal that never syncs',
    { journal: { sync: 'off' } },
    'journal.sync',
    'expected one of "full", "normal"',
  ],
  [
    'an empty date for a table',
    { runtime: new Date(0) },
    'runtime',
    'found a date, expected a table',
  ],
  [
    'a key that is no key of a table',
    JSON.parse('{"agents": {"__proto__": {}}}'),
    'agents.__proto__',
    'expected an id',
  ],
];

describe('C1: profiles, entries, servers and jobs are refused for', () => {
  test.each(BAD)('%s', (_, source, path, words) => {
    expectOneFault(source, path, words);
  });
});
