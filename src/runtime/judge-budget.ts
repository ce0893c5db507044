import { refused } from './core/call-arguments.ts';
import type { CallVerdict } from './core/run-event.ts';
import { reservedFor } from './core/run-launches.ts';
import type { RunTree } from './run-tree.ts';

/**
 * SPEC X2, the last gate of a call: what it will do must be within every budget that its run draws from. A call that is
 * refused costs nothing, so the runs it was granted (SPEC R11) are given back.
 */
export function affordable(tree: RunTree, runId: string, verdict: CallVerdict): CallVerdict {
  const refusal = tree.budgets.promise(runId, verdict);
  if (refusal === null) return verdict;
  tree.launches.release(runId, reservedFor(verdict));
  return refused(refusal.errorType, refusal.words);
}
