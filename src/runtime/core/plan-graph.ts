/** What a graph needs to know of a task. */
export interface GraphTask {
  readonly id: string;
  readonly depends_on: readonly string[];
}

/**
 * For every task, all that it builds on, however far up, in the order of `tasks`. Names that are no task of the graph
 * are left out; a cycle is walked once, so a task within one is upstream of itself.
 */
export function upstreamOf(tasks: readonly GraphTask[]): ReadonlyMap<string, readonly string[]> {
  const direct = new Map(tasks.map((task) => [task.id, task.depends_on]));
  return new Map(
    tasks.map((task) => {
      const reached = new Set<string>();
      const open = [...task.depends_on];
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        const further = direct.get(id);
        if (further === undefined || reached.has(id)) continue;
        reached.add(id);
        open.push(...further);
      }
      return [task.id, tasks.filter(({ id }) => reached.has(id)).map(({ id }) => id)];
    }),
  );
}

/**
 * Cycles of a graph, each as `a -> b -> a` where `a` depends on `b`: one for every set of tasks that only wait for each
 * other, as short as the order of `tasks` finds one. A task that names itself is not reported here.
 */
export function cyclesOf(tasks: readonly GraphTask[]): readonly string[] {
  const upstream = upstreamOf(tasks);
  const told = new Set<string>();
  const cycles: string[] = [];
  for (const { id } of tasks) {
    if (told.has(id)) continue;
    const cycle = shortestCycle(tasks, id);
    if (cycle === null) continue;
    cycles.push(cycle.join(' -> '));
    // Whoever is on both sides of this task is in the same knot, and one cycle of it is enough to mend the plan.
    for (const other of upstream.get(id) ?? []) {
      if (upstream.get(other)?.includes(id)) told.add(other);
    }
  }
  return cycles;
}

/** Breadth first from `start` along `depends_on`, back to `start`. */
function shortestCycle(tasks: readonly GraphTask[], start: string): readonly string[] | null {
  const direct = new Map(tasks.map((task) => [task.id, task.depends_on]));
  const seen = new Set<string>();
  const paths: (readonly string[])[] = [[start]];
  // The list grows while it is walked: it is the queue of the search.
  for (const path of paths) {
    const last = path.at(-1) ?? start;
    const nexts = (direct.get(last) ?? []).filter((next) => next !== last);
    if (nexts.includes(start)) return [...path, start];
    for (const next of nexts.filter((each) => !seen.has(each))) {
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return null;
}
