import { agentIds, type ConfigLook, providerRefs } from './config-look.ts';
import type { CronTable, McpServerTable, ProviderTable, Unchecked } from './config-table.ts';
import {
  type ConfigFault,
  configFault,
  describeValue,
  type FaultWords,
} from './core/config-fault.ts';
import { formatPath, type KeyPath } from './core/key-path.ts';
import { VENDOR_KEY_ENV } from './core/model.ts';
import { nearest } from './core/nearest.ts';
import { looksLikeKey, namesSecret } from './core/secret-look.ts';
import { isTimeZone, scheduleFault } from './cron-times.ts';
import { listOf, type RawTable, tableOf, tablesOf, textOf } from './raw-config.ts';

type Report = (path: KeyPath, words: FaultWords) => void;

/** What the schema cannot see in the blocks beside `[agents.*]`: addresses, keys in the wrong place, double ids. */
export function blockFaults(look: ConfigLook): readonly ConfigFault[] {
  const faults: ConfigFault[] = [];
  const report: Report = (path, words) => faults.push(configFault(look.where(path), path, words));
  const { models }: { readonly models?: unknown } = tableOf(look.raw.providers);
  const refs = providerRefs(look.raw);
  for (const [type, entries] of tablesOf(models)) {
    for (const [alias, entry] of tablesOf(entries)) {
      providerFaults(['providers', 'models', type, alias], entry, type, refs, report);
    }
  }
  for (const [name, server] of tablesOf(look.raw.mcp_servers)) {
    mcpFaults(['mcp_servers', name], server, report);
  }
  for (const [name, profile] of tablesOf(look.raw.risk_profiles)) {
    pathFaults(['risk_profiles', name], profile, report);
    passedKeyFaults(['risk_profiles', name], profile, keyNames(models), report);
  }
  cronFaults(look, report);
  return faults;
}

const PATH_KEYS = [
  'allowed_roots',
  'allowed_roots_read_only',
  'allowed_roots_write_only',
  'forbidden_paths',
] as const;

/** A pattern would be taken for a name, and so allow or forbid nothing. */
function pathFaults(at: KeyPath, profile: RawTable, report: Report): void {
  for (const key of PATH_KEYS) {
    for (const [index, path] of listOf(profile[key]).entries()) {
      if (typeof path !== 'string' || !/[*?[\]{}]/.test(path)) continue;
      report([...at, key, index], {
        found: `the pattern ${describeValue(path)}`,
        expected: 'a file or a folder, which stands for all below it; patterns are not supported',
      });
    }
  }
}

/** The environment variables that hold a provider's key, by each entry's own word or by the vendor's custom. */
function keyNames(models: unknown): ReadonlySet<string> {
  const vendors: Readonly<Record<string, string>> = VENDOR_KEY_ENV;
  const names = tablesOf(models).flatMap(([type, entries]) =>
    tablesOf(entries).flatMap(([, entry]) => [textOf(entry['api_key_env']) ?? vendors[type] ?? '']),
  );
  return new Set(names);
}

/** SPEC C6: what a command sees, it may print, and what it prints is journaled. */
function passedKeyFaults(
  at: KeyPath,
  profile: RawTable,
  keys: ReadonlySet<string>,
  report: Report,
): void {
  for (const [index, name] of listOf(profile['shell_env_passthrough']).entries()) {
    if (typeof name !== 'string' || !keys.has(name)) continue;
    report([...at, 'shell_env_passthrough', index], {
      found: `${describeValue(name)}, which holds the key of a provider`,
      expected: 'variables that hold no key of a provider: what a command prints is journaled',
      hint: 'a command that needs a key of its own gets it by a variable of its own',
    });
  }
}

function providerFaults(
  at: KeyPath,
  entry: Unchecked<ProviderTable>,
  type: string,
  refs: readonly string[],
  report: Report,
): void {
  const ref = at.slice(2).join('.');
  const recorded = type === 'scripted' || type === 'replay';
  addressFault([...at, 'base_url'], entry.base_url, report);
  keyNameFault([...at, 'api_key_env'], entry.api_key_env, report);
  if (type === 'openai-compatible' && entry.base_url === undefined) {
    report([...at, 'base_url'], {
      found: 'nothing',
      expected: 'the address of the server, such as "http://127.0.0.1:11434/v1"',
    });
  }
  if (recorded && entry.file === undefined) {
    report([...at, 'file'], {
      found: 'nothing',
      expected: type === 'scripted' ? 'a scenario file' : 'a recording',
    });
  }
  if (!recorded && entry.file !== undefined) {
    report([...at, 'file'], {
      found: `a file for type ${type}`,
      expected: 'none: only scripted and replay read one',
    });
  }
  for (const [index, name] of listOf(entry.fallback).entries()) {
    fallbackFault([...at, 'fallback', index], name, ref, refs, report);
  }
}

