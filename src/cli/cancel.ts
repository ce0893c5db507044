import { Fault } from '../base/fault.ts';
import { type CancelledRun, hostClient } from '../control.ts';
import { openViewer, type RunTreeView } from '../viewer.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { findRun } from './find-run.ts';

/** Milliseconds for a host to stop a tree; its own bound (`stop_grace_secs`) is 5 s by default. */
const CANCEL_TIMEOUT_MS = 120_000;
/** Milliseconds of silence after which it is said what is being waited for. */
const SAY_AFTER_MS = 3000;

export interface CancelArguments {
  readonly run: string;
  readonly reason: string | undefined;
}

/**
 * `troupe cancel`: stops a live run, root or child, with everything below it. Of one that has ended it stops what goes on in
 * the background below it (SPEC D9), and is harmless where nothing does.
 */
export async function cancelCommand(
  { terminal, options }: Context,
  { run, reason }: CancelArguments,
): Promise<number> {
  const { runId, status, isGoingOn } = runIn(options.state, run);
  const ended = status !== 'running' && status !== 'pending';
  const waiting = setTimeout(() => {
    if (!options.quiet) terminal.say(`waiting for the host to stop ${safeLine(runId)}`);
  }, SAY_AFTER_MS);
  const asked = isGoingOn ? ask(options.state, runId, reason) : Promise.resolve(ENDED);
  const { answer, left } = await asked.finally(() => clearTimeout(waiting));
  if (options.json) {
    const background = left.length === 0 ? {} : { background: left };
    terminal.print(jsonLine({ run_id: runId, answer, ...background }));
    return EXIT.completed;
  }
  const words = ended ? `already ended: ${status}` : answer;
  const also = left.map((id) => `; cancelled ${id}, which went on in the background`);
  terminal.print(safeLine(`${runId}: ${words}${also.join('')}`));
  return EXIT.completed;
}

const ENDED: CancelledRun = { answer: 'already ended', left: [] };

interface Found {
  readonly runId: string;
  readonly status: string;
  /** Does it, or anything below it, have no end yet? */
  readonly isGoingOn: boolean;
}

function runIn(stateDir: string, asked: string): Found {
  const viewer = openViewer(stateDir);
  try {
    const runId = findRun(viewer, asked);
    const { value: tree } = viewer.tree(runId);
    return { runId, status: tree.status, isGoingOn: goesOn(tree) };
  } finally {
    viewer.close();
  }
}

function goesOn({ ended_at, children }: RunTreeView): boolean {
  return ended_at === null || children.some(goesOn);
}

async function ask(
  stateDir: string,
  runId: string,
  reason: string | undefined,
): Promise<CancelledRun> {
  try {
    const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
    return await hostClient(stateDir, signal).cancel(runId, reason);
  } catch (thrown) {
    // It ended of itself since it was looked up.
    if (thrown instanceof Fault && thrown.code === 'run.ended') return ENDED;
    throw thrown;
  }
}
