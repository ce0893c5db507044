import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { Fault, messageOf } from '../base/fault.ts';
import { agentFaults } from './agent-checks.ts';
import { type AgentFile, readAgentFile } from './agent-files.ts';
import { blockFaults } from './block-checks.ts';
import type { ConfigFiles, ConfigLook } from './config-look.ts';
import type { ConfigTable } from './config-table.ts';
import { configWarnings } from './config-warnings.ts';
import type { ResolvedConfig } from './core/config.ts';
import {
  type ConfigFault,
  type ConfigWarning,
  configFault,
  faultAsJson,
  faultLine,
  type Place,
} from './core/config-fault.ts';
import { formatPath, type KeyPath, type TextPlace } from './core/key-path.ts';
import { withoutKeys } from './core/secret-look.ts';
import { isTable, plainCopy, type RawTable, tableOf } from './raw-config.ts';
import { readText, reasonOf } from './read-text.ts';
import { resolveConfig } from './resolve-config.ts';
import { schemaFaults } from './schema-faults.ts';
import { tomlPlaces } from './toml-places.ts';

export interface LoadOptions {
  /** Where relative paths start; the folder of the file, or the working directory for a configuration in code. */
  readonly baseDir?: string;
  /** The folder of Markdown agents; `agents` beside the file, none for a configuration in code. Named = must exist. */
  readonly agentsDir?: string;
  /** Agents given in code, by id, beside those that are configured; the same fields as `[agents.<id>]`. */
  readonly agents?: Readonly<Record<string, object>>;
  /** Threads of the compute pool where the configuration names none; the number of cores. */
  readonly cores?: number;
}

export interface CheckedConfig {
  readonly faults: readonly ConfigFault[];
  readonly warnings: readonly ConfigWarning[];
  /** Absent where there are faults. */
  readonly config?: ResolvedConfig;
}

/**
 * The configuration in a file or in an object of the same shape, defaults filled in (SPEC C1).
 *
 * @throws Fault `config.invalid`, one for all faults; `detail.faults` holds them as data.
 */
export function loadConfig(source: string | object, options: LoadOptions = {}): ResolvedConfig {
  const { faults, config } = checkConfig(source, options);
  if (config !== undefined) return config;
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  const lines = faults.map((fault) => `\n  ${faultLine(fault)}`);
  throw new Fault('config.invalid', `invalid configuration, ${count}:${lines.join('')}`, {
    detail: { faults: faults.map(faultAsJson) },
  });
}

/** Everything there is to say about a configuration, for `troupe check`. Never throws for what is in it. */
export function checkConfig(source: string | object, options: LoadOptions = {}): CheckedConfig {
  const main = typeof source === 'string' ? readMain(source) : mainOf(source);
  const baseDir = resolve(options.baseDir ?? (main.file === null ? '.' : dirname(main.file)));
  const files = diskFiles(baseDir);
  const folder = readAgents(agentsFolder(main.file, options));
  const merged = merge(withAgents(main, options.agents ?? {}), folder.agents);
  const faults = [...main.faults, ...folder.faults, ...merged.faults];
  const look: ConfigLook = {
    raw: merged.raw,
    where: whereIn(main.file, merged.places),
    files,
    unreadAgents: folder.unread,
  };
  if (main.faults.length === 0) faults.push(...contentFaults(merged.raw, look));
  const warnings = main.faults.length === 0 ? configWarnings(look) : [];
  if (faults.length > 0) return { faults: inReadingOrder(faults, main.file), warnings };
  const config = resolveConfig(merged.raw as ConfigTable, {
    file: main.file === null ? null : resolve(main.file),
    agentsDir: agentsPlace(main.file, options),
    baseDir,
    files,
    cores: options.cores ?? availableParallelism(),
  });
  return { faults, warnings, config };
}

/** Where both the schema and a check object to one key, the check knows better why. */
function contentFaults(raw: RawTable, look: ConfigLook): readonly ConfigFault[] {
  const checked = [...agentFaults(look), ...blockFaults(look)];
  const paths = new Set(checked.map((fault) => fault.path));
  return [...schemaFaults(raw, look.where).filter((fault) => !paths.has(fault.path)), ...checked];
}

interface Main {
  readonly file: string | null;
  readonly raw: RawTable;
  readonly places: ReadonlyMap<string, TextPlace>;
  readonly faults: readonly ConfigFault[];
}

function readMain(file: string): Main {
  const empty = { file, raw: {}, places: new Map() };
  const read = readText(resolve(file));
  if (!read.ok) {
    const words = {
      found: read.why,
      expected: 'a configuration file',
      hint: '`troupe init` writes one, `--config` names another',
    };
    return { ...empty, faults: [configFault({ file }, [], words)] };
  }
  try {
    return {
      ...empty,
      raw: tableOf(plainCopy(parse(read.text))),
      places: tomlPlaces(read.text),
      faults: [],
    };
  } catch (error) {
    return { ...empty, faults: [syntaxFault(file, error)] };
  }
}

/** Only the parser's first line is shown: the rest quotes the file, and with it whatever secret stands there. */
function syntaxFault(file: string, error: unknown): ConfigFault {
  const [why = ''] = messageOf(error)
    .replace(/^Invalid TOML document: /, '')
    .split('\n');
  const place =
    error instanceof TomlError ? { file, line: error.line, column: error.column } : { file };
  return configFault(place, [], {
    found: `text that is not TOML (${withoutKeys(why)})`,
    expected: 'TOML',
  });
}

