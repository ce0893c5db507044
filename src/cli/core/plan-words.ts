import type { PlanTaskView, PlanView } from '../../runtime/core/plan-view.ts';
import { counted } from './figures.ts';

const STATUSES = [
  'completed',
  'failed',
  'incomplete',
  'skipped',
  'running',
  'interrupted',
  'pending',
  'not_started',
];

/** `4 tasks: 2 completed, 1 failed, 1 not started`. */
export function statusCounts(statuses: readonly string[]): string {
  const total = counted(statuses.length, 'task');
  const counts = STATUSES.flatMap((status) => {
    const count = statuses.filter((each) => each === status).length;
    return count === 0 ? [] : [`${count} ${statusWords(status)}`];
  });
  return counts.length === 0 ? total : `${total}: ${counts.join(', ')}`;
}

export function statusWords(status: string): string {
  return status.replace('_', ' ');
}

/** What cuts the plan short, and how many of its tasks stand how. `isDead`: no host carries it on. */
export function planWords(plan: PlanView, isDead: boolean): string {
  return [
    ...(plan.ended_by === null ? [] : [`because of ${plan.ended_by}`]),
    ...(plan.out_of_time ? ['run_time_limit'] : []),
    ...(plan.mode === 'wave' ? ['first wave'] : []),
    statusCounts(
      plan.tasks.map(({ status }) => (isDead && status === 'running' ? 'interrupted' : status)),
    ),
  ].join('; ');
}

/** Round, verdict, what is in its way, and the arrows of what it builds on. */
export function taskWords(task: PlanTaskView): string {
  const arrows = task.depends_on.length === 0 ? [] : [`← ${task.depends_on.join(', ')}`];
  return [...stateWords(task), ...arrows].join('; ');
}

function stateWords(task: PlanTaskView): string[] {
  const words: string[] = [];
  const last = task.rejections.at(-1);
  const isSentBack = task.status === 'pending' && last !== undefined && last.round === task.round;
  if (isSentBack) words.push(`sent back by ${last.by}`);
  else if (task.round > 1) words.push(`round ${task.round}`);
  if (task.verdict !== null) {
    words.push(task.verdict_source === 'default' ? `${task.verdict} by default` : task.verdict);
  }
  if (task.skip !== null) words.push(skipWords(task.skip));
  const end = task.error_type ?? task.reason;
  if (end !== null) words.push(end);
  return words;
}

function skipWords({ reason, blocked_by }: NonNullable<PlanTaskView['skip']>): string {
  return blocked_by === null ? reason : `${reason}, blocked by ${blocked_by}`;
}
