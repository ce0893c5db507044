import { expect, it } from 'vitest';
import { plainScope, type ToolDefinition } from '../../src/runtime/core/tool.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { freezeSecurity, type RunRequest, resolveRun } from '../../src/runtime/resolve-run.ts';
import { RunTemplates } from '../../src/runtime/run-templates.ts';

const tools = new Map<string, ToolDefinition>(
  (['read', 'effectful'] as const).map((effect) => [
    effect,
    { name: effect, description: '', parameters: {}, effect, place: 'actor', timeoutMs: 1000 },
  ]),
);

function load(width: number) {
  const agent = { model_provider: 'scripted.s', risk_profile: 'p', runtime_profile: 'r' };
  return loadConfig(
    {
      providers: { models: { scripted: { s: { file: 'scenario.yaml' } } } },
      agents: { lead: agent, worker: agent },
      risk_profiles: { p: { autonomy: 'full', delegation_policy: { mode: 'allow' } } },
      runtime_profiles: { r: { max_delegation_width: width } },
    },
    { baseDir: '/' },
  );
}

function requestOf(config: ReturnType<typeof load>, change: Partial<RunRequest> = {}): RunRequest {
  const agent = config.agents.get('lead');
  if (agent === undefined) throw new Error('no lead');
  const files = plainScope('/', false);
  return {
    agent,
    raw: false,
    origin: 'user',
    prompt: 'go',
    cron: null,
    rootRunId: 'run_1',
    parent: null,
    project: null,
    security: freezeSecurity('me', null, files),
    sessionKey: 's1',
    startedAtMs: 1,
    maxTurns: null,
    reviewOf: [],
    workspaceDir: '/',
    protectedPaths: [],
    ...change,
  };
}

it('G7: a run that is launched like an earlier one is what it would be if it were resolved anew', () => {
  const config = load(3);
  const templates = new RunTemplates();
  const changes: Partial<RunRequest>[] = [
    {},
    { prompt: 'two', rootRunId: 'run_2', sessionKey: 's2', startedAtMs: 2 },
    { maxTurns: 5 },
    { security: freezeSecurity('you', 'boss', requestOf(config).security.files) },
  ];
  for (const change of changes) {
    const root = requestOf(config, change);
    const parent = templates.resolve(config, tools, root);
    expect(parent).toEqual(resolveRun(config, tools, root));
    const others: Partial<RunRequest>[] = [
      {},
      { maxTurns: 2 },
      { independent: true },
      { independent: false },
      { origin: 'subagent', narrowing: { allowed_tools: ['read'] } },
      { origin: 'subagent' },
    ];
    for (const other of others) {
      const child = requestOf(config, { origin: 'delegate', parent, ...change, ...other });
      expect(templates.resolve(config, tools, child)).toEqual(resolveRun(config, tools, child));
    }
  }
});

it('runs that begin alike share their scope and tools as the same objects', () => {
  const config = load(3);
  const templates = new RunTemplates();
  const [one, two] = [1, 2].map((at) =>
    templates.resolve(
      config,
      tools,
      requestOf(config, { prompt: `${at}`, rootRunId: `run_${at}` }),
    ),
  );
  expect(one?.scope).toBe(two?.scope);
  expect(one?.tools).toBe(two?.tools);
  expect([one?.prompt, two?.prompt]).toEqual(['1', '2']);
});

it('G7: a new configuration is resolved anew', () => {
  const templates = new RunTemplates();
  const [old, next] = [load(3), load(4)];
  expect(templates.resolve(old, tools, requestOf(old)).width_max).toBe(3);
  expect(templates.resolve(next, tools, requestOf(next)).width_max).toBe(4);
});
