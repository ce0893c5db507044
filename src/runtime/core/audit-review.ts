import { type AuditDesk, type AuditedPlan, type AuditedTask, expectThat } from './audit-run.ts';
import type { JournalEvent } from './event.ts';
import type { PlanEvent } from './plan-event.ts';

type ReviewLine = Extract<
  PlanEvent,
  { type: `plan.task.${'rejected' | 'reopened' | 'invalidated'}` }
> & { readonly at: JournalEvent };

/** SPEC P8, P9: who may send what back, how often, and what falls with it. */
export function auditReview(
  desk: AuditDesk,
  plan: AuditedPlan,
  task: AuditedTask,
  event: ReviewLine,
): void {
  const { at } = event;
  switch (event.type) {
    case 'plan.task.rejected': {
      const reviewer = plan.tasks.get(event.data.by);
      const mayReject =
        reviewer?.task.review_of.includes(task.task.id) === true &&
        reviewer.status === 'completed' &&
        reviewer.verdict === 'rework' &&
        task.status === 'completed';
      expectThat(mayReject, desk, 'plan-review', at, 'no reviewer of this task has sent it back');
      const isNext = event.data.returns === task.returns + 1 && event.data.round === task.round;
      expectThat(
        isNext,
        desk,
        'plan-rework',
        at,
        `it says return ${event.data.returns}, after ${task.returns}`,
      );
      task.returns = event.data.returns;
      return;
    }
    case 'plan.task.reopened': {
      const mayReopen =
        task.status === 'completed' && task.returns > 0 && task.returns <= plan.maxRework;
      expectThat(
        mayReopen,
        desk,
        'plan-rework',
        at,
        `a task sent back ${task.returns} times, at most ${plan.maxRework}, is not done again`,
      );
      expectThat(
        event.data.round === task.round + 1,
        desk,
        'plan-task',
        at,
        'it names a round that is not the next one',
      );
      task.status = 'pending';
      task.ordinal = null;
      task.verdict = null;
      return;
    }
    case 'plan.task.invalidated': {
      const isBuiltOn = buildsOn(plan, task, event.data.because_of);
      const isOpen = task.status === 'completed' || task.status === 'running';
      expectThat(
        isBuiltOn && isOpen,
        desk,
        'plan-task',
        at,
        'it does not build on that task, or has no answer to drop',
      );
      if (event.data.ordinal !== null) plan.superseded.add(event.data.ordinal);
      task.status = 'pending';
      task.ordinal = null;
      task.verdict = null;
      return;
    }
    default:
  }
}

function buildsOn(plan: AuditedPlan, { task }: AuditedTask, id: string): boolean {
  const seen = new Set<string>();
  const open = [...task.depends_on];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === id) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(plan.tasks.get(next)?.task.depends_on ?? []));
  }
  return false;
}
