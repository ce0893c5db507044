import { Fault, messageOf } from '../base/fault.ts';
import type { ProviderEntry } from '../runtime/core/model.ts';
import { parseScenario, type Scenario } from './scenario.ts';
import { tableOf } from './sdk-model.ts';
import { openTemplateEngine } from './template.ts';

/**
 * The scenario that an entry of type `scripted` names.
 * @throws Fault `model.unsupported` where it names none; `scenario.invalid` with everything that is wrong with it.
 */
export async function loadScenario(
  { file, ...entry }: ProviderEntry,
  readText: (path: string) => Promise<string>,
): Promise<Scenario> {
  if (file === null) {
    throw new Fault(
      'model.unsupported',
      `provider ${entry.ref}: no scenario is named; set ${tableOf({ file, ...entry })} file`,
      { detail: { provider: entry.ref } },
    );
  }
  const [engine, text] = await Promise.all([openTemplateEngine(), read(file, readText)]);
  return parseScenario(file, text, engine);
}

async function read(file: string, readText: (path: string) => Promise<string>): Promise<string> {
  try {
    return await readText(file);
  } catch (thrown) {
    const words = `scenario ${file}: cannot be read: ${messageOf(thrown)}`;
    throw new Fault('scenario.invalid', words, { detail: { file } });
  }
}
