import type { Journal } from './runtime/journal.ts';
import { structureFault } from './runtime/journal-reader.ts';
import type { RunTree } from './runtime/run-tree.ts';
import { type RecoveredRun, readTree, unfinishedRoots } from './runtime/unfinished-runs.ts';

/**
 * Every run of the trees that an earlier host left unfinished and that none carries on. `left`: the journal's file, where
 * that host did not close it; it is looked at before anything is taken up from it.
 * @throws Fault `journal.corrupt`.
 */
export async function lostRuns(
  tree: RunTree,
  journal: Pick<Journal, 'read'>,
  left: string | null,
): Promise<readonly RecoveredRun[]> {
  const damage = left === null ? null : structureFault(left);
  if (damage !== null) throw damage;
  const amend = (run: RecoveredRun) => tree.tasks.amend(run);
  const lost: RecoveredRun[] = [];
  for (const rootId of await unfinishedRoots(journal, amend)) {
    if (!tree.carries(rootId)) lost.push(...(await readTree(journal, rootId)));
  }
  return lost;
}
