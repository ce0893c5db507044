import { Fault } from '../base/fault.ts';
import { hostClient } from '../control.ts';
import type { RunSummary, Viewer } from '../viewer.ts';
import { matchRun } from './core/run-ref.ts';

const CANDIDATES_MAX = 10;
/** Milliseconds to ask a host which runs are live; without an answer nothing is claimed about them. */
const LIVE_TIMEOUT_MS = 1000;

/**
 * The id of the run that a person named by it or by its beginning.
 * @throws Fault `run.not-found`, `argument.invalid` if several begin so.
 */
export function findRun(viewer: Viewer, asked: string): string {
  const { value: runIds, damage } = viewer.runIds();
  const match = matchRun(asked, runIds);
  if (match.kind === 'one') return match.runId;
  if (match.kind === 'none') {
    throw (
      damage ??
      new Fault('run.not-found', `no run '${asked}' in this journal; \`troupe ps\` lists them`)
    );
  }
  const shown = match.runIds.slice(0, CANDIDATES_MAX).map((runId) => `\n  ${runId}`);
  const more = match.runIds.length - shown.length;
  throw new Fault(
    'argument.invalid',
    `'${asked}' is the beginning of ${match.runIds.length} runs; write more of it:${shown.join('')}${more > 0 ? `\n  and ${more} more` : ''}`,
  );
}

/** Runs that have no end in the journal and no host that carries them on. */
export async function interruptedRuns(
  viewer: Viewer,
  runs: readonly RunSummary[],
  stateDir: string,
): Promise<ReadonlySet<string>> {
  const open = runs.filter((run) => run.ended_at === null);
  if (open.length === 0) return new Set();
  const live = await liveRuns(stateDir);
  if (live === null) return new Set();
  const lost = new Set(open.map((run) => run.run_id).filter((runId) => !live.has(runId)));
  if (lost.size === 0) return lost;
  // One that ended between the two looks is in the journal by now.
  for (const run of viewer.runs().value) if (run.ended_at !== null) lost.delete(run.run_id);
  return lost;
}

async function liveRuns(stateDir: string): Promise<ReadonlySet<string> | null> {
  try {
    return new Set(await hostClient(stateDir, AbortSignal.timeout(LIVE_TIMEOUT_MS)).live());
  } catch (thrown) {
    return thrown instanceof Fault && thrown.code === 'host.absent' ? new Set() : null;
  }
}
