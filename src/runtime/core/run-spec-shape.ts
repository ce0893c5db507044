import {
  amount,
  count,
  flag,
  listOf,
  nullable,
  object,
  oneOf,
  optional,
  place,
  record,
  text,
} from './shape.ts';

const texts = listOf(text);

const fileScope = record({
  workspaceDir: text,
  workspaceOnly: flag,
  roots: texts,
  readRoots: texts,
  writeRoots: texts,
  forbidden: texts,
  protected: texts,
});

/** Of a job: what a time of it and a run that was started by hand have alike. */
export const CRON_FIELDS = { job_id: text, schedule: text, time_zone: nullable(text) };

/** What a sub-agent's launch took away (SPEC S4), in its call's verdict and in its record. */
export const NARROWING = record({
  autonomy: optional(oneOf('read_only', 'supervised', 'full')),
  files: optional(listOf(fileScope)),
  allowed_commands: optional(texts),
  shell_env_passthrough: optional(texts),
  shell_timeout_ms: optional(amount),
  block_high_risk_commands: optional(flag),
  require_approval_for_medium_risk: optional(flag),
  require_tool_approval: optional(flag),
  auto_approve: optional(texts),
  always_ask: optional(texts),
  allowed_tools: optional(texts),
  excluded_tools: optional(texts),
  delegation: optional(oneOf('forbidden')),
  actions_per_hour_max: optional(amount),
  cost_per_day_max_cents: optional(amount),
  memory_readable: optional(texts),
});

/** The shape of a `RunSpec`, version 1. */
export const RUN_SPEC = record({
  agent_id: text,
  agent_name: text,
  project: nullable(text),
  origin: oneOf('user', 'cron', 'delegate', 'subagent', 'plan'),
  raw: flag,
  inline: optional(nullable(object)),
  cron: optional(nullable(record({ ...CRON_FIELDS, due_at_ms: nullable(amount) }))),
  background: optional(record({ task_id: text, results_dir: text })),
  root_run_id: text,
  depth: count,
  depth_max: count,
  width_max: place,
  order: oneOf('fifo', 'eager'),
  identical: oneOf('share', 'run'),
  is_subagent: flag,
  independent: optional(flag),
  narrowings: optional(listOf(NARROWING)),
  session_key: text,
  prompt: text,
  system_prompt: text,
  model: record({ provider: text, model: text }),
  provider_type: text,
  agentic: flag,
  max_turns: place,
  started_at_ms: amount,
  max_run_ms: nullable(amount),
  delegation_timeout_ms: nullable(amount),
  parallel_tools: flag,
  result_chars_max: count,
  turn_result_chars_max: count,
  approval_timeout_ms: amount,
  review_of: optional(texts),
  tools: texts,
  risk_profile: text,
  autonomy: oneOf('read_only', 'supervised', 'full'),
  auto_approve: texts,
  always_ask: texts,
  require_tool_approval: flag,
  require_approval_for_medium_risk: optional(flag),
  budget: optional(
    record({
      actions_per_hour_max: amount,
      cost_per_day_max_cents: amount,
      agent: optional(record({ actions_per_hour_max: amount, cost_per_day_max_cents: amount })),
      own: optional(flag),
    }),
  ),
  memory: optional(record({ own: text, readable: texts })),
  scope: record({
    files: listOf(fileScope),
    commands: record({
      allowed: texts,
      envPassthrough: texts,
      timeoutMs: amount,
      blockHighRisk: flag,
    }),
  }),
  security: record({
    principal: text,
    org_position: nullable(text),
    policy_version: text,
    files: fileScope,
  }),
});
