import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RISK_PROFILE, DEFAULT_RUNTIME_PROFILE } from '../../src/runtime/core/config.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { configFolder } from '../support/config-folder.ts';

const MODEL = '[providers.models.scripted.s]\nfile = "s.json"\n';

function load(files: Readonly<Record<string, string>>) {
  return loadConfig(join(configFolder({ 's.json': '{}', ...files }), 'troupe.toml'));
}

describe('a configuration that says little', () => {
  test('C1: may be empty, with every default filled in', () => {
    const folder = configFolder({ 'troupe.toml': '' });
    const config = loadConfig(join(folder, 'troupe.toml'), { cores: 7 });
    expect(config).toEqual({
      file: join(folder, 'troupe.toml'),
      sources: [join(folder, 'troupe.toml'), join(folder, 'agents')],
      baseDir: folder,
      agents: new Map(),
      riskProfiles: new Map(),
      runtimeProfiles: new Map(),
      providers: new Map(),
      projects: new Map(),
      cron: [],
      runtime: { maxRunsPerRoot: 256, actorThreads: 2, computeThreads: 7, stopGraceMs: 5000 },
      journal: { sync: 'full' },
    });
  });

  test('C4: gives agents, profiles and entries the defaults of the spec', () => {
    const config = load({
      'troupe.toml': `${MODEL}[agents.lead]\nmodel_provider = "scripted.s"\n[risk_profiles.r]\n[runtime_profiles.t]\n`,
    });
    expect(config.agents.get('lead')).toEqual({
      id: 'lead',
      name: 'lead',
      purpose: '',
      enabled: true,
      project: null,
      modelProvider: 'scripted.s',
      model: null,
      systemPrompt: '',
      riskProfile: null,
      runtimeProfile: null,
      delegationCapability: null,
      delegates: [],
      delegateSameRiskProfile: true,
      maxTurns: null,
      workspaceDir: null,
      readMemoryFrom: [],
      skills: [],
      mcpServers: [],
      tools: null,
    });
    expect(config.riskProfiles.get('r')).toEqual({ ...DEFAULT_RISK_PROFILE, name: 'r' });
    expect(config.runtimeProfiles.get('t')).toEqual({ ...DEFAULT_RUNTIME_PROFILE, name: 't' });
    expect(config.providers.get('scripted.s')).toEqual({
      ref: 'scripted.s',
      type: 'scripted',
      baseUrl: null,
      apiKeyEnv: null,
      model: null,
      temperature: null,
      connectTimeoutMs: 10_000,
      idleTimeoutMs: 120_000,
      totalTimeoutMs: 3_600_000,
      maxRetries: 2,
      nativeTools: true,
      maxConcurrentRequests: null,
      file: join(config.baseDir, 's.json'),
      price: null,
    });
  });
});

describe('a configuration that says everything', () => {
  const FULL = `
[agents.lead]
name = "Lead"
purpose = "leads"
enabled = false
project = "web"
model_provider = "openai-compatible.a.b"
model = "m"
system_prompt_file = "prompts/lead.txt"
risk_profile = "r"
runtime_profile = "t"
capabilities = { delegation = true }
delegates = ["other", { agent = " third ", mode = "independent" }]
delegate_same_risk_profile = false
max_turns = 7
workspace = { dir = "w", read_memory_from = ["other"] }
skills = ["x"]
mcp_servers = ["m"]
tools = ["read_file"]
[agents.other]
model_provider = "openai-compatible.a.b"
[agents.third]
model_provider = "openai-compatible.a.b"

[risk_profiles.r]
autonomy = "full"
delegation_policy = { mode = "allow" }
allowed_roots = ["../shared", "/abs", "~/x"]
shell_timeout_secs = 0.25

[runtime_profiles.t]
delegation_timeout_secs = 1.5
max_delegation_depth = 0

[providers.models.openai-compatible."a.b"]
base_url = "http://127.0.0.1:1/v1"
api_key_env = "MY_KEY"
model = "n"
price = { input = 1, output = 2.5 }

[projects.web]
[mcp_servers.m]
command = "m"
[[cron]]
id = "c"
schedule = "0 3 * * *"
agent = "lead"
prompt = "p"
[runtime]
stop_grace_secs = 0.001
[journal]
sync = "normal"
`;
  const files = { 'troupe.toml': FULL, 'prompts/lead.txt': '\r\nYou\r\nlead.\r\n\r\n' };

  test('C4, C5: is resolved whole, paths absolute, times in milliseconds, delegates with a mode', () => {
    const config = load(files);
    const base = config.baseDir;
    expect(config.agents.get('lead')).toMatchObject({
      name: 'Lead',
      enabled: false,
      project: 'web',
      modelProvider: 'openai-compatible.a.b',
      systemPrompt: 'You\nlead.',
      delegationCapability: true,
      delegates: [
        { agent: 'other', mode: 'bounded' },
        { agent: 'third', mode: 'independent' },
      ],
      workspaceDir: join(base, 'w'),
      readMemoryFrom: ['other'],
      tools: ['read_file'],
    });
    const risk = config.riskProfiles.get('r');
    expect(risk).toMatchObject({ delegationMode: 'allow', shellTimeoutMs: 250 });
    expect(risk?.allowedRoots.slice(0, 2)).toEqual([resolve(base, '../shared'), '/abs']);
    expect(risk?.allowedRoots[2]).toMatch(/^\/.*\/x$/);
    expect(config.runtimeProfiles.get('t')).toMatchObject({
      delegationTimeoutMs: 1500,
      maxDelegationDepth: 0,
    });
    expect(config.providers.get('openai-compatible.a.b')).toMatchObject({
      apiKeyEnv: 'MY_KEY',
      price: { input: 1, output: 2.5, cachedInput: 1 },
    });
    expect(config.projects.get('web')).toEqual({ id: 'web', name: 'web', dailyRuns: null });
    expect(config.runtime.stopGraceMs).toBe(1);
    expect(config.journal.sync).toBe('normal');
  });

  test('L1: is the same whether read from a file or given as an object', () => {
    const table = {
      model_provider: 'scripted.s',
      name: 'Lead',
      delegates: ['b'],
      purpose: undefined,
    };
    const given = loadConfig(
      {
        agents: { lead: table, b: { model_provider: 'scripted.s' } },
        providers: { models: { scripted: { s: { file: 's.json' } } } },
      },
      { baseDir: '/base', cores: 1 },
    );
    expect(given.file).toBeNull();
    const read = load({
      'troupe.toml': `${MODEL}[agents.lead]\nmodel_provider = "scripted.s"\nname = "Lead"\ndelegates = ["b"]\n[agents.b]\nmodel_provider = "scripted.s"\n`,
    });
    expect(given.agents).toEqual(read.agents);
    expect(given.providers.get('scripted.s')?.file).toBe('/base/s.json');
  });

  test('leaves the object it was given as it was, and reads it once', () => {
    const lead = { model_provider: 'scripted.s', tools: ['a'] };
    const source = { agents: { lead }, providers: { models: { scripted: { s: { file: 'x' } } } } };
    const config = loadConfig(source);
    lead.tools.push('b');
    expect(config.agents.get('lead')?.tools).toEqual(['a']);
  });
});
