import { readFile } from 'node:fs/promises';
import { messageOf } from './base/fault.ts';
import { loadScenario } from './models/load-scenario.ts';
import type { ResolvedConfig } from './runtime/core/config.ts';
import { type ConfigFault, configFault } from './runtime/core/config-fault.ts';

/** What is wrong with the scenario files that a configuration names, one fault a file. */
export async function scenarioFaults(config: ResolvedConfig): Promise<readonly ConfigFault[]> {
  const faults: ConfigFault[] = [];
  for (const entry of config.providers.values()) {
    if (entry.type !== 'scripted' || entry.file === null) continue;
    try {
      await loadScenario(entry, (path) => readFile(path, 'utf8'));
    } catch (thrown) {
      const path = ['providers', 'models', ...entry.ref.split('.'), 'file'];
      const words = { found: entry.file, expected: 'a scenario', message: messageOf(thrown) };
      faults.push(configFault({ file: null }, path, words));
    }
  }
  return faults;
}
