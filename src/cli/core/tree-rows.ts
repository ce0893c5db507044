import { counted, formatCost, formatElapsed } from './figures.ts';
import { type Paint, statusColour } from './paint.ts';
import { cutText, padText, textWidth, wrapText } from './text-width.ts';
import { layoutTree, type TreeNode, type TreeRow } from './tree-layout.ts';

export interface TreeOptions {
  readonly paint: Paint;
  /** Columns; `null` = as wide as it is. */
  readonly width: number | null;
  /** Rows at most; `null` = all. What goes on is kept first, then what is to come, then what ended last. */
  readonly rowsMax: number | null;
  /** Milliseconds since the epoch, for what has not ended. */
  readonly now: number;
  readonly parseTime: (ts: string) => number;
  /** Runs that no host carries on. */
  readonly interrupted?: ReadonlySet<string>;
  /** One line a task of a plan. */
  readonly compact?: boolean;
}

/**
 * One line a run, parents before children: agent, status, turns, elapsed, cost, width in use, what it does. A plan stands
 * below its run, with a line for each task and its arrows, the runs of a task below it.
 */
export function treeLines(root: TreeNode, options: TreeOptions): string[] {
  const { compact = false, interrupted = new Set() } = options;
  const all = layoutTree(root, { compact, interrupted });
  const rows = fewer(all, options.rowsMax);
  const cells = rows.map((row) => cellsOf(row, options));
  const widths = WIDTHS_MIN.map((least, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), least),
  );
  const lines = rows.flatMap((row, index) =>
    row.kind === 'prose' ? proseLines(row, options) : rowLine(row, cells[index], widths, options),
  );
  const hidden = all.length - rows.length;
  if (hidden === 0) return lines;
  return [...lines, options.paint('dim', `… ${counted(hidden, 'more row')}`)];
}

/** Name, status, turns, elapsed, cost, width; a live tree does not jump while its figures grow. */
const WIDTHS_MIN = [0, 9, 7, 5, 4, 3];
const RIGHT = [2, 3, 4, 5];
const PROSE_LINES_MAX = 3;

function fewer(rows: readonly TreeRow[], rowsMax: number | null): readonly TreeRow[] {
  if (rowsMax === null || rows.length <= rowsMax) return rows;
  const room = Math.max(1, rowsMax - 1);
  const byRank = rows.toSorted(
    (a, b) => b.rank - a.rank || (b.rank === 0 ? b.endedAt.localeCompare(a.endedAt) : 0),
  );
  const kept = new Set(byRank.slice(0, room));
  return rows.filter((row) => kept.has(row));
}

/** Of a row without figures: name and status alone, its detail begins where they would. */
function cellsOf(row: TreeRow, options: TreeOptions): string[] {
  if (row.kind === 'prose') return [];
  const { run } = row;
  const head = [`${row.branch}${row.name}`, row.status];
  if (run === null) return head;
  const isOpen = run.ended_at === null && run.children.length > 0;
  return [
    ...head,
    counted(run.turns, 'turn'),
    elapsedOf(run, options),
    formatCost(run.cost_cents),
    isOpen ? `${run.width.running}/${run.width.max}` : '',
  ];
}

function elapsedOf(run: TreeNode, { now, parseTime, interrupted }: TreeOptions): string {
  if (run.started_at === null) return '';
  if (run.ended_at === null && interrupted?.has(run.run_id) === true) return '-';
  const end = run.ended_at === null ? now : parseTime(run.ended_at);
  return formatElapsed(end - parseTime(run.started_at));
}

const GAP = '  ';

function rowLine(
  row: TreeRow,
  cells: readonly string[] = [],
  widths: readonly number[],
  { paint, width }: TreeOptions,
): string {
  const padded = cells.map((cell, at) =>
    padText(cell, widths[at] ?? 0, RIGHT.includes(at) ? 'right' : 'left'),
  );
  const plainHead = padded.join(GAP);
  if (width !== null && textWidth(plainHead) > width) return cutText(plainHead.trimEnd(), width);
  const room =
    width === null ? Number.POSITIVE_INFINITY : width - textWidth(plainHead) - GAP.length;
  const [name = '', status = '', ...figures] = padded;
  const head = [name, paint(statusColour(row.status), status), ...figures];
  return `${head.join(GAP)}${GAP}${cutText(row.detail, room)}`.trimEnd();
}

function proseLines({ branch, below, name }: TreeRow, { paint, width }: TreeOptions): string[] {
  if (width === null) return [`${branch}${paint('dim', name)}`];
  const room = width - textWidth(branch);
  if (room < 1) return [cutText(branch, width)];
  return wrapText(name, room, PROSE_LINES_MAX).map(
    (line, at) => `${at === 0 ? branch : below}${paint('dim', line)}`,
  );
}
