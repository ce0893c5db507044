import { pino } from 'pino';
import type { Context } from './context.ts';
import { safeJson } from './core/plain-text.ts';

/** Records for operators, one JSON object a line on stderr. */
export function diagnostics({ terminal, options }: Context) {
  const write = (line: string) => terminal.say(safeJson(line.trimEnd()));
  return pino({ level: options.logLevel, base: null }, { write });
}
