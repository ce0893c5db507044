import type { EventType } from './event.ts';
import { CRON_FIELDS, NARROWING, RUN_SPEC } from './run-spec-shape.ts';
import {
  amount,
  anything,
  byKind,
  count,
  flag,
  listOf,
  mapOf,
  nullable,
  object,
  oneOf,
  optional,
  place,
  record,
  type Shape,
  text,
} from './shape.ts';

/*
 * The shape of each type of event, by version (SPEC J2). A version once written stays here for good: readers accept
 * every older one. A field that a version got while nobody had it released is optional in it.
 */

const texts = listOf(text);
const usage = record({
  inputTokens: nullable(count),
  outputTokens: nullable(count),
  cachedInputTokens: nullable(count),
});
const effect = oneOf('none', 'applied', 'uncertain');
const toolEffect = oneOf('read', 'idempotent', 'effectful');
const endStatus = oneOf('completed', 'failed', 'cancelled', 'incomplete');

const review = record({
  verdict: oneOf('accept', 'rework'),
  feedback: mapOf(text),
  summary: nullable(text),
});

const task = record({
  id: text,
  agent_id: text,
  prompt: text,
  depends_on: texts,
  review_of: texts,
  max_turns: nullable(place),
});

const PLAN_FIELDS = {
  goal: nullable(text),
  tasks: listOf(task),
  max_rework: count,
  on_failure: oneOf('continue', 'stop', 'abort'),
  mode: oneOf('full', 'wave'),
};

const end = record({
  answer: text,
  turns: count,
  usage,
  cost_cents: nullable(amount),
  effect,
  operations: texts,
  error_type: nullable(text),
  error: nullable(text),
  reason: nullable(text),
  by: nullable(text),
  review: optional(nullable(review)),
});

const call = record({
  id: text,
  name: text,
  args_text: text,
  provider_meta: optional(object),
  verdict: byKind({
    tool: record({
      place: oneOf('actor', 'compute', 'host', 'control'),
      effect: toolEffect,
      approval: flag,
    }),
    delegate: record({
      agent_id: text,
      prompt: text,
      max_turns: nullable(place),
      approval: flag,
      task_id: optional(text),
      mode: optional(oneOf('independent')),
    }),
    subagent: record({ prompt: text, approval: flag, narrowing: optional(NARROWING) }),
    parallel: record({
      entries: listOf(record({ agent_id: text, mode: optional(oneOf('independent')) })),
      prompt: text,
      max_turns: nullable(place),
      approval: flag,
    }),
    plan: record({ plan: record(PLAN_FIELDS), approval: flag }),
    review: record({ review }),
    shared: record({ with: place }),
    refused: record({ error_type: text, words: text }),
  }),
});

const RESULT_FIELDS = {
  call_id: text,
  name: text,
  text,
  chars: count,
  full_path: nullable(text),
  shared_with: optional(place),
  structured: optional(object),
};

const CHILD_END_FIELDS = {
  child_run_id: text,
  agent_id: text,
  ordinal: place,
  turns: count,
  effect,
  operations: texts,
  usage,
  cost_cents: nullable(amount),
};

const part = record({ text, full_path: nullable(text) });

const TASK_RUN_FIELDS = {
  task_id: text,
  child_run_id: text,
  agent_id: text,
  ordinal: place,
  round: place,
};
const TASK_END_FIELDS = { ...CHILD_END_FIELDS, ...TASK_RUN_FIELDS };
const ANSWER_FIELDS = { answer: text, full_path: nullable(text) };

