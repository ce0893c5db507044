import { cyclesOf, upstreamOf } from './plan-graph.ts';
import { placedIds } from './plan-placeholder.ts';

/** A task as far as it could be read; what could not is a fault already and empty here. */
export interface DraftTask {
  /** `task 'b' (tasks[1])`. */
  readonly place: string;
  readonly id: string;
  readonly agent_id: string;
  readonly prompt: string;
  readonly depends_on: readonly string[];
  readonly review_of: readonly string[];
  readonly max_turns: number | null;
}

/** The faults of SPEC P1 that lie between tasks: repeated ids, unknown and circular dependencies, wrong placeholders. */
export function graphFaults(
  drafts: readonly DraftTask[],
  answered: ReadonlySet<string>,
): readonly string[] {
  const known = new Set(drafts.map((task) => task.id).filter((id) => id !== ''));
  const graph = drafts.map((task) => ({
    id: task.id,
    depends_on: [...task.depends_on, ...task.review_of],
  }));
  return [
    ...repeatedIds(drafts),
    ...drafts.flatMap((task) => [
      ...nameFaults(task, 'depends_on', known, answered),
      ...nameFaults(task, 'review_of', known, answered),
    ]),
    ...cyclesOf(graph).map((cycle) => `tasks: dependency cycle ${cycle}`),
    ...placeholderFaults(drafts, known, upstreamOf(graph), answered),
  ];
}

function repeatedIds(drafts: readonly DraftTask[]): string[] {
  const first = new Map<string, number>();
  const faults: string[] = [];
  drafts.forEach(({ id, place }, at) => {
    const earlier = first.get(id);
    if (id === '') return;
    if (earlier === undefined) first.set(id, at);
    else faults.push(`${place}, id: already the id of tasks[${earlier}]`);
  });
  return faults;
}

function nameFaults(
  task: DraftTask,
  field: 'depends_on' | 'review_of',
  known: ReadonlySet<string>,
  answered: ReadonlySet<string>,
): string[] {
  const faults: string[] = [];
  for (const name of task[field]) {
    if (name === task.id) {
      const what = field === 'review_of' ? 'review itself' : 'depend on itself';
      faults.push(`${task.place}, ${field}: a task cannot ${what}`);
    } else if (!known.has(name)) {
      const advice = answered.has(name)
        ? `; it was answered in an earlier plan, so place {{${name}.answer}} in the prompt instead`
        : '';
      faults.push(`${task.place}, ${field}: unknown task '${name}'${advice}`);
    }
  }
  return faults;
}

function placeholderFaults(
  drafts: readonly DraftTask[],
  known: ReadonlySet<string>,
  upstream: ReadonlyMap<string, readonly string[]>,
  answered: ReadonlySet<string>,
): string[] {
  return drafts.flatMap((task) =>
    placedIds(task.prompt)
      .filter((id) => !answered.has(id) && !isUpstream(task, id, upstream))
      .map((id) => {
        const isOther = known.has(id) && id !== task.id;
        const advice = isOther ? `; add '${id}' to its depends_on or leave it out` : '';
        return `${task.place}, prompt: {{${id}.answer}} is neither upstream of this task in the plan nor answered earlier in this run${advice}`;
      }),
  );
}

function isUpstream(
  task: DraftTask,
  id: string,
  upstream: ReadonlyMap<string, readonly string[]>,
): boolean {
  return id !== task.id && (upstream.get(task.id) ?? []).includes(id);
}
