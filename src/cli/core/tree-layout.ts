import type { PlanTaskView, PlanView } from '../../runtime/core/plan-view.ts';
import { safeLine } from './plain-text.ts';
import { planWords, statusWords, taskWords } from './plan-words.ts';
import { ownPart } from './run-ref.ts';

/** A run with everything below it, as `RunTreeView` has it. */
export interface TreeNode {
  readonly run_id: string;
  readonly parent_run_id: string | null;
  readonly agent_id: string;
  readonly status: string;
  readonly turns: number;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly cost_cents: number | null;
  readonly width: { readonly running: number; readonly max: number };
  readonly doing: string;
  readonly error: string | null;
  readonly reason: string | null;
  readonly task_id: string | null;
  /** Of a run in the background. */
  readonly background_task_id?: string | null;
  readonly plans: readonly PlanView[];
  readonly children: readonly TreeNode[];
}

/** A line of the tree; all of its texts are safe for a terminal. */
export interface TreeRow {
  /** `prose`: `name` alone, over the whole width. */
  readonly kind: 'run' | 'plan' | 'task' | 'prose';
  /** Box drawing before the name, and before what of it goes on in a further line. */
  readonly branch: string;
  readonly below: string;
  readonly name: string;
  readonly status: string;
  /** Whose figures stand in the columns. */
  readonly run: TreeNode | null;
  readonly detail: string;
  /** Where rows are few: 2 stays longest, 0 goes first, the longest ended before others. */
  readonly rank: 0 | 1 | 2;
  readonly endedAt: string;
}

export interface LayoutOptions {
  /** One line a task, with the figures of its last run; without what lies behind. */
  readonly compact: boolean;
  /** Runs that no host carries on. */
  readonly interrupted: ReadonlySet<string>;
}

/** Parents before children, tasks below what they build on. */
export function layoutTree(root: TreeNode, options: LayoutOptions): TreeRow[] {
  const item = runItem(root, `${safeLine(root.agent_id)} ${idOf(root)}`, '', options);
  return flat(
    { ...item, rows: item.rows.map((row) => ({ ...row, rank: 2 as const })) },
    { first: '', rest: '' },
  );
}

type Line = Omit<TreeRow, 'branch' | 'below'>;

/** Lines that stand together, and what hangs below them. */
interface Item {
  readonly rows: readonly Line[];
  readonly items: readonly Item[];
}

function flat({ rows, items }: Item, branch: { first: string; rest: string }): TreeRow[] {
  const under = items.length === 0 ? '   ' : '│  ';
  const own = rows.map((row, at): TreeRow => {
    const prose = row.kind === 'prose';
    const before = at === 0 ? branch.first : branch.rest + (prose ? under : '');
    return { ...row, branch: before, below: branch.rest + (prose ? under : '') };
  });
  const hanging = items.flatMap((item, at) => {
    const isLast = at === items.length - 1;
    return flat(item, {
      first: `${branch.rest}${isLast ? '└─ ' : '├─ '}`,
      rest: `${branch.rest}${isLast ? '   ' : '│  '}`,
    });
  });
  return [...own, ...hanging];
}

function idOf(node: TreeNode): string {
  return safeLine(ownPart(node.run_id, node.parent_run_id));
}

function runItem(node: TreeNode, name: string, note: string, options: LayoutOptions): Item {
  const saying = node.doing || node.error || node.reason || '';
  const how = (node.background_task_id ?? null) === null ? '' : 'background';
  const row: Line = {
    kind: 'run',
    name,
    status: options.interrupted.has(node.run_id) ? 'interrupted' : node.status,
    run: node,
    detail: [note, how, safeLine(saying)].filter((part) => part !== '').join(', '),
    rank: node.ended_at === null ? 2 : 0,
    endedAt: node.ended_at ?? '',
  };
  return { rows: [row], items: belowRun(node, options) };
}

/** Children in the order of their launch; a plan stands where its first task does. */
function belowRun(node: TreeNode, options: LayoutOptions): Item[] {
  const planOf = new Map(
    node.plans.flatMap((plan) =>
      plan.tasks.flatMap((task) => task.child_run_ids.map((id) => [id, plan] as const)),
    ),
  );
  const order = node.children.map((child) => planOf.get(child.run_id) ?? child);
  return [...new Set([...order, ...node.plans])].map((each) =>
    'tasks' in each
      ? planItem(each, node, options)
      : runItem(each, `${safeLine(each.agent_id)} ${idOf(each)}`, '', options),
  );
}

