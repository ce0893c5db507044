import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STARTER_CONFIG } from '../../../src/cli/core/starter-config.ts';
import { checkConfig } from '../../../src/runtime/load-config.ts';
import { configFolder } from '../../support/config-folder.ts';

function check(text: string) {
  return checkConfig(join(configFolder({ 'troupe.toml': text }), 'troupe.toml'));
}

it('K3: what init writes has no fault and no warning, and names a language model', () => {
  const { faults, warnings, config } = check(STARTER_CONFIG);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  expect([...(config?.agents.keys() ?? [])]).toEqual(['lead', 'reader']);
  expect([...(config?.providers.values() ?? [])].map((each) => each.type)).toEqual([
    'openai-compatible',
  ]);
});

it('K3: the providers that it shows in comments are valid too', () => {
  const lines = STARTER_CONFIG.split('\n').map((line) =>
    /^# (\[|api_key_env|model =)/.test(line) ? line.slice(2) : line,
  );
  const { faults, config } = check(lines.join('\n'));
  expect(faults).toEqual([]);
  expect([...(config?.providers.keys() ?? [])].sort()).toEqual([
    'anthropic.main',
    'openai-compatible.ollama',
    'openai.main',
  ]);
});
