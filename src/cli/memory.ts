import { forgetMemory, lookAtMemories } from '../memory-look.ts';
import type { Memory } from '../runtime/core/memory.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { dayAndTime } from './core/figures.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { type Column, tableLines } from './core/table.ts';

const COLUMNS: readonly Column<Memory>[] = [
  { title: 'AGENT', cell: (row) => safeLine(row.agent_id) },
  { title: 'STORED', cell: (row) => dayAndTime(row.stored_at) },
  { title: 'KEY', cell: (row) => safeLine(row.key) },
  { title: 'CONTENT', cell: (row) => safeLine(row.content) },
];

/** `troupe memory [agent]`: what agents remember; also without a host. */
export async function memoryListCommand(
  { terminal, options }: Context,
  args: { readonly agent?: string | undefined },
): Promise<number> {
  const rows = lookAtMemories(options.state, args.agent);
  if (options.json) {
    terminal.print(jsonLine(rows));
    return EXIT.completed;
  }
  if (rows.length > 0) {
    const shown = { paint: terminal.paintOut, width: terminal.outWidth };
    for (const line of tableLines(COLUMNS, rows, shown)) terminal.print(line);
  } else if (!options.quiet) {
    terminal.say(args.agent === undefined ? 'no memories' : `no memories of ${args.agent}`);
  }
  return EXIT.completed;
}

/** `troupe memory forget <agent> <key>`. */
export async function memoryForgetCommand(
  { terminal, options }: Context,
  args: { readonly agent: string; readonly key: string },
): Promise<number> {
  forgetMemory(options.state, args.agent, args.key);
  if (!options.quiet) terminal.say(`forgot ${safeLine(JSON.stringify(args.key))} of ${args.agent}`);
  return EXIT.completed;
}