const VERSION_1: Readonly<Record<EventType, Shape>> = {
  'run.started': RUN_SPEC,
  'run.resumed': record({
    why: oneOf('host_lost', 'thread_lost'),
    detail: text,
    suspect: optional(flag),
  }),
  'run.user_note': record({
    note_id: text,
    text,
    forwarded_to: texts,
    forward_failed: texts,
  }),
  'run.cron_skipped': record({ ...CRON_FIELDS, due_at_ms: amount }),
  'run.stopping': record({
    status: oneOf('cancelled', 'incomplete', 'failed'),
    reason: text,
    by: text,
    error_type: nullable(text),
  }),
  'run.completed': end,
  'run.failed': end,
  'run.cancelled': end,
  'run.incomplete': end,
  'note.read': record({ note_id: text, turn: place }),
  'note.too_late': record({ note_id: text }),
  'note.dead_letter': record({ note_id: text, why: text }),
  'turn.started': record({ turn: place }),
  'turn.completed': record({ turn: place }),
  'model.started': record({ turn: place, provider: text, model: text }),
  'model.completed': record({
    turn: place,
    text,
    calls: listOf(call),
    usage,
    cost_cents: nullable(amount),
    served_by: text,
    finish_reason: text,
    attempts: count,
    provider_meta: optional(object),
    raw: optional(anything),
  }),
  'model.failed': record({ turn: place, error_type: text, error: text }),
  'tool.started': record({ call_id: text, name: text, effect_class: toolEffect }),
  'tool.completed': record(RESULT_FIELDS),
  'tool.failed': record({ ...RESULT_FIELDS, error_type: text, error: text, effect }),
  'approval.requested': record({ call_id: text, name: text, args_text: text }),
  'approval.granted': record({ call_id: text, by: text }),
  'approval.denied': record({ call_id: text, by: text, why: text }),
  'delegation.started': record({
    child_run_id: text,
    agent_id: text,
    ordinal: place,
    depth: place,
    call: place,
    kind: oneOf('delegate', 'subagent'),
    task_id: optional(text),
  }),
  'delegation.completed': record({
    ...CHILD_END_FIELDS,
    child_status: endStatus,
    part: optional(part),
  }),
  'delegation.failed': record({ ...CHILD_END_FIELDS, error_type: text, part: optional(part) }),
  'plan.started': record({
    ...PLAN_FIELDS,
    operation_id: text,
    earlier: listOf(record({ task_id: text, child_run_id: text, ...ANSWER_FIELDS })),
  }),
  'plan.task.started': record({
    ...TASK_RUN_FIELDS,
    depth: place,
    depends_on: texts,
    max_turns: nullable(place),
  }),
  'plan.task.completed': record({
    ...TASK_END_FIELDS,
    ...ANSWER_FIELDS,
    child_status: endStatus,
    verdict: nullable(oneOf('accept', 'rework')),
    verdict_source: nullable(oneOf('submit_review', 'default')),
    feedback: mapOf(text),
    summary: nullable(text),
  }),
  'plan.task.failed': record({
    ...TASK_END_FIELDS,
    error_type: text,
    error: text,
    child_ops_completed: texts,
    child_ops_failed: texts,
    child_ops_uncertain: texts,
  }),
  'plan.task.incomplete': record({
    ...TASK_END_FIELDS,
    ...ANSWER_FIELDS,
    child_status: endStatus,
    reason: text,
  }),
  'plan.task.skipped': record({ task_id: text, reason: text, blocked_by: nullable(text) }),
  'plan.task.rejected': record({
    task_id: text,
    child_run_id: text,
    by: text,
    round: place,
    returns: place,
    remarks: text,
  }),
  'plan.task.reopened': record({ task_id: text, by: text, round: place }),
  'plan.task.invalidated': record({
    task_id: text,
    because_of: text,
    ordinal: nullable(place),
    child_run_id: nullable(text),
  }),
  'plan.task.discarded': record({ ...TASK_END_FIELDS, child_status: endStatus }),
  'plan.time_limit': record({ reason: text }),
  'plan.stopped': record({ task_id: text }),
  'plan.aborted': record({ task_id: text }),
  'plan.completed': record({
    operation_id: text,
    statuses: mapOf(oneOf('completed', 'failed', 'incomplete', 'skipped', 'not_started')),
    stopped_by: optional(text),
    aborted_by: optional(text),
    remaining: optional(texts),
  }),
};

/** By version, from 1. */
const SHAPES: readonly Readonly<Record<EventType, Shape>>[] = [VERSION_1];

/** What is wrong with an event's data; `null` = nothing, or its version is one that this troupe does not know. */
export function faultOfData(type: EventType, version: number, data: unknown): string | null {
  return SHAPES[version - 1]?.[type](data, 'data') ?? null;
}
