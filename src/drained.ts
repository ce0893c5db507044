import type { RunSupervisor } from './runtime/run-supervisor.ts';
import type { RunTree } from './runtime/run-tree.ts';

/** Resolves once every run has ended, those included that others begin meanwhile, and every file of a task is written. */
export async function drained(tree: RunTree): Promise<void> {
  const awaited = new Set<RunSupervisor>();
  for (;;) {
    const more = tree.live().filter((supervisor) => !awaited.has(supervisor));
    if (more.length === 0) break;
    for (const supervisor of more) awaited.add(supervisor);
    await Promise.allSettled(more.map((supervisor) => supervisor.durableEnd()));
  }
  await tree.tasks.settled();
}

/** Runs below this one that go on, although the runs that began them have ended (SPEC D9). */
export function leftBelow(tree: RunTree, runId: string): readonly RunSupervisor[] {
  return tree
    .live()
    .filter((each) => !each.hasEnded && each.runId.startsWith(`${runId}/`) && tree.isTop(each));
}
