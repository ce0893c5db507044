import { auditStart } from './audit-life.ts';
import {
  type AuditDesk,
  type AuditedCall,
  type AuditedChild,
  type AuditedEvent,
  type AuditedRun,
  expectThat,
  worseEffect,
} from './audit-run.ts';
import { isSameCost, isSameUsage } from './audit-totals.ts';
import type { JournalEvent } from './event.ts';
import type { TaskRunEnd } from './plan-event.ts';
import type { RunStatusEnded } from './run-event.ts';
import { childRunId } from './run-id.ts';
import { addKnown, addUsage } from './usage.ts';

/** SPEC D3, G3, N4: who was launched, in which order, how many at a time, and how they ended. */
export function auditChildren(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
  const { at } = event;
  switch (event.type) {
    case 'delegation.started':
      auditDelegation(desk, run, event.data, at);
      return;
    case 'delegation.completed':
      auditDelegationEnd(desk, run, event.data, event.data.child_status, at);
      return;
    case 'delegation.failed':
      auditDelegationEnd(desk, run, event.data, null, at);
      return;
    default:
  }
}

function auditDelegation(
  desk: AuditDesk,
  run: AuditedRun,
  data: Extract<AuditedEvent, { type: 'delegation.started' }>['data'],
  at: JournalEvent,
): void {
  const call = run.calls[data.call - 1];
  const wanted = call?.status === 'running' ? nextOf(call, run) : null;
  const isAsked =
    wanted !== null && (call?.verdict.kind === 'subagent') === (data.kind === 'subagent');
  expectThat(
    isAsked,
    desk,
    'call-start',
    at,
    'no call of the answer that has begun asks for this child',
  );
  const isWanted = wanted === null || data.agent_id === wanted;
  expectThat(isWanted, desk, 'child-differs', at, 'it is not the agent that the call asks for');
  call?.launched.push(data.ordinal);
  const asked = call?.verdict.kind === 'delegate' ? call.verdict.task_id : undefined;
  const words = 'it is not the background task that the call asks for';
  expectThat(data.task_id === asked, desk, 'child-differs', at, words);
  const backgroundTask = data.task_id ?? null;
  launchChild(desk, run, { ...data, reviewOf: [], planTask: null, backgroundTask }, at);
}

/** The agent whose run the call launches next; `null` = none. */
function nextOf({ verdict, launched }: AuditedCall, { spec }: AuditedRun): string | null {
  if (verdict.kind === 'parallel') return verdict.entries[launched.length]?.agent_id ?? null;
  if (launched.length > 0) return null;
  if (verdict.kind === 'delegate') return verdict.agent_id;
  return verdict.kind === 'subagent' ? (spec?.agent_id ?? null) : null;
}

export interface Launched {
  readonly ordinal: number;
  readonly child_run_id: string;
  readonly agent_id: string;
  readonly depth: number;
  readonly kind: AuditedChild['kind'];
  readonly reviewOf: readonly string[];
  /** The task of a plan that it does. */
  readonly planTask: string | null;
  /** The background task that it is. */
  readonly backgroundTask: string | null;
}

export function launchChild(
  desk: AuditDesk,
  run: AuditedRun,
  launched: Launched,
  at: JournalEvent,
): void {
  const { ordinal, child_run_id: runId, agent_id: agentId, depth, kind, reviewOf } = launched;
  auditStart(desk, run, at);
  const isNext = ordinal === run.lastOrdinal + 1;
  expectThat(
    isNext,
    desk,
    'ordinal',
    at,
    `it is launch ${ordinal}, after launch ${run.lastOrdinal}`,
  );
  const isItsId = runId === childRunId(run.runId, kind, ordinal, launched.planTask ?? undefined);
  expectThat(isItsId, desk, 'child-id', at, 'the id of the child is not that of its launch');
  auditDepth(desk, run, depth, kind, at);
  run.lastOrdinal = Math.max(run.lastOrdinal, ordinal);
  const startedBy = at.event_id;
  const { frame_id: frame } = at;
  const taskId = launched.backgroundTask;
  const child = { ordinal, runId, agentId, kind, frame, startedBy, reviewOf, taskId, ended: false };
  run.children.set(ordinal, child);
  if (taskId === null) run.live.add(ordinal);
  else run.detached.add(ordinal);
  const most = run.spec?.width_max ?? run.live.size;
  expectThat(
    run.live.size <= most,
    desk,
    'width-exceeded',
    at,
    `${run.live.size} children at a time, at most ${most}`,
  );
}

