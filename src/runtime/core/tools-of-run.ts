import type { AgentConfig, Autonomy, ResolvedConfig, RiskProfile } from './config.ts';
import { judgeDelegation } from './gate.ts';
import type { Narrowing } from './narrowing.ts';
import { SUBMIT_REVIEW } from './plan-review.ts';
import type { ToolDefinition } from './tool.ts';

export interface ToolsQuestion {
  readonly config: ResolvedConfig;
  readonly agent: AgentConfig;
  readonly risk: RiskProfile;
  /** Every tool there is, without the control tools. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  readonly raw: boolean;
  readonly isSubagent: boolean;
  readonly isReviewer: boolean;
  readonly depth: number;
  readonly depthMax: number;
  /** The caller's own tools, which bound a child's (SPEC G8); `null` for a root and for an independent delegate. */
  readonly ceiling: readonly string[] | null;
  /** How it acts after every narrowing. */
  readonly autonomy: Autonomy;
  readonly narrowings: readonly Narrowing[];
}

const DELEGATION_TOOLS = ['agents', 'delegate', 'plan'];

/**
 * The names in a run's registry. Delegation tools are there by their own gates (SPEC G1, G3, G10), not by lists of
 * allowed tools nor by the caller's ceiling: a child may delegate if its own definition allows it. An exclusion by name
 * still holds, and so does what a sub-agent was narrowed to (SPEC S4).
 */
export function toolsOfRun(question: ToolsQuestion): string[] {
  const { agent, risk, tools, ceiling } = question;
  const admitted = (name: string) =>
    isLeft(question, name) &&
    !risk.excludedTools.includes(name) &&
    (risk.allowedTools.length === 0 || risk.allowedTools.includes(name)) &&
    (agent.tools === null || agent.tools.includes(name)) &&
    (ceiling === null || ceiling.includes(name));
  // SPEC X3, G2: a read-only run is not offered what it would be refused.
  const fits = (tool: ToolDefinition) =>
    question.autonomy !== 'read_only' || tool.effect === 'read';
  const names = [...tools.values()]
    .filter(fits)
    .map((tool) => tool.name)
    .filter(admitted);
  if (!question.isSubagent && admitted('spawn_subagent')) names.push('spawn_subagent');
  if (mayDelegate(question)) {
    const open = (name: string) => !risk.excludedTools.includes(name) && isLeft(question, name);
    names.push(...DELEGATION_TOOLS.filter(open));
  }
  if (question.isReviewer) names.push(SUBMIT_REVIEW);
  return names.sort();
}

/** Has nobody above taken the tool away, nor is it one that sub-agents never have (SPEC S4, S6)? */
function isLeft({ narrowings, isSubagent }: ToolsQuestion, name: string): boolean {
  if (isSubagent && name === 'model_switch') return false;
  return narrowings.every(
    ({ allowed_tools: allowed, excluded_tools: excluded, delegation }) =>
      (allowed?.includes(name) ?? true) &&
      !(excluded?.includes(name) ?? false) &&
      !(delegation === 'forbidden' && DELEGATION_TOOLS.includes(name)),
  );
}

function mayDelegate(question: ToolsQuestion): boolean {
  if (question.depth >= question.depthMax) return false;
  const { agent } = question;
  const caller = question.raw ? { raw: true as const, definition: agent } : agent.id;
  return judgeDelegation(question.config, caller).allowed;
}
