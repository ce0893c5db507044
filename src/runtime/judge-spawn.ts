import type { CallCheck } from './core/agent-protocol.ts';
import { approvalNeed } from './core/approval.ts';
import { argumentsOf, refused } from './core/call-arguments.ts';
import { judgeDelegation } from './core/gate.ts';
import type { ToolCallPart } from './core/message.ts';
import { type Narrowed, narrow } from './core/narrow.ts';
import type { CallVerdict } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import { type AskedNarrowing, readSpawnNarrowing, readSpawnPrompt } from './core/spawn-call.ts';
import { lookUpPaths } from './look-up-paths.ts';
import { callerOf } from './run-offer.ts';
import type { RunTree } from './run-tree.ts';

/** SPEC S2: the guards in their order; then what the sub-agent is to be held to (SPEC S4). */
export function spawnVerdict(
  tree: RunTree,
  spec: RunSpec,
  part: ToolCallPart,
  check: CallCheck,
): CallVerdict {
  const args = argumentsOf(part, check);
  if ('kind' in args) return args;
  const prompt = readSpawnPrompt(args.args);
  if (prompt === null) return refused('invalid_arguments', "Missing or empty 'prompt' parameter");
  if (spec.is_subagent) {
    return refused(
      'depth_limit',
      'spawn_subagent: a subagent may not spawn its own subagents (depth-1 cap)',
    );
  }
  if (!spec.tools.includes('spawn_subagent')) {
    return refused(
      'tool_not_allowed',
      `spawn_subagent: refused — agent '${spec.agent_id}' risk_profile does not list spawn_subagent in allowed_tools`,
    );
  }
  const asked = readSpawnNarrowing(args.args);
  if (!asked.ok) return refused('invalid_arguments', asked.words);
  const narrowed = asked.value === null ? null : narrowedBy(tree, spec, asked.value);
  if (narrowed?.ok === false) {
    return refused('rights_widened', `subagent spawn failed: ${narrowed.words}`);
  }
  const full = tree.launches.reserve(spec.root_run_id);
  if (full !== null) return refused('runs_limit', full);
  const approval = approvalNeed(spec, 'spawn_subagent', 'delegation') === 'ask';
  const own = { kind: 'subagent', prompt, approval } as const;
  return narrowed === null ? own : { ...own, narrowing: narrowed.narrowing };
}

function narrowedBy(tree: RunTree, spec: RunSpec, asked: AskedNarrowing): Narrowed {
  const looked = lookUpPaths(spec.scope.files[0]?.workspaceDir ?? '/', asked);
  const { allowed: mayDelegate } = judgeDelegation(tree.config, callerOf(spec));
  return narrow({ ...spec, mayDelegate }, looked);
}
