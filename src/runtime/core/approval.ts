import type { CallRisk } from './agent-protocol.ts';
import { eventId } from './event.ts';
import type { RunSpec } from './run-spec.ts';
import type { CallState } from './run-state.ts';
import type { ToolEffect } from './tool.ts';

export type ApprovalNeed = 'run' | 'ask' | 'refuse';

/**
 * What must happen before a tool call or a delegation (SPEC X3). `always_ask` beats `auto_approve` and every autonomy.
 * `auto_approve` names tools, never commands: for a command line it stands only for what its `risk` says is harmless, as
 * long as `require_approval_for_medium_risk` holds.
 */
export function approvalNeed(
  spec: Pick<
    RunSpec,
    | 'autonomy'
    | 'always_ask'
    | 'auto_approve'
    | 'require_tool_approval'
    | 'require_approval_for_medium_risk'
  >,
  tool: string,
  effect: ToolEffect | 'delegation',
  risk: CallRisk | null = null,
): ApprovalNeed {
  const acts = effect === 'effectful' || effect === 'idempotent';
  if (spec.autonomy === 'read_only' && acts) return 'refuse';
  if (names(spec.always_ask, tool) || spec.require_tool_approval) return 'ask';
  if (spec.autonomy !== 'supervised' || !acts) return 'run';
  if (!names(spec.auto_approve, tool)) return 'ask';
  const isRisky = risk === 'medium' || risk === 'high';
  return isRisky && spec.require_approval_for_medium_risk !== false ? 'ask' : 'run';
}

function names(list: readonly string[], tool: string): boolean {
  return list.includes(tool) || list.includes('*');
}

/** The id of a request that is being waited for: that of its event, so that it is the same after a restart. */
export function approvalId(runId: string, call: CallState): string {
  return eventId(runId, call.cause);
}
