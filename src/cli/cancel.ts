import { Fault } from '../base/fault.ts';
import { hostClient } from '../control.ts';
import { openViewer } from '../viewer.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { findRun } from './find-run.ts';

/** Milliseconds for a host to stop a tree; its own bound (`stop_grace_secs`) is 5 s by default. */
const CANCEL_TIMEOUT_MS = 120_000;

export interface CancelArguments {
  readonly run: string;
  readonly reason: string | undefined;
}

/** `troupe cancel`: stops a live run, root or child, with everything below it. On one that has ended it is harmless. */
export async function cancelCommand(
  { terminal, options }: Context,
  { run, reason }: CancelArguments,
): Promise<number> {
  const { runId, status } = runIn(options.state, run);
  const ended = status !== 'running' && status !== 'pending';
  const said = ended ? 'already ended' : await ask(options.state, runId, reason);
  const words = ended ? `already ended: ${status}` : said;
  terminal.print(
    options.json ? jsonLine({ run_id: runId, answer: said }) : `${safeLine(runId)}: ${words}`,
  );
  return EXIT.completed;
}

function runIn(stateDir: string, asked: string): { runId: string; status: string } {
  const viewer = openViewer(stateDir);
  try {
    const runId = findRun(viewer, asked);
    return { runId, status: viewer.tree(runId).value.status };
  } finally {
    viewer.close();
  }
}

async function ask(stateDir: string, runId: string, reason: string | undefined): Promise<string> {
  try {
    const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
    return await hostClient(stateDir, signal).cancel(runId, reason);
  } catch (thrown) {
    // It ended of itself since it was looked up.
    if (thrown instanceof Fault && thrown.code === 'run.ended') return 'already ended';
    throw thrown;
  }
}
