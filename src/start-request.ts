import { realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { Fault } from './base/fault.ts';
import { abortWords } from './cancel-on-abort.ts';
import type { AgentConfig, ResolvedConfig } from './runtime/core/config.ts';
import { foldName } from './runtime/core/gate.ts';
import { nearest } from './runtime/core/nearest.ts';
import { type FileScope, plainScope } from './runtime/core/tool.ts';
import { loadConfig } from './runtime/load-config.ts';
import { freezeSecurity } from './runtime/resolve-run.ts';
import type { RootRequest } from './runtime/root-request.ts';
import { closedFiles, stateLayout } from './runtime/state-dir.ts';

export interface StartRequest {
  /**
   * Id or display name of a configured agent; or an inline definition with the fields of `[agents.<id>]`, which may
   * delegate unless it says no: the privileged path of SPEC G1.
   */
  readonly agent: string | object;
  readonly prompt: string;
  /** Project whose agents the run may see; default the agent's own. */
  readonly project?: string;
  /** Folder that the run's tools work in; default the agent's `workspace.dir`, else the configuration's folder. */
  readonly workspace?: string;
  /** Turns the run may take, from 1; default the agent's. */
  readonly maxTurns?: number;
  /** Aborting it cancels the run; aborted already, the run is recorded and ends before it asks anything. */
  readonly signal?: AbortSignal;
  /** Under whose authority the tree runs (SPEC R9); default the user of this process. */
  readonly principal?: string;
  readonly orgPosition?: string;
  /** What that person's file policy forbids, frozen for the whole tree; default nothing beyond the agents' own. */
  readonly files?: Partial<Omit<FileScope, 'workspaceDir' | 'protected'>>;
}

const KEYS = {
  agent: 'a string or an object',
  prompt: 'a string',
  project: 'a string',
  workspace: 'a string',
  maxTurns: 'a whole number from 1',
  signal: 'an AbortSignal',
  principal: 'a string',
  orgPosition: 'a string',
  files: 'an object',
} as const;

const FILE_LISTS = ['roots', 'readRoots', 'writeRoots', 'forbidden'];

/** What the caller configured troupe with, to load again with an inline definition beside it. */
export interface ConfigSource {
  readonly config: ResolvedConfig;
  readonly source: string | object;
  readonly agents: Readonly<Record<string, object>>;
}

/** @throws Fault `argument.invalid` naming the key, what was found and what is expected. */
function checkStart(request: StartRequest): void {
  if (!isObject(request)) {
    throw new Fault('argument.invalid', `start: expected an object, found ${describe(request)}`);
  }
  for (const [key, value] of Object.entries(request)) {
    if (!Object.hasOwn(KEYS, key)) {
      const near = nearest(key, Object.keys(KEYS));
      const hint = near === null ? '' : ` (did you mean '${near}'?)`;
      throw new Fault('argument.invalid', `start: unknown key '${key}'${hint}`);
    }
    const known = key as keyof typeof KEYS;
    if (value !== undefined && !fits(known, value)) {
      throw new Fault(
        'argument.invalid',
        `start: '${key}' must be ${KEYS[known]}, found ${describe(value)}`,
      );
    }
  }
  checkFiles(request.files ?? {});
  if (request.agent === undefined) throw new Fault('argument.invalid', "start: 'agent' is missing");
  if (typeof request.prompt !== 'string' || request.prompt.trim() === '') {
    throw new Fault('argument.invalid', 'the prompt is empty; say what the agent is to do');
  }
}

/** A rule that was misspelled would be a rule that does not hold. */
function checkFiles(files: object): void {
  for (const [key, value] of Object.entries(files)) {
    if (key === 'workspaceOnly') {
      if (typeof value === 'boolean') continue;
      throw badRule(key, 'true or false', value);
    }
    if (!FILE_LISTS.includes(key)) {
      const known = ['workspaceOnly', ...FILE_LISTS].join(', ');
      throw new Fault('argument.invalid', `start: unknown key 'files.${key}'; known: ${known}`);
    }
    if (!Array.isArray(value)) throw badRule(key, 'a list of absolute paths', value);
    const odd = value.find((path) => typeof path !== 'string' || !isAbsolute(path));
    if (odd !== undefined) throw badRule(key, 'a list of absolute paths', odd);
  }
}

function badRule(key: string, expected: string, found: unknown): Fault {
  return new Fault(
    'argument.invalid',
    `start: 'files.${key}' must be ${expected}, found ${describe(found)}`,
  );
}

function fits(key: keyof typeof KEYS, value: unknown): boolean {
  switch (key) {
    case 'agent':
      return typeof value === 'string' || isObject(value);
    case 'maxTurns':
      return Number.isInteger(value) && (value as number) >= 1;
    case 'signal':
      return value instanceof AbortSignal;
    case 'files':
      return isObject(value);
    default:
      return typeof value === 'string';
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${String(value)}`;
}

/**
 * The agent that a start means, and whether it was given inline.
 * @throws Fault `agent.not-found`, `agent.unusable`, `argument.invalid`, `config.invalid` for an inline definition.
 */
export function chooseAgent(
  source: ConfigSource,
  { agent: asked, project }: Pick<StartRequest, 'agent' | 'project'>,
): { readonly agent: AgentConfig; readonly raw: boolean } {
  const { agents, projects } = source.config;
  if (project !== undefined && !projects.has(project)) {
    const known = [...projects.keys()].join(', ') || '(none)';
    throw new Fault('argument.invalid', `unknown project '${project}'; configured: ${known}`);
  }
  if (typeof asked !== 'string') return { agent: inlineAgent(source, asked), raw: true };
  const seen = [...agents.values()].filter(
    (agent) => project === undefined || agent.project === null || agent.project === project,
  );
  const named = seen.filter((agent) => foldName(agent.name) === foldName(asked));
  const agent = seen.find(({ id }) => id === asked) ?? (named.length === 1 ? named[0] : undefined);
  if (agent === undefined && named.length > 1) {
    const ids = named.map(({ id }) => id).sort();
    throw new Fault(
      'agent.not-found',
      `Agent name '${asked}' is ambiguous. Use one of these agent ids: ${ids.join(', ')}`,
    );
  }
  if (agent === undefined) {
    const usable = seen.filter((each) => each.enabled);
    const known = usable.map((each) => each.id).join(', ') || '(none)';
    throw new Fault('agent.not-found', `Unknown agent '${asked}'. Available agents: ${known}`);
  }
  if (agent.enabled) return { agent, raw: false };
  throw new Fault(
    'agent.unusable',
    `agent '${agent.id}' is disabled; set [agents.${agent.id}].enabled = true`,
  );
}

/** Checked like any agent of the configuration, against the same schema and the same names. */
function inlineAgent({ source, agents, config }: ConfigSource, definition: object): AgentConfig {
  const id = 'inline';
  const loaded = loadConfig(source, {
    baseDir: config.baseDir,
    agents: { ...agents, [id]: definition },
  });
  const agent = loaded.agents.get(id);
  if (agent !== undefined) return agent;
  throw new Fault('agent.unusable', 'the inline agent could not be resolved');
}

/** @throws Fault `argument.invalid` if there is no such folder. */
function workspaceFor(request: StartRequest, agent: AgentConfig, config: ResolvedConfig): string {
  const path = resolve(request.workspace ?? agent.workspaceDir ?? config.baseDir);
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new Fault('argument.invalid', `the workspace ${path} does not exist; create it first`);
  }
  if (statSync(real).isDirectory()) return real;
  throw new Fault('argument.invalid', `the workspace ${path} is not a folder`);
}

/**
 * What a start means: whose definition, where, under whose authority. `statePath` is what no tool may write.
 * @throws Fault as `checkStart`, `chooseAgent` and `workspaceFor`.
 */
export function rootRequest(
  source: ConfigSource,
  request: StartRequest,
  statePath: string,
): RootRequest {
  checkStart(request);
  const { agent, raw } = chooseAgent(source, request);
  const workspaceDir = workspaceFor(request, agent, source.config);
  return {
    agent,
    raw,
    prompt: request.prompt,
    origin: 'user',
    cron: null,
    project: request.project ?? agent.project,
    security: freezeSecurity(
      request.principal ?? userInfo().username,
      request.orgPosition ?? null,
      initiatorFiles(request, workspaceDir, statePath),
    ),
    workspaceDir,
    maxTurns: request.maxTurns ?? null,
    calledOff: request.signal?.aborted === true ? abortWords(request.signal) : null,
  };
}

/** The initiator's file policy: what the caller said of it, and nothing more than troupe's own state besides. */
function initiatorFiles(request: StartRequest, workspaceDir: string, statePath: string): FileScope {
  const { files = {} } = request;
  const closed = closedFiles(stateLayout(statePath));
  return {
    ...plainScope(workspaceDir, false),
    ...files,
    forbidden: [...(files.forbidden ?? []), ...closed],
    protected: [statePath],
  };
}
