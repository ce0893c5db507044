import type { RunSpec } from './run-spec.ts';
import type { ToolEffect } from './tool.ts';

export type ApprovalNeed = 'run' | 'ask' | 'refuse';

/** What must happen before a tool call or a delegation (SPEC X3). `always_ask` beats `auto_approve` and every autonomy. */
export function approvalNeed(
  spec: Pick<RunSpec, 'autonomy' | 'always_ask' | 'auto_approve' | 'require_tool_approval'>,
  tool: string,
  effect: ToolEffect | 'delegation',
): ApprovalNeed {
  const acts = effect === 'effectful' || effect === 'idempotent';
  if (spec.autonomy === 'read_only' && acts) return 'refuse';
  if (names(spec.always_ask, tool) || spec.require_tool_approval) return 'ask';
  if (spec.autonomy === 'supervised' && acts && !names(spec.auto_approve, tool)) return 'ask';
  return 'run';
}

function names(list: readonly string[], tool: string): boolean {
  return list.includes(tool) || list.includes('*');
}