function fallbackFault(
  path: KeyPath,
  name: unknown,
  own: string,
  refs: readonly string[],
  report: Report,
): void {
  if (typeof name !== 'string') return;
  const others = refs.filter((ref) => ref !== own);
  if (others.includes(name)) return;
  const close = nearest(name, others);
  report(path, {
    found: name === own ? `${describeValue(name)}, the entry itself` : describeValue(name),
    expected:
      others.length === 0
        ? 'another provider entry, but there is none'
        : `one of ${others.join(', ')}`,
    ...(close === null || name === own ? {} : { hint: `did you mean "${close}"?` }),
  });
}

function addressFault(path: KeyPath, value: unknown, report: Report): void {
  const text = textOf(value);
  if (text === null || text.trim() === '') return;
  const expected = 'an http or https address without credentials';
  const hint = 'put the key in an environment variable and its name in api_key_env';
  const url = parseUrl(text);
  if (url === null) {
    report(path, {
      found: text.includes('@') ? 'a text (not shown)' : describeValue(text),
      expected,
    });
    return;
  }
  const names = [...url.searchParams.keys()];
  if (url.username !== '' || url.password !== '' || names.some(namesSecret)) {
    report(path, { found: 'an address with credentials (not shown)', expected, hint });
    return;
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return;
  report(path, { found: `an address of kind ${describeValue(url.protocol)}`, expected });
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** SPEC C6: a key pasted where its variable's name belongs may even look like a name to the schema. */
function keyNameFault(path: KeyPath, value: unknown, report: Report): void {
  const text = textOf(value);
  if (text === null || !looksLikeKey(text)) return;
  report(path, {
    found: 'a value that looks like a key (not shown)',
    expected: 'the name of an environment variable',
    hint: 'put the key in an environment variable and its name here; the pasted key should be replaced',
  });
}

function mcpFaults(at: KeyPath, server: Unchecked<McpServerTable>, report: Report): void {
  addressFault([...at, 'url'], server.url, report);
  keyNameFault([...at, 'api_key_env'], server.api_key_env, report);
  const both = server.command !== undefined && server.url !== undefined;
  if (!both && (server.command !== undefined || server.url !== undefined)) return;
  report(at, {
    found: both ? 'command beside url' : 'neither command nor url',
    expected: 'one of the two',
  });
}

function cronFaults(look: ConfigLook, report: Report): void {
  const agents = agentIds(look);
  const seen = new Map<string, number>();
  for (const [index, entry] of listOf(look.raw.cron).entries()) {
    const job: Unchecked<CronTable> = tableOf(entry);
    const id = textOf(job.id);
    const agent = textOf(job.agent);
    const first = id === null ? undefined : seen.get(id);
    if (id !== null) seen.set(id, first ?? index);
    if (first !== undefined) {
      report(['cron', index, 'id'], {
        found: `${describeValue(id)}, which ${formatPath(['cron', first])} has`,
        expected: 'an id of its own',
      });
    }
    cronTimeFaults(['cron', index], job, report);
    if (agent !== null && !agents.includes(agent)) {
      report(['cron', index, 'agent'], {
        found: describeValue(agent),
        expected:
          agents.length === 0
            ? 'an agent, but none is configured'
            : `an agent: ${agents.join(', ')}`,
      });
    }
  }
}

function cronTimeFaults(at: KeyPath, job: Unchecked<CronTable>, report: Report): void {
  const schedule = textOf(job.schedule);
  const fault = schedule === null ? null : scheduleFault(schedule);
  if (fault !== null) {
    report([...at, 'schedule'], {
      found: `${describeValue(schedule)} (${fault})`,
      expected: 'five cron fields: minute, hour, day of month, month, day of week ("0 7 * * 1-5")',
    });
  }
  const zone = textOf(job.time_zone);
  if (zone === null || isTimeZone(zone)) return;
  report([...at, 'time_zone'], {
    found: describeValue(zone),
    expected: 'an IANA time zone ("Europe/Paris", "UTC")',
  });
}
