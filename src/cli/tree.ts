import { openViewer, type RunTreeView } from '../viewer.ts';
import type { Context } from './context.ts';
import { jsonLine } from './core/plain-text.ts';
import { treeLines } from './core/tree-rows.ts';
import { endOfReading } from './end-of-reading.ts';
import { findRun, interruptedRuns } from './find-run.ts';

/** `troupe tree`: a run and everything below it, with a host or without one (SPEC K1, K2). */
export async function treeCommand(context: Context, asked: string): Promise<number> {
  const { terminal, options } = context;
  const viewer = openViewer(options.state);
  try {
    const { value: tree, damage } = viewer.tree(findRun(viewer, asked));
    if (options.json) terminal.print(jsonLine(tree));
    else {
      const interrupted = await interruptedRuns(viewer, allOf(tree), options.state);
      const shown = { paint: terminal.paintOut, width: terminal.outWidth, rowsMax: null };
      const time = { now: Date.now(), parseTime: Date.parse };
      for (const line of treeLines(tree, { ...shown, ...time, interrupted })) terminal.print(line);
    }
    return endOfReading(context, damage);
  } finally {
    viewer.close();
  }
}

function allOf(tree: RunTreeView): readonly RunTreeView[] {
  return [tree, ...tree.children.flatMap(allOf)];
}
