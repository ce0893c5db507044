/** What a person may have meant by a run id or its beginning. */
export type RunMatch =
  | { readonly kind: 'one'; readonly runId: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'many'; readonly runIds: readonly string[] };

/**
 * The run that `asked` names: its whole id, or a beginning that only one id of the same depth has, part by part
 * (`run_ab/delegate/01` for `run_abcd/delegate/01`). So the beginning of a root's id never means its children.
 */
export function matchRun(asked: string, runIds: readonly string[]): RunMatch {
  if (runIds.includes(asked)) return { kind: 'one', runId: asked };
  const parts = asked.split('/');
  if (parts.includes('')) return { kind: 'none' };
  const fitting = [...new Set(runIds.filter((runId) => fits(parts, runId.split('/'))))];
  const [only] = fitting;
  if (only === undefined) return { kind: 'none' };
  return fitting.length === 1 ? { kind: 'one', runId: only } : { kind: 'many', runIds: fitting };
}

function fits(asked: readonly string[], parts: readonly string[]): boolean {
  return (
    asked.length === parts.length && asked.every((part, at) => parts[at]?.startsWith(part) === true)
  );
}

/** A run's id as its tree shows it: the root's own, of every other the part behind its parent's. */
export function ownPart(runId: string, parentRunId: string | null): string {
  if (parentRunId === null || !runId.startsWith(`${parentRunId}/`)) return runId;
  return runId.slice(parentRunId.length + 1);
}

/** What of `runId` stands below `top`; empty for itself. */
export function belowTop(runId: string, top: string): string {
  if (runId === top) return '';
  return runId.startsWith(`${top}/`) ? runId.slice(top.length + 1) : runId;
}
