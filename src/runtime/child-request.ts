import { Fault } from '../base/fault.ts';
import type { ReachableTarget } from './core/gate.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ChildState } from './core/run-state.ts';
import type { LaunchOrder } from './launch-order.ts';
import type { RunRequest } from './resolve-run.ts';
import type { RunTree } from './run-tree.ts';

type OfHost = Pick<RunRequest, 'sessionKey' | 'startedAtMs' | 'protectedPaths'>;

/**
 * What a run asks for when it launches a child (SPEC G7).
 * @throws Fault `agent.unusable`, `agent.not-found`.
 */
export function childRequest(
  tree: RunTree,
  spec: RunSpec,
  child: ChildState,
  order: LaunchOrder,
  { sessionKey, startedAtMs, protectedPaths }: OfHost,
): RunRequest {
  const { agent, mode } = definitionOf(tree, spec, child, order);
  return {
    agent,
    independent: mode === 'independent',
    narrowing: order.narrowing ?? undefined,
    raw: spec.raw && child.kind === 'subagent',
    origin: child.kind,
    prompt: order.prompt,
    rootRunId: spec.root_run_id,
    cron: null,
    parent: spec,
    project: spec.project,
    security: spec.security,
    maxTurns: order.maxTurns,
    reviewOf: order.reviewOf,
    workspaceDir: spec.scope.files[0]?.workspaceDir ?? tree.config.baseDir,
    sessionKey,
    startedAtMs,
    protectedPaths,
  };
}

/**
 * A child's own definition as it is now: for `spawn_subagent` the caller's, also where that was given inline. For a task
 * of a plan (SPEC P12), and for whoever is to run under rights of its own (SPEC G8), its reachability is judged again
 * too; what was judged as bounded stays so.
 */
function definitionOf(
  tree: RunTree,
  spec: RunSpec,
  child: ChildState,
  order: LaunchOrder,
): Pick<ReachableTarget, 'agent' | 'mode'> {
  const inline = child.kind === 'subagent' ? spec.inline : null;
  const isJudgedAgain = child.kind === 'plan' || order.independent;
  const again = isJudgedAgain ? tree.findTarget(spec, child.agentId) : null;
  if (again?.ok === false) throw new Fault('agent.unusable', again.words);
  const agent = inline ?? tree.config.agents.get(child.agentId);
  if (agent === undefined) {
    throw new Fault('agent.not-found', `Agent '${child.agentId}' is not configured any more`);
  }
  if (!agent.enabled && child.kind !== 'subagent') {
    throw new Fault('agent.unusable', `Agent '${agent.id}' was disabled before its launch`);
  }
  return { agent, mode: again?.mode ?? 'bounded' };
}
