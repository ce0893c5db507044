import type { ConfigTable, Unchecked } from './config-table.ts';
import type { Place } from './core/config-fault.ts';
import type { KeyPath } from './core/key-path.ts';
import { tableOf, tablesOf } from './raw-config.ts';

/** What the checks of a configuration see: the tables as read, where each key stands, and the files they name. */
export interface ConfigLook {
  readonly raw: Unchecked<ConfigTable>;
  readonly where: (path: KeyPath) => Place;
  readonly files: ConfigFiles;
  /** Agents whose own files could not be read: named in other places they are no further fault. */
  readonly unreadAgents: readonly string[];
}

/** The files that a configuration names; relative paths start where the configuration is. */
export interface ConfigFiles {
  absolute(path: string): string;
  exists(path: string): boolean;
  /** The text, or in words why there is none. */
  read(
    path: string,
  ): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };
}

/** Every provider entry there is, as `<type>.<alias>`. */
export function providerRefs(raw: Unchecked<ConfigTable>): readonly string[] {
  const { models }: { readonly models?: unknown } = tableOf(raw.providers);
  return tablesOf(models).flatMap(([type, entries]) =>
    Object.keys(entries).map((alias) => `${type}.${alias}`),
  );
}

/** Every agent that may be named. */
export function agentIds({ raw, unreadAgents }: ConfigLook): readonly string[] {
  return [...Object.keys(tableOf(raw.agents)), ...unreadAgents];
}
