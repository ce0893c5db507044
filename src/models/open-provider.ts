import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Random } from '../base/random.ts';
import type { ModelProvider, ProviderEntry } from '../runtime/core/model.ts';
import { HttpProvider } from './http-provider.ts';
import { ScriptedProvider } from './scripted.ts';
import { isHttpType } from './sdk-model.ts';

export interface ProviderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A provider that may hold connections. */
export interface OpenedProvider extends ModelProvider {
  /** Loads in the background what the first question needs. */
  warm?(): void;
  close?(): Promise<void>;
}

/** What answers for an entry. Loads nothing and throws nothing: what is wrong with an entry, its first question says. */
export function openProvider(entry: ProviderEntry, deps: ProviderDeps): OpenedProvider {
  if (isHttpType(entry.type)) return new HttpProvider(entry, deps);
  if (entry.type === 'scripted') {
    return new ScriptedProvider(entry, {
      clock: deps.clock,
      readText: (path) => readFile(path, 'utf8'),
    });
  }
  const fault = new Fault(
    'model.unsupported',
    `provider ${entry.ref}: type "${entry.type}" is not supported yet; use openai, anthropic, google, openai-compatible or scripted`,
    { detail: { provider: entry.ref } },
  );
  return { ask: () => Promise.reject(fault) };
}