function planItem(plan: PlanView, parent: TreeNode, options: LayoutOptions): Item {
  const isLive = plan.status !== 'unfinished' && parent.ended_at === null;
  const ends = parent.children.map((child) => child.ended_at ?? '').toSorted();
  const isDead = plan.status === 'running' && options.interrupted.has(parent.run_id);
  const row: Line = {
    kind: 'plan',
    name: safeLine(`plan ${plan.frame_id ?? ''}`),
    status: isDead ? 'interrupted' : plan.status,
    run: null,
    detail: safeLine(planWords(plan, isDead)),
    rank: isLive && plan.status === 'running' ? 2 : 0,
    endedAt: ends.at(-1) ?? '',
  };
  const runs = new Map(parent.children.map((child) => [child.run_id, child]));
  const items = byLayer(plan.tasks).map((task) => taskItem(task, runs, options));
  const hasGoal = plan.goal !== null && !options.compact;
  return { rows: hasGoal ? [row, prose(plan.goal, row)] : [row], items };
}

/** Every task below all that it builds on, otherwise in the order of the plan. */
function byLayer(tasks: readonly PlanTaskView[]): readonly PlanTaskView[] {
  const layers = new Map<string, number>();
  // As many passes as the longest chain can need; a graph with a cycle, which no plan has, would end too.
  for (const _ of tasks) {
    for (const { id, depends_on } of tasks) {
      layers.set(id, Math.max(0, ...depends_on.map((each) => (layers.get(each) ?? 0) + 1)));
    }
  }
  return tasks.toSorted((a, b) => (layers.get(a.id) ?? 0) - (layers.get(b.id) ?? 0));
}

type Runs = ReadonlyMap<string, TreeNode>;

function taskItem(task: PlanTaskView, byId: Runs, options: LayoutOptions): Item {
  const runs = task.child_run_ids.flatMap((id) => byId.get(id) ?? []);
  const last = runs.at(-1);
  const isDead = last !== undefined && options.interrupted.has(last.run_id);
  const row: Line = {
    kind: 'task',
    name: safeLine(`${task.id} ${task.agent_id}`),
    status: task.status === 'running' && isDead ? 'interrupted' : statusWords(task.status),
    run: null,
    detail: safeLine(taskWords(task)),
    rank: rankOf(task.status),
    endedAt: last?.ended_at ?? '',
  };
  return options.compact
    ? compactTask(task, row, runs, options)
    : fullTask(task, row, runs, options);
}

function rankOf(status: string): 0 | 1 | 2 {
  if (status === 'running') return 2;
  return status === 'pending' ? 1 : 0;
}

function fullTask(
  task: PlanTaskView,
  row: Line,
  runs: readonly TreeNode[],
  options: LayoutOptions,
) {
  const items = runs.map((run): Item => {
    const round = task.child_run_ids.indexOf(run.run_id) + 1;
    const note = task.child_run_ids.length > 1 ? `round ${round}` : '';
    const item = runItem(run, idOf(run), note, options);
    const rejections = task.rejections
      .filter(({ run_id }) => run_id === run.run_id)
      .map(({ by, remarks }) => prose(`sent back by ${by}: ${remarks}`, item.rows[0]));
    return { ...item, rows: [...item.rows, ...rejections] };
  });
  // What its run says itself needs no second line.
  const isSaid = task.error === null || runs.at(-1)?.error === task.error;
  return { rows: isSaid ? [row] : [row, prose(task.error, row)], items };
}

/** The run that its status speaks of, in the task's own line; others only while they still end. */
function compactTask(
  task: PlanTaskView,
  row: Line,
  runs: readonly TreeNode[],
  options: LayoutOptions,
): Item {
  const last = runs.at(-1);
  const others = runs
    .filter((run) => run !== last && run.ended_at === null)
    .map((run) => runItem(run, idOf(run), '', options));
  if (last === undefined) return { rows: [row], items: others };
  if (task.status === 'pending' && last.ended_at === null) {
    return { rows: [row], items: [...others, runItem(last, idOf(last), '', options)] };
  }
  if (task.status === 'pending') return { rows: [row], items: others };
  const doing = safeLine(last.doing);
  const detail = task.status === 'running' ? runningWords(task, doing) : row.detail;
  return {
    rows: [{ ...row, run: last, detail }],
    items: [...others, ...(last.ended_at === null ? belowRun(last, options) : [])],
  };
}

function runningWords(task: PlanTaskView, doing: string): string {
  const sentBack = task.rejections.at(-1);
  const why = sentBack?.round === task.round - 1 ? `, sent back by ${sentBack.by}` : '';
  const again = task.round > 1 ? safeLine(`round ${task.round}${why}`) : '';
  return [doing, again].filter((part) => part !== '').join('; ');
}

function prose(words: string, under: Line | undefined): Line {
  return {
    kind: 'prose',
    name: safeLine(words),
    status: '',
    run: null,
    detail: '',
    rank: under?.rank ?? 0,
    endedAt: under?.endedAt ?? '',
  };
}
