import { INTERRUPTED } from './resumption.ts';
import type { Rows } from './rows.ts';
import { agendaAfter } from './run-agenda.ts';
import { type CallChange, changedCall, type RunDraft } from './run-draft.ts';
import { callFrame, type RunEvent, type RunEventData, type RunStatusEnded } from './run-event.ts';
import {
  type CallState,
  type ChildState,
  callAt,
  callOf,
  childAt,
  isRunning,
  isWaitedFor,
  launcherOf,
  type RunState,
} from './run-state.ts';
import { worseEffect } from './tool.ts';
import { addKnown, addUsage } from './usage.ts';

/** Operations named in a result; the rest are counted by the journal, not by a warning to a model. */
const OPERATIONS_MAX = 20;

export type CallEvent = Extract<
  RunEvent,
  { type: `tool.${string}` | `approval.${string}` | `delegation.${string}` }
>;

/** How an event changes a call of the turn, or the child that a call launched. */
export function evolveCall(run: RunDraft, event: CallEvent): void {
  switch (event.type) {
    case 'approval.requested':
      changeCall(run, callOf(run, event.data.call_id), { status: 'asking', cause: run.count });
      return;
    case 'approval.granted':
      changeCall(run, callOf(run, event.data.call_id), { status: 'approved', cause: run.count });
      return;
    case 'approval.denied':
      changeCall(run, callOf(run, event.data.call_id), { cause: run.count });
      return;
    case 'tool.started':
      changeCall(run, callOf(run, event.data.call_id), { status: 'running', cause: run.count });
      return;
    case 'tool.completed':
      toolCompleted(run, event.data);
      return;
    case 'tool.failed':
      toolFailed(run, event.data);
      return;
    case 'delegation.started':
      childStarted(run, event.data);
      return;
    case 'delegation.completed':
      childEnded(run, event.data, event.data.child_status);
      partEnded(run, event.data, event.data.child_status);
      return;
    case 'delegation.failed':
      childEnded(run, event.data, 'failed');
      // Its own deadline cancelled it (SPEC D6).
      partEnded(run, event.data, event.data.error_type === 'timeout' ? 'cancelled' : 'failed');
      return;
    default:
    // Total: a type that a later version writes changes nothing here.
  }
}

function toolCompleted(run: RunDraft, data: RunEventData<'tool.completed'>): void {
  const call = callOf(run, data.call_id);
  const verdict = call?.verdict;
  if (verdict?.kind === 'tool' && verdict.effect !== 'read') {
    run.effect = worseEffect(run.effect, 'applied');
    run.operations = named(run.operations, [operation(run, data.call_id, data.name, 'done')]);
  }
  const result = { text: data.text, isError: false, fullPath: data.full_path };
  changeCall(run, call, { status: 'done', result });
}

function toolFailed(run: RunDraft, data: RunEventData<'tool.failed'>): void {
  const text = data.text === '' ? data.error : `${data.error}\n\n${data.text}`;
  const own = data.shared_with === undefined ? data.effect : 'none';
  run.effect = worseEffect(run.effect, own);
  run.isInterrupted ||= data.error_type === INTERRUPTED;
  if (own === 'uncertain' && data.structured === undefined) {
    const what = operation(run, data.call_id, data.name, 'uncertain');
    run.operations = named(run.operations, [what]);
  }
  const result = { text, isError: true, fullPath: data.full_path };
  changeCall(run, callOf(run, data.call_id), { status: 'done', result });
}

function childStarted(run: RunDraft, data: RunEventData<'delegation.started'>): void {
  const { ordinal, child_run_id: runId, agent_id: agentId, call, kind } = data;
  addChild(run, { ordinal, runId, agentId, call, kind, taskId: data.task_id ?? null });
  const launcher = callAt(run, call);
  if (launcher?.verdict.kind !== 'parallel') {
    changeCall(run, launcher, { ordinal });
    return;
  }
  const parts = [...launcher.parts, { ordinal, end: null }];
  changeCall(run, launcher, { ordinal: launcher.ordinal ?? ordinal, parts });
}

type DelegationEnd = Omit<RunEventData<'delegation.completed'>, 'child_status'>;

/** SPEC D8: a child's part of its call's result waits for those of the others. */
function partEnded(run: RunDraft, data: DelegationEnd, status: RunStatusEnded): void {
  if (data.part === undefined) return;
  const child = childAt(run, data.ordinal);
  const call = child === undefined ? undefined : launcherOf(run, child);
  if (call === undefined) return;
  const { text, full_path: fullPath } = data.part;
  const end = { isError: status !== 'completed', text, fullPath, structured: partOf(data, status) };
  const parts = call.parts.map((part) => (part.ordinal === data.ordinal ? { ...part, end } : part));
  const isLast = call.verdict.kind === 'parallel' && parts.length === call.verdict.entries.length;
  const isOver = isLast && parts.every((part) => part.end !== null);
  changeCall(run, call, isOver ? { parts, cause: run.count } : { parts });
}

function partOf(data: DelegationEnd, status: RunStatusEnded) {
  return {
    agent_id: data.agent_id,
    status,
    child_run_id: data.child_run_id,
    turns: data.turns,
    effect: data.effect,
    usage: { ...data.usage },
    cost_cents: data.cost_cents,
  };
}

/** A child that has just begun. */
export function addChild(run: RunDraft, child: Omit<ChildState, 'status' | 'startedAt'>): void {
  run.children = run.children.adding({ ...child, status: 'running', startedAt: run.count });
  run.childrenRunning += 1;
  if (child.taskId !== null) run.backgroundRunning += 1;
  run.lastOrdinal = Math.max(run.lastOrdinal, child.ordinal);
}

/** The child's outcome goes into its parent's sums. */
export function childEnded(
  run: RunDraft,
  data: Pick<
    RunEventData<'delegation.completed'>,
    'ordinal' | 'usage' | 'cost_cents' | 'effect' | 'operations'
  >,
  status: RunStatusEnded,
): void {
  const child = childAt(run, data.ordinal);
  if (child === undefined || !isRunning(child)) return;
  const call = callAt(run, child.call);
  const isOnly = call?.ordinal === data.ordinal && call.verdict.kind !== 'parallel';
  if (isOnly) changeCall(run, call, { cause: run.count });
  run.children = run.children.with(child.ordinal - 1, { ...child, status });
  run.childrenRunning -= 1;
  if (child.taskId !== null) run.backgroundRunning -= 1;
  run.firstRunning = firstRunningFrom(run.children, run.firstRunning);
  run.usage = addUsage(run.usage, data.usage);
  run.costCents = addKnown(run.costCents, data.cost_cents);
  run.effect = worseEffect(run.effect, data.effect);
  run.operations = named(run.operations, data.operations);
}

function firstRunningFrom(children: Rows<ChildState>, from: number): number {
  let place = from;
  for (let child = children.at(place); child !== undefined && !isWaitedFor(child); ) {
    place += 1;
    child = children.at(place);
  }
  return place;
}

function changeCall(run: RunDraft, call: CallState | undefined, change: CallChange): void {
  if (call === undefined) return;
  const next = changedCall(call, change);
  run.calls = run.calls.with(call.index - 1, next);
  run.agenda = agendaAfter(run.agenda, call, next);
}

function operation(state: RunState, callId: string, name: string, how: string): string {
  const index = callOf(state, callId)?.index ?? 0;
  return `${name} (${callFrame(state.turn, index)}, ${how})`;
}

function named(before: readonly string[], more: readonly string[]): readonly string[] {
  return more.length === 0 ? before : [...before, ...more].slice(0, OPERATIONS_MAX);
}
