import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import type { CallVerdict, ChildOutcome } from '../../src/runtime/core/run-event.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import { plainScope } from '../../src/runtime/core/tool.ts';

const files = plainScope('/w', true);

/** A run's record with everything at its simplest, and whatever a test says otherwise. */
export function specOf(change: Partial<RunSpec> = {}): RunSpec {
  return {
    agent_id: 'lead',
    agent_name: 'Lead',
    project: null,
    origin: 'user',
    raw: false,
    inline: null,
    root_run_id: 'run_r',
    depth: 0,
    depth_max: 2,
    width_max: 8,
    order: 'fifo',
    identical: 'share',
    is_subagent: false,
    session_key: 'run-1',
    prompt: 'do it',
    system_prompt: '',
    model: { provider: 'scripted.demo', model: 'scripted' },
    provider_type: 'scripted',
    agentic: true,
    max_turns: 40,
    started_at_ms: 0,
    max_run_ms: null,
    delegation_timeout_ms: null,
    parallel_tools: true,
    result_chars_max: 16_000,
    turn_result_chars_max: 64_000,
    approval_timeout_ms: 1000,
    review_of: [],
    tools: ['delegate'],
    risk_profile: 'p',
    autonomy: 'full',
    auto_approve: [],
    always_ask: [],
    require_tool_approval: false,
    scope: {
      files: [files],
      commands: { allowed: [], envPassthrough: [], timeoutMs: 1000, blockHighRisk: true },
    },
    security: { principal: 'me', org_position: null, policy_version: 'v', files },
    ...change,
  };
}

export interface SaidCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: object | string;
}

export function answerOf(text: string, calls: readonly SaidCall[] = []): ModelAnswer {
  return {
    text,
    calls: calls.map(({ id, name, args }, at) => ({
      id: id ?? `call_${at + 1}`,
      name,
      argsText: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    })),
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 },
    costCents: 1,
    servedBy: 'test',
    finishReason: 'stop',
    attempts: 1,
  };
}

export const readTool: CallVerdict = {
  kind: 'tool',
  place: 'actor',
  effect: 'read',
  approval: false,
};

export const writeTool: CallVerdict = { ...readTool, effect: 'effectful' };

export function delegateTo(agentId: string, prompt = 'part'): CallVerdict {
  return { kind: 'delegate', agent_id: agentId, prompt, max_turns: null, approval: false };
}

export function childOutcome(change: Partial<ChildOutcome> = {}): ChildOutcome {
  return {
    child_run_id: 'run_r/delegate/01',
    agent_id: 'a',
    status: 'completed',
    answer: 'done',
    full_path: null,
    turns: 1,
    effect: 'none',
    operations: [],
    usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 },
    cost_cents: 0,
    error_type: null,
    error: null,
    reason: null,
    stopped_by: null,
    model_label: 'scripted/m',
    review: null,
    ...change,
  };
}
