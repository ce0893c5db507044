import { approvalId } from './core/approval.ts';
import type { RunCommand } from './core/run-command.ts';
import type { RunEffect } from './core/run-due.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { EnginePort } from './engine.ts';

/** What a call is told of a host that has no way to a person. */
const NOBODY =
  "nobody can be asked in this host (it was opened without onApproval and without approvals: 'wait')";

/**
 * Asks a person about a call (SPEC X3): again, and under the same id, by every host that takes the run up. Denied where
 * nobody could answer or nobody does in time; the time counts from when this host asked.
 * @returns how to take the question back.
 */
export function askApproval(
  engine: EnginePort,
  spec: RunSpec,
  runId: string,
  { turn, call }: Extract<RunEffect, { type: 'approval.ask' }>,
  settle: (command: RunCommand | null) => void,
): () => void {
  const say = (granted: boolean, by: string, why: string) =>
    settle({ type: 'approval', turn, call: call.index, granted, by, why });
  const limit = spec.approval_timeout_ms;
  let withdraw: ((reason: Error) => void) | null = null;
  const untime = engine.clock.after(limit, () => {
    withdraw?.(new Error('approval timed out'));
    say(false, 'runtime', `nobody answered within ${limit / 1000} s (approval_timeout_secs)`);
  });
  const request = {
    id: approvalId(runId, call),
    runId,
    agentId: spec.agent_id,
    callId: call.id,
    tool: call.name,
    args: JSON.parse(call.args_text.trim() === '' ? '{}' : call.args_text),
    expiresAtMs: engine.clock.now() + limit,
  };
  withdraw = engine.approve(request, ({ granted, by, why }) => {
    untime();
    say(granted, by, why);
  });
  if (withdraw === null) {
    untime();
    say(false, 'runtime', NOBODY);
    return () => undefined;
  }
  return () => {
    untime();
    withdraw?.(new Error('the run is being stopped'));
    settle(null);
  };
}
