import type { JournalEvent } from '../../src/runtime/core/event.ts';

/** What ends the run of a child in its parent's own record. */
const CHILD_ENDS: ReadonlySet<string> = new Set([
  'delegation.completed',
  'delegation.failed',
  'plan.task.completed',
  'plan.task.failed',
  'plan.task.incomplete',
  'plan.task.discarded',
]);

export function isLaunch({ type }: JournalEvent): boolean {
  return type === 'delegation.started' || type === 'plan.task.started';
}

/** SPEC D9: the launch of a child that nobody waits for. */
export function isBackground({ type, data }: JournalEvent): boolean {
  return type === 'delegation.started' && data['task_id'] !== undefined;
}

/** SPEC P9: a task that was sent back too often fails after its run has ended, which says nothing of that run. */
export function isChildEnd({ type, data }: JournalEvent): boolean {
  return CHILD_ENDS.has(type) && data['error_type'] !== 'rework_exhausted';
}

export function isResult({ type }: JournalEvent): boolean {
  return type === 'tool.completed' || type === 'tool.failed';
}

export function textIn({ data }: JournalEvent, key: string): string {
  return String(data[key] ?? '');
}

export function numberIn({ data }: JournalEvent, key: string): number {
  return Number(data[key]);
}