/** SPEC G3, S2: a sub-agent is one level more, but the cap is on delegating. */
function auditDepth(
  desk: AuditDesk,
  { spec }: AuditedRun,
  depth: number,
  kind: AuditedChild['kind'],
  at: JournalEvent,
): void {
  if (spec === null) return;
  const isOneMore = depth === spec.depth + 1;
  expectThat(
    isOneMore,
    desk,
    'depth-exceeded',
    at,
    `its depth is ${depth}, that of its run ${spec.depth}`,
  );
  const mayLaunch = kind === 'subagent' ? !spec.is_subagent : spec.depth < spec.depth_max;
  const cap =
    kind === 'subagent'
      ? 'a sub-agent spawns none'
      : `depth ${spec.depth} of at most ${spec.depth_max}`;
  expectThat(mayLaunch, desk, 'depth-exceeded', at, `its run may launch nothing: ${cap}`);
}

type ChildEnd = Omit<TaskRunEnd, 'task_id' | 'round'>;

function auditDelegationEnd(
  desk: AuditDesk,
  run: AuditedRun,
  data: ChildEnd,
  status: RunStatusEnded | null,
  at: JournalEvent,
): void {
  const child = run.children.get(data.ordinal);
  if (child?.kind === 'plan') {
    desk.report('child-end-unmatched', at, `launch ${data.ordinal} is a plan's`);
    return;
  }
  const isInOrder =
    run.spec?.order !== 'fifo' || run.stopping !== null || first(run.live) === data.ordinal;
  expectThat(
    isInOrder || !run.live.has(data.ordinal),
    desk,
    'fifo-order',
    at,
    `launch ${data.ordinal} is awaited before launch ${first(run.live)}, the oldest that has not ended`,
  );
  endChild(desk, run, data, status, at);
}

function first(ordinals: ReadonlySet<number>): number | undefined {
  for (const ordinal of ordinals) return ordinal;
  return undefined;
}

/** `status` = how the parent says it ended; `null` = failed, or cancelled by its own deadline. */
export function endChild(
  desk: AuditDesk,
  run: AuditedRun,
  data: ChildEnd,
  status: RunStatusEnded | null,
  at: JournalEvent,
): void {
  const child = run.children.get(data.ordinal);
  if (child === undefined || child.ended) {
    const why = child === undefined ? 'was never launched' : 'had ended before';
    desk.report('child-end-unmatched', at, `launch ${data.ordinal} ${why}`);
    return;
  }
  const isIt = data.child_run_id === child.runId && data.agent_id === child.agentId;
  expectThat(
    isIt,
    desk,
    'child-end-differs',
    at,
    'it is not the run or the agent that was launched',
  );
  auditAgreement(desk, child, data, status, at);
  child.ended = true;
  run.live.delete(data.ordinal);
  run.detached.delete(data.ordinal);
  run.usage = addUsage(run.usage, data.usage);
  run.cost = addKnown(run.cost, data.cost_cents);
  run.effect = worseEffect(run.effect, data.effect);
}

/** SPEC R13: the child's own end comes first, and its parent tells the same of it. */
function auditAgreement(
  desk: AuditDesk,
  { runId }: AuditedChild,
  data: ChildEnd,
  status: RunStatusEnded | null,
  at: JournalEvent,
): void {
  const own = desk.runs.get(runId);
  if (own === undefined) {
    const never =
      data.turns === 0 && (status === null || status === 'cancelled' || status === 'failed');
    expectThat(never, desk, 'child-not-ended', at, `run ${runId} is not in the journal`);
    return;
  }
  if (own.torn) return;
  const { ended } = own;
  if (ended === null) {
    desk.report('child-not-ended', at, `run ${runId} itself has no end before this one`);
    return;
  }
  const isSameStatus =
    status === null
      ? ended.status === 'failed' || (ended.status === 'cancelled' && ended.by === 'deadline')
      : ended.status === status;
  const isSame =
    isSameStatus &&
    ended.turns === data.turns &&
    ended.effect === data.effect &&
    isSameUsage(ended.usage, data.usage) &&
    isSameCost(ended.cost_cents, data.cost_cents);
  expectThat(
    isSame,
    desk,
    'child-end-differs',
    at,
    `run ${runId} itself says otherwise of its end`,
  );
}
