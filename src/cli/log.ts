import { Fault } from '../base/fault.ts';
import { hostClient } from '../control.ts';
import { endsRun } from '../run.ts';
import type { JournalEvent } from '../runtime/core/event.ts';
import { openViewer, type Viewer } from '../viewer.ts';
import type { Context } from './context.ts';
import { logLine } from './core/event-line.ts';
import { EXIT } from './core/exit-code.ts';
import { jsonLine } from './core/plain-text.ts';
import { findRun } from './find-run.ts';

export interface LogArguments {
  readonly run: string;
  readonly follow: boolean;
  readonly subtree: boolean;
}

/** `troupe log`: what is journaled of a run; with `--follow` also what comes, until it ends (SPEC J3, K1). */
export async function logCommand(context: Context, args: LogArguments): Promise<number> {
  const { terminal, options } = context;
  const viewer = openViewer(options.state);
  try {
    const runId = findRun(viewer, args.run);
    const print = printerOf(context, runId, args.subtree);
    const isEnd = endsRun(runId);
    const seen = { lastSeq: 0, ended: false };
    const show = (event: JournalEvent): void => {
      print(event);
      seen.lastSeq = event.seq;
      seen.ended ||= isEnd(event);
    };
    const filter = args.subtree ? { subtreeOf: runId } : { runId };
    const catchUp = () => showStored(viewer, { ...filter, afterSeq: seen.lastSeq }, show, context);
    catchUp();
    if (!args.follow || seen.ended || terminal.outGone.aborted) return EXIT.completed;
    try {
      const events = hostClient(options.state, terminal.outGone).follow(runId, {
        subtree: args.subtree,
        afterSeq: seen.lastSeq,
      });
      for await (const event of events) show(event);
    } catch (thrown) {
      if (terminal.outGone.aborted) return EXIT.completed;
      // The host may have ended the run, and itself, between the two looks.
      catchUp();
      if (!seen.ended) throw unfinished(thrown, runId);
    }
    return EXIT.completed;
  } finally {
    viewer.close();
  }
}

type Filter = Parameters<Viewer['events']>[0];

function showStored(
  viewer: Viewer,
  filter: Filter,
  show: (event: JournalEvent) => void,
  { terminal }: Context,
): void {
  for (const event of viewer.events(filter)) {
    if (terminal.outGone.aborted) return;
    show(event);
  }
}

function printerOf(
  { terminal, options }: Context,
  runId: string,
  subtree: boolean,
): (event: JournalEvent) => void {
  if (options.json) return (event) => terminal.print(jsonLine(event));
  const shown = { paint: terminal.paintOut, width: terminal.outWidth, subtree };
  return (event) => terminal.print(logLine(event, runId, shown));
}

function unfinished(thrown: unknown, runId: string): unknown {
  if (!(thrown instanceof Fault) || thrown.code !== 'host.absent') return thrown;
  return new Fault('host.absent', `run ${runId} has not ended, and ${thrown.message}`);
}
