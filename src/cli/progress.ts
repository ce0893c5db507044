import { createLogUpdate } from 'log-update';
import type { Clock } from '../base/clock.ts';
import type { JournalEvent } from '../runtime/core/event.ts';
import { rootOf } from '../runtime/core/run-id.ts';
import { newFold } from '../viewer.ts';
import type { Context } from './context.ts';
import { progressLine, showsProgress } from './core/event-line.ts';
import { modelWords } from './core/model-words.ts';
import { safeLine } from './core/plain-text.ts';
import { cutText } from './core/text-width.ts';
import { treeLines } from './core/tree-rows.ts';
import { LiveTree } from './live-tree.ts';

/** How commands that carry runs show on stderr what happens in their trees. Give it every event, from the first one. */
export interface Progress {
  /** What happened before this command: known to the tree, not said again. */
  recall(event: JournalEvent): void;
  see(event: JournalEvent): void;
  /** Shows the last state once more, for good. */
  end(): void;
}

/** SPEC K1: a live tree on a terminal, plain lines otherwise. */
export function openProgress(context: Context, roots: readonly string[], clock: Clock): Progress {
  const { terminal, options } = context;
  if (options.quiet) return { recall: ignore, see: ignore, end: ignore };
  if (terminal.live) return liveProgress(context, roots, clock);
  const shown = { paint: terminal.paintErr, width: null };
  return {
    recall: ignore,
    see: (event) => {
      if (!roots.includes(rootOf(event.run_id)) || !showsProgress(event)) return;
      terminal.say(progressLine(event, shown));
    },
    end: ignore,
  };
}

function ignore(): void {}

function liveProgress({ terminal }: Context, roots: readonly string[], clock: Clock): Progress {
  const fold = newFold();
  const models = new Set<string>();
  const lines = (rowsMax: number | null, compact: boolean): string[] => {
    const trees = roots.flatMap((root) => fold.tree(root) ?? []);
    if (trees.length === 0) return [terminal.paintErr('dim', 'starting')];
    const header = `model: ${safeLine([...models].join(', '))}`;
    const rows = trees.flatMap((tree) =>
      treeLines(tree, {
        paint: terminal.paintErr,
        width: terminal.errWidth,
        rowsMax: rowsMax === null ? null : Math.max(1, Math.floor(rowsMax / trees.length)),
        compact,
        now: clock.now(),
        parseTime: Date.parse,
      }),
    );
    return [terminal.paintErr('dim', header), ...rows];
  };
  // The cursor stays visible: a killed process could not bring it back.
  const draw = createLogUpdate(terminal.errStream, { showCursor: true });
  // Two lines less than there are: the header, and the cursor's own.
  const frame = () => {
    const { question, errRows, errWidth } = terminal;
    if (question === null) return lines(errRows - 2, true).join('\n');
    const asked = terminal.paintErr('yellow', cutText(question, (errWidth ?? 80) - 1));
    return [...lines(errRows - 3, true), asked].join('\n');
  };
  const live = new LiveTree(draw, frame, clock);
  terminal.drawBelow(live);
  const recall = (event: JournalEvent): void => {
    if (!roots.includes(rootOf(event.run_id))) return;
    fold.see(event);
    if (event.type === 'run.started') models.add(modelOf(event));
  };
  return {
    recall,
    see: (event) => {
      recall(event);
      live.changed();
    },
    end: () => {
      live.end();
      terminal.drawBelow(null);
      for (const line of lines(null, false)) terminal.say(line);
    },
  };
}

function modelOf({ data }: JournalEvent): string {
  const { provider, model } = (data['model'] ?? {}) as { provider?: unknown; model?: unknown };
  return modelWords(String(provider ?? '?'), typeof model === 'string' ? model : null);
}
