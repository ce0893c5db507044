import type { CallCheck } from './core/agent-protocol.ts';
import { approvalNeed } from './core/approval.ts';
import { argumentsOf, refused } from './core/call-arguments.ts';
import { composePrompt, readDelegateCall } from './core/delegate-call.ts';
import type { DelegationTarget } from './core/gate.ts';
import type { ToolCallPart } from './core/message.ts';
import { SUBMIT_REVIEW } from './core/plan-review.ts';
import type { CallVerdict } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { RunState } from './core/run-state.ts';
import { signatureOf } from './core/run-verdict.ts';
import { planVerdict, reviewRefusal } from './judge-plan.ts';
import { spawnVerdict } from './judge-spawn.ts';
import type { RunTree } from './run-tree.ts';

/**
 * Judges the calls of one answer, each once and in their order: every gate, in the tool registry and not by prompt (SPEC
 * G2, G6).
 */
export function judgeOf(
  tree: RunTree,
  state: RunState,
  spec: RunSpec,
): (part: ToolCallPart, check: CallCheck | undefined) => CallVerdict {
  const launched = new Set<string>();
  /** SPEC R11: once for calls that share a child, and for a plan and its repetition (R6). */
  const reserve = (part: ToolCallPart, runs = 1) => {
    if (spec.identical === 'share' || part.name === 'plan') {
      const signature = signatureOf(part);
      if (launched.has(signature)) return null;
      launched.add(signature);
    }
    return tree.reserveLaunch(state.runId, runs);
  };
  const targets = new Map<string, DelegationTarget>();
  const find = (asked: string) => {
    const target = targets.get(asked) ?? tree.findTarget(spec, asked);
    targets.set(asked, target);
    return target;
  };
  return (part, check = { ok: false, errorType: 'unknown_tool', error: 'not checked' }) => {
    if (part.name === 'delegate') {
      const closed = tree.delegationRefusal(spec, 'delegate');
      return closed ?? delegateVerdict(reserve, find, spec, part, check);
    }
    if (part.name === 'spawn_subagent') return spawnVerdict(tree, spec, part, check);
    if (part.name === 'agents') return agentsVerdict(tree, spec, check);
    if (part.name === 'plan') return planVerdict(tree, reserve, state, spec, part, check);
    if (part.name === SUBMIT_REVIEW) return reviewRefusal(spec, part, check);
    return toolVerdict(tree, spec, part, check);
  };
}

function toolVerdict(
  tree: RunTree,
  spec: RunSpec,
  { name }: ToolCallPart,
  check: CallCheck,
): CallVerdict {
  const definition = tree.tools().get(name);
  if (definition === undefined) {
    const offered = spec.tools.length === 0 ? '(none)' : spec.tools.join(', ');
    return refused('unknown_tool', `Unknown tool: ${name}. Available tools: ${offered}`);
  }
  const need = approvalNeed(spec, name, definition.effect);
  if (need === 'refuse') {
    return refused(
      'read_only',
      `Security policy: read-only mode, cannot perform '${name}' (risk profile "${spec.risk_profile}" has autonomy = "read_only")`,
    );
  }
  if (!spec.tools.includes(name)) {
    return refused(
      'tool_not_allowed',
      `Tool not available to agent '${spec.agent_id}': ${name}. Its risk profile "${spec.risk_profile}" or the agents above it do not allow it.`,
    );
  }
  if (!check.ok) return refused(check.errorType, check.error);
  const { effect, place } = definition;
  return { kind: 'tool', place, effect, approval: need === 'ask' };
}

function agentsVerdict(tree: RunTree, spec: RunSpec, check: CallCheck): CallVerdict {
  const closed = tree.delegationRefusal(spec, 'agents');
  if (closed !== null) return closed;
  if (!check.ok) return refused(check.errorType, check.error);
  const approval = approvalNeed(spec, 'agents', 'read') === 'ask';
  return { kind: 'tool', place: 'control', effect: 'read', approval };
}

function delegateVerdict(
  reserve: (part: ToolCallPart) => string | null,
  find: (asked: string) => DelegationTarget,
  spec: RunSpec,
  part: ToolCallPart,
  check: CallCheck,
): CallVerdict {
  const args = argumentsOf(part, check);
  if ('kind' in args) return args;
  const call = readDelegateCall(args.args);
  if (!call.ok) return refused('invalid_arguments', call.words);
  const target = find(call.agentId);
  if (!target.ok) return refused('unreachable_target', target.words);
  const full = reserve(part);
  if (full !== null) return refused('runs_limit', full);
  return {
    kind: 'delegate',
    agent_id: target.agent.id,
    prompt: composePrompt(call.prompt, call.context),
    max_turns: call.maxTurns,
    approval: approvalNeed(spec, 'delegate', 'delegation') === 'ask',
    ...(target.mode === 'independent' && { mode: target.mode }),
  };
}
