import type { CallCheck } from './core/agent-protocol.ts';
import { approvalNeed } from './core/approval.ts';
import { argumentsOf, type ReadArguments, refused } from './core/call-arguments.ts';
import { composePrompt, readDelegateCall, readManagement } from './core/delegate-call.ts';
import type { DelegationTarget } from './core/gate.ts';
import type { ToolCallPart } from './core/message.ts';
import { SUBMIT_REVIEW } from './core/plan-review.ts';
import { actionsOf } from './core/run-actions.ts';
import type { CallVerdict, ParallelEntry } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { RunState } from './core/run-state.ts';
import { repeatsFreely, signatureOf } from './core/run-verdict.ts';
import { affordable } from './judge-budget.ts';
import { planVerdict, reviewRefusal } from './judge-plan.ts';
import { spawnVerdict } from './judge-spawn.ts';
import type { RunTree } from './run-tree.ts';

/**
 * Judges the calls of one answer, each once and in their order: every gate, in the tool registry and not by prompt (SPEC
 * G2, G6); the budget is the last of them. `isOnly`: the answer has one call.
 */
export function judgeOf(
  tree: RunTree,
  state: RunState,
  spec: RunSpec,
  isOnly: boolean,
): (part: ToolCallPart, check: CallCheck | undefined) => CallVerdict {
  const launched = new Set<string>();
  let tasks = 0;
  /** SPEC R11: once for calls that share a child, and for a plan and its repetition (R6). */
  const reserve = (part: ToolCallPart, runs = 1, isTask = false) => {
    if (spec.identical === 'share' || part.name === 'plan') {
      const signature = signatureOf(part);
      if (launched.has(signature)) return null;
      launched.add(signature);
    }
    const tooMany = isTask ? tree.tasks.refusal(tasks) : null;
    const full = tooMany ?? tree.launches.reserve(state.runId, runs);
    if (full === null && isTask) tasks += 1;
    return full;
  };
  const targets = new Map<string, DelegationTarget>();
  const find = (asked: string) => {
    const target = targets.get(asked) ?? tree.findTarget(spec, asked);
    targets.set(asked, target);
    return target;
  };
  const judge = (part: ToolCallPart, check: CallCheck) => {
    if (part.name === 'delegate') {
      const args = argumentsOf(part, check);
      return (
        manageVerdict(spec, args) ??
        tree.delegationRefusal(spec, 'delegate') ??
        delegateVerdict(reserve, find, () => tree.newTaskId(), spec, part, args)
      );
    }
    if (part.name === 'spawn_subagent') return spawnVerdict(tree, spec, part, check);
    if (part.name === 'agents') return agentsVerdict(tree, spec, check);
    if (part.name === 'plan') return planVerdict(tree, reserve, state, spec, part, check);
    if (part.name === SUBMIT_REVIEW) return reviewRefusal(spec, part, check);
    return toolVerdict(tree, spec, part, check);
  };
  const afforded = new Set<string>();
  return (part, check = { ok: false, errorType: 'unknown_tool', error: 'not checked' }) => {
    const verdict = judge(part, check);
    const { launches, tools } = actionsOf(verdict);
    if (launches + tools === 0) return verdict;
    // SPEC R6: a repetition does nothing of its own.
    if (!isOnly && !repeatsFreely(part.name, spec.identical)) {
      const signature = signatureOf(part);
      if (afforded.has(signature)) return verdict;
      afforded.add(signature);
    }
    return affordable(tree, state.runId, verdict);
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
  if (approvalNeed(spec, name, definition.effect) === 'refuse') {
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
  const asks = approvalNeed(spec, name, effect, check.risk) === 'ask';
  return { kind: 'tool', place, effect, approval: asks };
}

function agentsVerdict(tree: RunTree, spec: RunSpec, check: CallCheck): CallVerdict {
  const closed = tree.delegationRefusal(spec, 'agents');
  if (closed !== null) return closed;
  if (!check.ok) return refused(check.errorType, check.error);
  const approval = approvalNeed(spec, 'agents', 'read') === 'ask';
  return { kind: 'tool', place: 'control', effect: 'read', approval };
}

/**
 * SPEC D10 to D12; `null` where the call delegates. A run that was offered the tool may ask about its tasks and call them
 * off whatever has been forbidden since: what it started is still its own.
 */
function manageVerdict(spec: RunSpec, args: ReadArguments): CallVerdict | null {
  if ('kind' in args || !spec.tools.includes('delegate')) return null;
  const call = readManagement(args.args);
  if (call === null) return null;
  if (!call.ok) return refused('invalid_arguments', call.words);
  const approval = approvalNeed(spec, 'delegate', 'read') === 'ask';
  return { kind: 'tool', place: 'control', effect: 'read', approval };
}

function delegateVerdict(
  reserve: (part: ToolCallPart, runs: number, isTask: boolean) => string | null,
  find: (asked: string) => DelegationTarget,
  newTaskId: () => string,
  spec: RunSpec,
  part: ToolCallPart,
  args: ReadArguments,
): CallVerdict {
  if ('kind' in args) return args;
  const call = readDelegateCall(args.args);
  if (!call.ok) return refused('invalid_arguments', call.words);
  const entries: ParallelEntry[] = [];
  for (const agentId of call.agentIds) {
    const target = find(agentId);
    if (!target.ok) return refused('unreachable_target', target.words);
    const { agent, mode } = target;
    entries.push({ agent_id: agent.id, ...(mode === 'independent' && { mode }) });
  }
  const full = reserve(part, entries.length, call.isBackground);
  if (full !== null) return refused('runs_limit', full);
  const asked = {
    prompt: composePrompt(call.prompt, call.context),
    max_turns: call.maxTurns,
    approval: approvalNeed(spec, 'delegate', 'delegation') === 'ask',
  };
  const [only] = entries;
  return call.isParallel || only === undefined
    ? { kind: 'parallel', entries, ...asked }
    : { kind: 'delegate', ...only, ...asked, ...(call.isBackground && { task_id: newTaskId() }) };
}
