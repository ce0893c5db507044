import type { ConfigLook } from './config-look.ts';
import type { AgentTable, ProviderTable, Unchecked } from './config-table.ts';
import type { ConfigWarning } from './core/config-fault.ts';
import { foldName } from './core/gate.ts';
import { formatPath, type KeyPath } from './core/key-path.ts';
import { findNotInForce } from './core/not-in-force.ts';
import { listOf, tableOf, tablesOf, textOf } from './raw-config.ts';

/** What loads but may surprise: settings not in force yet, names that say two things, entries that can never work. */
export function configWarnings(look: ConfigLook): readonly ConfigWarning[] {
  const warn = (path: KeyPath, words: string): ConfigWarning => ({
    ...look.where(path),
    path: formatPath(path),
    message: `${formatPath(path)}: ${words}`,
  });
  return [
    ...findNotInForce(look.raw).map(({ path, words }) => warn(path, words)),
    ...ambiguousNames(look, warn),
    ...foreignDelegates(look, warn),
    ...deniedIndependence(look, warn),
    ...absentRecordings(look, warn),
  ];
}

type Warn = (path: KeyPath, words: string) => ConfigWarning;

/** SPEC G5: two agents that one project can see under one display name can be asked for by id alone. */
function ambiguousNames(look: ConfigLook, warn: Warn): readonly ConfigWarning[] {
  const agents = tablesOf(look.raw.agents).map(([id, table]) => {
    const agent: Unchecked<AgentTable> = table;
    return { id, name: textOf(agent.name) ?? id, project: textOf(agent.project) };
  });
  return agents.flatMap((agent, index) => {
    const earlier = agents
      .slice(0, index)
      .find((other) => foldName(other.name) === foldName(agent.name) && meet(other, agent));
    if (earlier === undefined) return [];
    const words = `the display name "${agent.name}" is also that of agent "${earlier.id}"; delegating by this name is refused as ambiguous, by id it works`;
    return [warn(['agents', agent.id, 'name'], words)];
  });
}

interface InProject {
  readonly project: string | null;
}

function meet(a: InProject, b: InProject): boolean {
  return a.project === null || b.project === null || a.project === b.project;
}

function foreignDelegates(look: ConfigLook, warn: Warn): readonly ConfigWarning[] {
  const agents = tableOf(look.raw.agents);
  const projectOf = (id: string): string | null => {
    const agent: Unchecked<AgentTable> = tableOf(agents[id]);
    return textOf(agent.project);
  };
  return tablesOf(look.raw.agents).flatMap(([id, table]) => {
    const agent: Unchecked<AgentTable> = table;
    return listOf(agent.delegates).flatMap((entry, index) => {
      const { agent: named = entry }: { readonly agent?: unknown } = tableOf(entry);
      const target = textOf(named)?.trim() ?? '';
      if (meet({ project: projectOf(id) }, { project: projectOf(target) })) return [];
      const words = `agent "${target}" belongs to another project and is never reachable from "${id}"`;
      return [warn(['agents', id, 'delegates', index, 'agent'], words)];
    });
  });
}

/** SPEC G8: such a call is refused each time. */
function deniedIndependence(look: ConfigLook, warn: Warn): readonly ConfigWarning[] {
  const agents = tableOf(look.raw.agents);
  const profiles = tableOf(look.raw.risk_profiles);
  return tablesOf(look.raw.agents).flatMap(([id, table]) => {
    const agent: Unchecked<AgentTable> = table;
    return listOf(agent.delegates).flatMap((entry, index) => {
      const { agent: named, mode }: { readonly agent?: unknown; readonly mode?: unknown } =
        tableOf(entry);
      if (mode !== 'independent') return [];
      const target: Unchecked<AgentTable> = tableOf(agents[textOf(named)?.trim() ?? '']);
      const profile = textOf(target.risk_profile) ?? '';
      const { always_ask: asks }: { readonly always_ask?: unknown } = tableOf(profiles[profile]);
      if (listOf(asks).length === 0) return [];
      const words = `risk profile "${profile}" of this target has always_ask entries, so that every call of it is refused; use "bounded" or another risk profile`;
      return [warn(['agents', id, 'delegates', index, 'mode'], words)];
    });
  });
}

function absentRecordings(look: ConfigLook, warn: Warn): readonly ConfigWarning[] {
  const { models }: { readonly models?: unknown } = tableOf(look.raw.providers);
  return tablesOf(models).flatMap(([type, entries]) =>
    tablesOf(entries).flatMap(([alias, table]) => {
      const entry: Unchecked<ProviderTable> = table;
      const file = textOf(entry.file);
      if (file === null || look.files.exists(file)) return [];
      const words = `there is no file ${look.files.absolute(file)}; a run that asks this entry will fail`;
      return [warn(['providers', 'models', type, alias, 'file'], words)];
    }),
  );
}
