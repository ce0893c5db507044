import { faultLine } from '../runtime/core/config-fault.ts';
import { checkConfig } from '../runtime/load-config.ts';
import { scenarioFaults } from '../scenario-faults.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { counted } from './core/figures.ts';
import { jsonLine, safeBlock, safeLine } from './core/plain-text.ts';

/** `troupe check`: every fault and warning of the configuration and of the scenarios it names, at once (SPEC C1). */
export async function checkCommand({ terminal, options }: Context): Promise<number> {
  const { faults: written, warnings, config } = checkConfig(options.config);
  const played = config === undefined ? [] : await scenarioFaults(config);
  const faults = [...written, ...played];
  const code = faults.length === 0 ? EXIT.completed : EXIT.failed;
  if (options.json) {
    terminal.print(jsonLine({ faults, warnings }));
    return code;
  }
  for (const fault of faults) {
    terminal.print(`${terminal.paintOut('red', 'error')}: ${safeBlock(faultLine(fault))}`);
  }
  for (const warning of warnings) {
    terminal.print(`${terminal.paintOut('yellow', 'warning')}: ${safeLine(faultLine(warning))}`);
  }
  const found = [counted(faults.length, 'fault'), counted(warnings.length, 'warning')].join(', ');
  const agents = config === undefined ? '' : `; ${counted(config.agents.size, 'agent')}`;
  if (!options.quiet) terminal.print(`${safeLine(options.config)}: ${found}${agents}`);
  return code;
}
