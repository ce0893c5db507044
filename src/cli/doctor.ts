import { examineState } from '../examination.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { counted } from './core/figures.ts';
import { findingLines, findingTotals } from './core/finding-lines.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';

/** `troupe doctor`: whether the journal can be trusted, and what to do where not (SPEC J1, J8). */
export async function doctorCommand({ terminal, options }: Context): Promise<number> {
  const found = examineState(options.state);
  const { findings } = found;
  const healthy = findings.every(({ severity }) => severity !== 'error');
  const code = healthy ? EXIT.completed : EXIT.failed;
  if (options.json) {
    terminal.print(jsonLine({ ...found, healthy }));
    return code;
  }
  if (!options.quiet) {
    const read = `${counted(found.events, 'event')} of ${counted(found.runs, 'run')}`;
    terminal.print(`${safeLine(found.state)}: ${read}`);
  }
  const shown = options.quiet ? findings.filter(({ severity }) => severity === 'error') : findings;
  for (const line of findingLines(shown, terminal.paintOut)) terminal.print(line);
  if (!options.quiet) {
    const verdict = healthy
      ? terminal.paintOut('green', 'healthy')
      : terminal.paintOut('red', 'damaged');
    terminal.print(`\n${verdict}: ${findingTotals(findings)}`);
  }
  return code;
}
