import { Fault } from '../base/fault.ts';
import { independentWords } from './core/call-arguments.ts';
import type { AgentConfig } from './core/config.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ChildState } from './core/run-state.ts';
import type { RunTree } from './run-tree.ts';

/**
 * A child's own definition as it is now: for `spawn_subagent` the caller's, also where that was given inline; for a task
 * of a plan its reachability is judged again too (SPEC P12).
 * @throws Fault `agent.unusable`, `agent.not-found`.
 */
export function definitionOf(tree: RunTree, spec: RunSpec, child: ChildState): AgentConfig {
  const inline = child.kind === 'subagent' ? spec.inline : null;
  const again = child.kind === 'plan' ? tree.findTarget(spec, child.agentId) : null;
  if (again?.ok === false) throw new Fault('agent.unusable', again.words);
  if (again?.mode === 'independent') {
    throw new Fault('agent.unusable', independentWords(child.agentId));
  }
  const agent = inline ?? tree.config.agents.get(child.agentId);
  if (agent === undefined) {
    throw new Fault('agent.not-found', `Agent '${child.agentId}' is not configured any more`);
  }
  if (!agent.enabled && child.kind !== 'subagent') {
    throw new Fault('agent.unusable', `Agent '${agent.id}' was disabled before its launch`);
  }
  return agent;
}