/** An id that is configured already keeps its place, and the one in code is a fault. */
function withAgents(main: Main, given: Readonly<Record<string, object>>): Main {
  const configured = tableOf(main.raw['agents']);
  const faults = [...main.faults];
  const added: Record<string, unknown> = {};
  for (const [id, agent] of Object.entries(given)) {
    if (id in configured) {
      const words = { found: 'a second agent of this id, given in code', expected: 'one' };
      faults.push(configFault({ file: main.file }, ['agents', id], words));
    } else {
      added[id] = plainCopy(agent);
    }
  }
  if (Object.keys(added).length === 0) return { ...main, faults };
  return { ...main, faults, raw: { ...main.raw, agents: { ...configured, ...added } } };
}

function mainOf(source: object): Main {
  const raw = plainCopy(source);
  const faults = isTable(raw)
    ? []
    : [configFault({ file: null }, [], { found: 'a list', expected: 'a table' })];
  return { file: null, raw: tableOf(raw), places: new Map(), faults };
}

const AGENT_SUFFIX = '.md';

interface Folder {
  readonly agents: readonly AgentFile[];
  /** By the names of their files. */
  readonly unread: readonly string[];
  readonly faults: readonly ConfigFault[];
}

/** Where agent files would be. */
function agentsPlace(file: string | null, options: LoadOptions): string | null {
  if (options.agentsDir !== undefined) return resolve(options.agentsDir);
  return file === null ? null : join(dirname(resolve(file)), 'agents');
}

function agentsFolder(file: string | null, options: LoadOptions): string | null {
  const beside = agentsPlace(file, options);
  if (options.agentsDir !== undefined || beside === null) return beside;
  return existsSync(beside) && statSync(beside).isDirectory() ? beside : null;
}

function readAgents(folder: string | null): Folder {
  if (folder === null) return { agents: [], unread: [], faults: [] };
  let names: readonly string[];
  try {
    names = readdirSync(folder)
      .filter((name) => name.endsWith(AGENT_SUFFIX))
      .sort();
  } catch (error) {
    const words = { found: reasonOf(error), expected: 'a folder of agents' };
    return { agents: [], unread: [], faults: [configFault({ file: folder }, ['agents'], words)] };
  }
  const agents: AgentFile[] = [];
  const unread: string[] = [];
  const faults: ConfigFault[] = [];
  for (const name of names) {
    const parsed = readAgent(join(folder, name), name.slice(0, -AGENT_SUFFIX.length));
    faults.push(...parsed.faults);
    if (parsed.agent === null) unread.push(name.slice(0, -AGENT_SUFFIX.length));
    else agents.push(parsed.agent);
  }
  return { agents, unread, faults };
}

function readAgent(file: string, stem: string): ReturnType<typeof readAgentFile> {
  const read = readText(file);
  if (read.ok) return readAgentFile(file, read.text);
  const words = { found: read.why, expected: 'a file that can be read' };
  return { agent: null, faults: [configFault({ file }, ['agents', stem], words)] };
}

interface Merged {
  readonly raw: RawTable;
  readonly places: ReadonlyMap<string, Place>;
  readonly faults: readonly ConfigFault[];
}

/** The agents of files join those of `[agents.*]`; an id that is already taken is a fault, never a silent choice. */
function merge(main: Main, files: readonly AgentFile[]): Merged {
  const places = new Map<string, Place>();
  for (const [path, place] of main.places) places.set(path, { file: main.file, ...place });
  const { agents: written }: { readonly agents?: unknown } = main.raw;
  if (files.length === 0 || (written !== undefined && !isTable(written))) {
    return { raw: main.raw, places, faults: [] };
  }
  const agents = Object.assign(Object.create(null), written) as Record<string, unknown>;
  const faults: ConfigFault[] = [];
  for (const { id, file, table, places: own } of files) {
    const at = formatPath(['agents', id]);
    if (Object.hasOwn(agents, id)) {
      const first = places.get(at);
      const line = first?.line === undefined ? '' : `:${first.line}`;
      const words = {
        found: `a second agent "${id}"; the first is in ${first?.file ?? 'the configuration'}${line}`,
        expected: 'an id of its own',
        hint: 'remove one, or give this file another `id:`',
      };
      faults.push(configFault({ file, line: 1, column: 1 }, ['agents', id], words));
      continue;
    }
    agents[id] = table;
    places.set(at, { file, line: 1, column: 1 });
    for (const [path, place] of own) places.set(`${at}.${path}`, { file, ...place });
  }
  return { raw: { ...main.raw, agents }, places, faults };
}

/** The place of a key, or of the nearest table around it that was written. */
function whereIn(file: string | null, places: ReadonlyMap<string, Place>) {
  return (path: KeyPath): Place => {
    for (let length = path.length; length > 0; length -= 1) {
      const place = places.get(formatPath(path.slice(0, length)));
      if (place !== undefined) return place;
    }
    return { file };
  };
}

/** The configuration file first, then the files of agents; each from top to bottom. */
function inReadingOrder(
  faults: readonly ConfigFault[],
  main: string | null,
): readonly ConfigFault[] {
  const rank = (fault: ConfigFault) => (fault.file === main ? '' : (fault.file ?? ''));
  return faults.toSorted((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) < rank(b) ? -1 : 1;
    return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
  });
}

function diskFiles(baseDir: string): ConfigFiles {
  const absolute = (path: string) =>
    path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(baseDir, path);
  return {
    absolute,
    exists: (path) => existsSync(absolute(path)),
    read: (path) => readText(absolute(path)),
  };
}
