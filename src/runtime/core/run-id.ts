/** The id of a root run from a fresh name (SPEC R1). */
export function rootRunId(name: string): string {
  return `run_${name}`;
}

/** The id of the `ordinal`-th run that `parent` launches; ordinals are never reused, whatever became of the run. */
export function childRunId(
  parent: string,
  kind: 'delegate' | 'subagent' | 'plan',
  ordinal: number,
  taskId?: string,
): string {
  const place = String(ordinal).padStart(2, '0');
  return `${parent}/${kind}/${place}${kind === 'plan' ? `-${taskId ?? ''}` : ''}`;
}

/** The root of the tree that a run belongs to: ids of children begin with their parent's. */
export function rootOf(runId: string): string {
  const slash = runId.indexOf('/');
  return slash === -1 ? runId : runId.slice(0, slash);
}

/** The task that a run of a plan does, from its id; `null` for every other run. */
export function taskIdOf(runId: string): string | null {
  return /\/plan\/\d+-([^/]+)$/.exec(runId)?.[1] ?? null;
}
