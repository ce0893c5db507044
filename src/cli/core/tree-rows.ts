import { counted, formatCost, formatElapsed } from './figures.ts';
import { type Paint, statusColour } from './paint.ts';
import { safeLine } from './plain-text.ts';
import { ownPart } from './run-ref.ts';
import { cutText, padText, textWidth } from './text-width.ts';

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
  readonly children: readonly TreeNode[];
}

export interface TreeOptions {
  readonly paint: Paint;
  /** Columns; `null` = as wide as it is. */
  readonly width: number | null;
  /** Rows at most; `null` = all. Runs that go on are kept first, then those that ended last. */
  readonly rowsMax: number | null;
  /** Milliseconds since the epoch, for what has not ended. */
  readonly now: number;
  readonly parseTime: (ts: string) => number;
  /** Runs that no host carries on. */
  readonly interrupted?: ReadonlySet<string>;
}

interface Row {
  readonly node: TreeNode;
  /** Box drawing before the agent. */
  readonly branch: string;
}

/** One line a run, parents before children: agent, status, turns, elapsed, cost, width in use, what it does. */
export function treeLines(root: TreeNode, options: TreeOptions): string[] {
  const all = rowsOf(root, '', '');
  const rows = fewer(all, options.rowsMax);
  const cells = rows.map((row) => cellsOf(row, options));
  const widths = WIDTHS_MIN.map((least, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), least),
  );
  const lines = cells.map((row, index) => {
    const padded = row.slice(0, -1).map((cell, at) => padText(cell, widths[at] ?? 0, sideOf(at)));
    const room = restOf(padded, options.width);
    const detail = cutText(row.at(-1) ?? '', room);
    return paintRow(padded, detail, rows[index]?.node.status ?? '', options);
  });
  const hidden = all.length - rows.length;
  if (hidden === 0) return lines;
  return [...lines, options.paint('dim', `… ${counted(hidden, 'more run')}`)];
}

/** Agent and id, status, turns, elapsed, cost, width; a live tree does not jump while its figures grow. */
const WIDTHS_MIN = [0, 9, 7, 5, 4, 3];
const RIGHT = [2, 3, 4, 5];

function sideOf(at: number): 'left' | 'right' {
  return RIGHT.includes(at) ? 'right' : 'left';
}

function rowsOf(node: TreeNode, branch: string, below: string): Row[] {
  const children = node.children.flatMap((child, at) => {
    const isLast = at === node.children.length - 1;
    return rowsOf(child, `${below}${isLast ? '└─ ' : '├─ '}`, `${below}${isLast ? '   ' : '│  '}`);
  });
  return [{ node, branch }, ...children];
}

function fewer(rows: readonly Row[], rowsMax: number | null): readonly Row[] {
  if (rowsMax === null || rows.length <= rowsMax) return rows;
  const room = Math.max(1, rowsMax - 1);
  const goesOn = (row: Row) => row === rows[0] || row.node.ended_at === null;
  const endedLast = rows
    .filter((row) => !goesOn(row))
    .sort((a, b) => (b.node.ended_at ?? '').localeCompare(a.node.ended_at ?? ''));
  const kept = new Set([...rows.filter(goesOn), ...endedLast].slice(0, room));
  return rows.filter((row) => kept.has(row));
}

function cellsOf({ node, branch }: Row, options: TreeOptions): string[] {
  const id = safeLine(ownPart(node.run_id, node.parent_run_id));
  return [
    `${branch}${safeLine(node.agent_id)} ${id}`,
    statusOf(node, options.interrupted),
    counted(node.turns, 'turn'),
    elapsedOf(node, options),
    formatCost(node.cost_cents),
    node.ended_at === null && node.children.length > 0
      ? `${node.width.running}/${node.width.max}`
      : '',
    safeLine(node.doing || node.error || node.reason || ''),
  ];
}

function statusOf(node: TreeNode, interrupted: ReadonlySet<string> | undefined): string {
  return interrupted?.has(node.run_id) === true ? 'interrupted' : node.status;
}

function elapsedOf(node: TreeNode, { now, parseTime, interrupted }: TreeOptions): string {
  if (node.started_at === null) return '';
  if (node.ended_at === null && interrupted?.has(node.run_id) === true) return '-';
  const end = node.ended_at === null ? now : parseTime(node.ended_at);
  return formatElapsed(end - parseTime(node.started_at));
}

function restOf(padded: readonly string[], width: number | null): number {
  if (width === null) return Number.POSITIVE_INFINITY;
  return width - padded.reduce((sum, cell) => sum + textWidth(cell) + GAP.length, 0);
}

const GAP = '  ';

function paintRow(
  [agent = '', status = '', ...figures]: readonly string[],
  detail: string,
  colour: string,
  { paint, width }: TreeOptions,
): string {
  const plainHead = [agent, status, ...figures].join(GAP);
  if (width !== null && textWidth(plainHead) > width) return cutText(plainHead.trimEnd(), width);
  const head = [agent, paint(statusColour(colour), status), ...figures].join(GAP);
  return `${head}${GAP}${detail}`.trimEnd();
}
