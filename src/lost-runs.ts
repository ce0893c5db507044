import type { Journal } from './runtime/journal.ts';
import type { RunTree } from './runtime/run-tree.ts';
import { type RecoveredRun, readTree, unfinishedRoots } from './runtime/unfinished-runs.ts';

/** Every run of the trees that an earlier host left unfinished and that none carries on. @throws Fault `journal.corrupt`. */
export async function lostRuns(
  tree: RunTree,
  journal: Pick<Journal, 'read'>,
): Promise<readonly RecoveredRun[]> {
  const amend = (run: RecoveredRun) => tree.tasks.amend(run);
  const lost: RecoveredRun[] = [];
  for (const rootId of await unfinishedRoots(journal, amend)) {
    if (!tree.carries(rootId)) lost.push(...(await readTree(journal, rootId)));
  }
  return lost;
}
