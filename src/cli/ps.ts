import { rootOf } from '../runtime/core/run-id.ts';
import { openViewer, type RunSummary } from '../viewer.ts';
import type { Context } from './context.ts';
import { dayAndTime, formatElapsed } from './core/figures.ts';
import { type Paint, statusColour } from './core/paint.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { type Column, tableLines } from './core/table.ts';
import { unfinishedWords } from './core/unfinished-words.ts';
import { endOfReading } from './end-of-reading.ts';
import { interruptedRuns } from './find-run.ts';

/** `troupe ps`: every run in the journal, the newest last (SPEC K1, K2). */
export async function psCommand(context: Context): Promise<number> {
  const { terminal, options } = context;
  const viewer = openViewer(options.state);
  try {
    const { value: runs, damage } = viewer.runs();
    if (options.json) terminal.print(jsonLine(runs));
    else {
      const interrupted = await interruptedRuns(viewer, runs, options.state);
      const columns = columnsOf(interrupted, terminal.paintOut);
      const shown = { paint: terminal.paintOut, width: terminal.outWidth };
      for (const line of tableLines(columns, runs, shown)) terminal.print(line);
      const roots = new Set([...interrupted].map(rootOf));
      if (roots.size > 0 && !options.quiet) terminal.say(unfinishedWords(roots.size));
    }
    return endOfReading(context, damage);
  } finally {
    viewer.close();
  }
}

function columnsOf(interrupted: ReadonlySet<string>, paint: Paint): readonly Column<RunSummary>[] {
  const status = (run: RunSummary) => (interrupted.has(run.run_id) ? 'interrupted' : run.status);
  return [
    { title: 'RUN', cell: (run) => safeLine(run.run_id) },
    { title: 'AGENT', cell: (run) => safeLine(run.agent_id) },
    { title: 'STATUS', cell: status, paint: (run, text) => paint(statusColour(status(run)), text) },
    { title: 'TURNS', cell: (run) => String(run.turns), right: true },
    { title: 'STARTED', cell: (run) => dayAndTime(run.started_at) },
    { title: 'TOOK', cell: elapsed, right: true },
  ];
}

function elapsed(run: RunSummary): string {
  if (run.started_at === null || run.ended_at === null) return '-';
  return formatElapsed(Date.parse(run.ended_at) - Date.parse(run.started_at));
}
