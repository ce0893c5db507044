import { canonicalJson, type Json } from '../../base/json.ts';
import { endChild, launchChild } from './audit-children.ts';
import { auditReview } from './audit-review.ts';
import {
  type AuditDesk,
  type AuditedEvent,
  type AuditedPlan,
  type AuditedRun,
  type AuditedTask,
  expectThat,
} from './audit-run.ts';
import type { JournalEvent } from './event.ts';
import type { PlanEvent } from './plan-event.ts';
import { callFrame, callIndexOf } from './run-event.ts';

export type PlanLine = PlanEvent & { readonly at: JournalEvent };

/** SPEC P1 to P11: a plan runs as its call says, and its end says how each task stands. */
export function auditPlans(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
  if (!isOfPlan(event)) return;
  if (event.type === 'plan.started') {
    auditPlanStart(desk, run, event);
    return;
  }
  const plan = run.plans.find(({ frame }) => frame === event.at.frame_id);
  if (plan === undefined) {
    desk.report('plan-unasked', event.at, 'no plan has started there');
    return;
  }
  expectThat(!plan.ended, desk, 'plan-after-end', event.at, 'its plan had ended before');
  if (event.type === 'plan.completed') {
    auditPlanEnd(desk, run, plan, event);
    return;
  }
  if (event.type === 'plan.time_limit') {
    plan.isOutOfTime = true;
    return;
  }
  const task = plan.tasks.get(event.data.task_id);
  if (task === undefined) {
    desk.report('plan-task', event.at, 'the plan has no such task');
    return;
  }
  auditTask(desk, run, plan, task, event);
}

function isOfPlan(event: AuditedEvent): event is PlanLine {
  return event.type.startsWith('plan.');
}

function auditPlanStart(
  desk: AuditDesk,
  run: AuditedRun,
  { data, at }: Extract<PlanLine, { type: 'plan.started' }>,
): void {
  const call = run.calls[callIndexOf(at.frame_id) - 1];
  const isAsked =
    call?.verdict.kind === 'plan' &&
    call.status === 'running' &&
    at.frame_id === callFrame(run.turn, call.index) &&
    run.plans.every(({ frame }) => frame !== at.frame_id);
  expectThat(
    isAsked,
    desk,
    'plan-unasked',
    at,
    'no call that has begun asks for this plan, or it started before',
  );
  const { operation_id: _id, earlier: _earlier, ...spec } = data;
  if (call?.verdict.kind === 'plan') {
    const isSame = same(spec, call.verdict.plan);
    expectThat(
      isSame,
      desk,
      'plan-differs',
      at,
      'it is not the plan that the call was checked with',
    );
  }
  const tasks = spec.tasks.map((task): [string, AuditedTask] => [
    task.id,
    { task, status: 'pending', round: 0, returns: 0, ordinal: null, verdict: null },
  ]);
  run.plans.push({
    frame: at.frame_id,
    maxRework: spec.max_rework,
    onFailure: spec.on_failure,
    tasks: new Map(tasks),
    superseded: new Set(),
    launches: 0,
    stop: null,
    isOutOfTime: false,
    ended: false,
  });
}

export type TaskLine = Exclude<
  PlanLine,
  { type: 'plan.started' | 'plan.completed' | 'plan.time_limit' }
>;

function auditTask(
  desk: AuditDesk,
  run: AuditedRun,
  plan: AuditedPlan,
  task: AuditedTask,
  event: TaskLine,
): void {
  switch (event.type) {
    case 'plan.task.started':
      auditLaunch(desk, run, plan, task, event);
      return;
    case 'plan.task.completed':
    case 'plan.task.failed':
    case 'plan.task.incomplete':
    case 'plan.task.discarded':
      auditTaskEnd(desk, run, plan, task, event);
      return;
    case 'plan.task.skipped':
      expectThat(
        task.status === 'pending',
        desk,
        'plan-task',
        event.at,
        `a task that is ${task.status} is not skipped`,
      );
      task.status = 'skipped';
      return;
    case 'plan.stopped':
    case 'plan.aborted': {
      const policy = event.type === 'plan.stopped' ? 'stop' : 'abort';
      const fits =
        plan.stop === null &&
        plan.onFailure === policy &&
        (task.status === 'failed' || task.status === 'incomplete');
      expectThat(
        fits,
        desk,
        'plan-closed',
        event.at,
        'the plan has no such policy, or its task has not failed',
      );
      plan.stop ??= event.type;
      return;
    }
    default:
      auditReview(desk, plan, task, event);
      return;
  }
}

