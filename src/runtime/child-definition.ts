import { Fault } from '../base/fault.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ChildState } from './core/run-state.ts';
import type { LaunchOrder } from './launch-order.ts';
import type { RunRequest } from './resolve-run.ts';
import type { RunTree } from './run-tree.ts';

/** Which rights a child begins from. */
export type ChildDefinition = Pick<RunRequest, 'agent' | 'independent' | 'narrowing'>;

/**
 * A child's own definition as it is now: for `spawn_subagent` the caller's, also where that was given inline. For a task
 * of a plan (SPEC P12), and for whoever is to run under rights of its own (SPEC G8), its reachability is judged again
 * too; what was judged as bounded stays so.
 * @throws Fault `agent.unusable`, `agent.not-found`.
 */
export function definitionOf(
  tree: RunTree,
  spec: RunSpec,
  child: ChildState,
  order: LaunchOrder,
): ChildDefinition {
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
  const independent = again?.mode === 'independent';
  const { narrowing } = order;
  return narrowing === null ? { agent, independent } : { agent, independent, narrowing };
}
