import type { ResolvedConfig } from '../runtime/core/config.ts';
import { faultLine } from '../runtime/core/config-fault.ts';
import { checkConfig, loadConfig } from '../runtime/load-config.ts';
import type { Context } from './context.ts';
import { safeLine } from './core/plain-text.ts';

/** The configuration; its warnings are said on stderr. @throws Fault `config.invalid` with every fault in it. */
export function checkedConfig({ terminal, options }: Context): ResolvedConfig {
  const { warnings, config } = checkConfig(options.config);
  if (!options.quiet) {
    for (const warning of warnings) {
      terminal.say(`${terminal.paintErr('yellow', 'warning')}: ${safeLine(faultLine(warning))}`);
    }
  }
  return config ?? loadConfig(options.config);
}
