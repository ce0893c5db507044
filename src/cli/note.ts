import { type HandedNote, hostClient, notLive } from '../control.ts';
import { openViewer, type Viewer } from '../viewer.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { receiptLine } from './core/receipt-line.ts';
import { findRun } from './find-run.ts';

export interface NoteArguments {
  readonly run: string;
  readonly text: string;
  readonly wait: boolean;
}

/** `troupe note`: hands a note to a live run and prints what became of it in every run it went to (SPEC N1). */
export async function noteCommand(
  { terminal, options }: Context,
  { run, text, wait }: NoteArguments,
): Promise<number> {
  const runId = liveRunId(options.state, run);
  if (wait && !options.quiet && !options.json) {
    terminal.say(`waiting until ${safeLine(runId)} has read it; it is on its way even without you`);
  }
  const note = await hostClient(options.state).note(runId, text, { wait });
  if (options.json) terminal.print(jsonLine(note));
  else if (note.receipts === null) terminal.print(`${note.note_id}: handed to ${safeLine(runId)}`);
  else for (const receipt of note.receipts) terminal.print(safeLine(receiptLine(receipt)));
  return wasRead(note) ? EXIT.completed : EXIT.failed;
}

function wasRead({ receipts }: HandedNote): boolean {
  return receipts === null || receipts.some((receipt) => receipt.outcome === 'read');
}

/** @throws Fault `run.ended` where the journal says so, host or no host. */
function liveRunId(stateDir: string, asked: string): string {
  const viewer = openViewer(stateDir);
  try {
    const runId = findRun(viewer, asked);
    const status = statusOf(viewer, runId);
    if (status !== 'running') throw notLive(runId, status);
    return runId;
  } finally {
    viewer.close();
  }
}

function statusOf(viewer: Viewer, runId: string): string {
  return viewer.tree(runId).value.status;
}
