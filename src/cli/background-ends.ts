import type { Troupe } from '../host.ts';
import type { Context } from './context.ts';

/** SPEC D9: the command carries what its run left in the background to its end; a stop cancels it. */
export async function backgroundEnds(
  context: Context,
  troupe: Troupe,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, options } = context;
  const left = troupe.backgroundRuns(runId);
  if (left.length === 0) return;
  if (!options.quiet) {
    const ids = left.map(({ id }) => id).join(', ');
    terminal.say(`run ${runId} has ended; waiting for its background runs: ${ids}`);
  }
  const cancel = () => {
    for (const run of troupe.backgroundRuns(runId)) void run.cancel(String(signal.reason));
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  await Promise.allSettled(left.map((run) => run.result()));
  await backgroundEnds(context, troupe, runId, signal);
}