/** SPEC P2, P8, P9. */
function auditLaunch(
  desk: AuditDesk,
  run: AuditedRun,
  plan: AuditedPlan,
  task: AuditedTask,
  { data, at }: Extract<TaskLine, { type: 'plan.task.started' }>,
): void {
  const isDue = task.status === 'pending' && data.round === task.round + 1;
  expectThat(
    isDue,
    desk,
    'plan-task',
    at,
    `round ${data.round} of a task that is ${task.status} after round ${task.round}`,
  );
  const isSame =
    data.agent_id === task.task.agent_id &&
    data.depends_on.join(' ') === task.task.depends_on.join(' ');
  expectThat(isSame, desk, 'plan-differs', at, 'agent or dependencies are not those of the plan');
  const waiting = task.task.depends_on.filter((id) => plan.tasks.get(id)?.status !== 'completed');
  expectThat(
    waiting.length === 0,
    desk,
    'plan-dependency',
    at,
    `it depends on what has not completed: ${waiting.join(', ')}`,
  );
  const isOpen = plan.stop === null && !plan.isOutOfTime;
  expectThat(
    isOpen,
    desk,
    'plan-closed',
    at,
    'it starts although nothing of its plan may start any more',
  );
  plan.launches += 1;
  const most = plan.tasks.size * (1 + plan.maxRework);
  expectThat(
    plan.launches <= most,
    desk,
    'plan-launches',
    at,
    `launch ${plan.launches} of at most ${most}`,
  );
  task.status = 'running';
  task.round = data.round;
  task.ordinal = data.ordinal;
  const reviewOf = task.task.review_of ?? [];
  const launched = {
    kind: 'plan',
    reviewOf,
    planTask: task.task.id,
    backgroundTask: null,
  } as const;
  launchChild(desk, run, { ...data, ...launched }, at);
}

type EndLine = Extract<
  TaskLine,
  { type: `plan.task.${'completed' | 'failed' | 'incomplete' | 'discarded'}` }
>;

function auditTaskEnd(
  desk: AuditDesk,
  run: AuditedRun,
  plan: AuditedPlan,
  task: AuditedTask,
  event: EndLine,
): void {
  const { data, at } = event;
  if (event.type === 'plan.task.failed' && event.data.error_type === 'rework_exhausted') {
    const isExhausted = task.status === 'completed' && task.returns > plan.maxRework;
    expectThat(
      isExhausted,
      desk,
      'plan-rework',
      at,
      `it was sent back ${task.returns} times, which is not too often`,
    );
    task.status = 'failed';
    return;
  }
  endChild(desk, run, data, event.type === 'plan.task.failed' ? null : event.data.child_status, at);
  const isCurrent = task.status === 'running' && task.ordinal === data.ordinal;
  if (event.type === 'plan.task.discarded') {
    const isUnwanted = plan.superseded.has(data.ordinal);
    expectThat(isUnwanted, desk, 'plan-task', at, 'the run was not called off, so its end counts');
    return;
  }
  expectThat(
    isCurrent,
    desk,
    'plan-task',
    at,
    `launch ${data.ordinal} is not the one that the task waits for`,
  );
  task.status = event.type.slice('plan.task.'.length) as AuditedTask['status'];
  if (event.type !== 'plan.task.completed') return;
  task.verdict = event.data.verdict;
  const isReviewer = (task.task.review_of ?? []).length > 0;
  expectThat(
    isReviewer === (task.verdict !== null),
    desk,
    'plan-review',
    at,
    'a verdict comes from a reviewer, and from each',
  );
}

/** SPEC P11: how each task stands, and nothing of the plan runs any more. */
function auditPlanEnd(
  desk: AuditDesk,
  run: AuditedRun,
  plan: AuditedPlan,
  { data, at }: Extract<PlanLine, { type: 'plan.completed' }>,
): void {
  for (const ordinal of run.live) {
    const child = run.children.get(ordinal);
    const isOwn = child?.kind === 'plan' && child.frame === plan.frame;
    expectThat(!isOwn, desk, 'orphan', at, `the plan ends before its run ${child?.runId} has`);
  }
  const statuses = Object.fromEntries(
    [...plan.tasks].map(([id, { status }]) => [
      id,
      status === 'pending' || status === 'running' ? 'not_started' : status,
    ]),
  );
  const isSame = same(data.statuses, statuses);
  expectThat(
    isSame,
    desk,
    'plan-statuses',
    at,
    'its statuses are not those that its tasks came to',
  );
  const isClosed =
    (data.stopped_by !== undefined) === (plan.stop === 'plan.stopped') &&
    (data.aborted_by !== undefined) === (plan.stop === 'plan.aborted');
  expectThat(isClosed, desk, 'plan-statuses', at, 'it says otherwise of why the plan was closed');
  plan.ended = true;
}

function same(left: unknown, right: unknown): boolean {
  return canonicalJson(left as Json) === canonicalJson(right as Json);
}
