import type { AgentConfig, DelegateEntry, RiskProfile } from './config.ts';

/** SPEC G8: nobody could be asked for what the target's profile always asks. @returns words; `null` where it may run. */
export function independenceRefusal(
  { agent, mode }: { readonly agent: AgentConfig; readonly mode: DelegateEntry['mode'] },
  callerId: string,
  { alwaysAsk }: RiskProfile,
): string | null {
  if (mode !== 'independent' || alwaysAsk.length === 0) return null;
  return `${start(agent.id, callerId)}: risk profile "${agent.riskProfile ?? ''}" has always_ask entries (${alwaysAsk.join(', ')}). See the README, "What is not supported".`;
}

/** SPEC S4: from below a narrowed sub-agent no way leads to rights that are not narrowed. */
export function narrowedRefusal(targetId: string, callerId: string): string {
  return `${start(targetId, callerId)}: a sub-agent above it was given less than its parent's rights, and an independent run would have more`;
}

function start(target: string, caller: string): string {
  return `delegate target "${target}" cannot run in independent mode from "${caller}"`;
}
