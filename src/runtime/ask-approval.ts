import { messageOf } from '../base/fault.ts';
import type { RunCommand } from './core/run-command.ts';
import type { RunEffect } from './core/run-due.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { EnginePort } from './engine.ts';

/**
 * Asks a person about a call (SPEC X3): again by every host that takes the run up, and denied where nobody can answer or
 * nobody does in time. @returns how to take the question back.
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
  if (engine.approve === null) {
    say(false, 'runtime', 'nobody can be asked in this host');
    return () => undefined;
  }
  const abort = new AbortController();
  const limit = spec.approval_timeout_ms;
  const untime = engine.clock.after(limit, () => {
    say(false, 'runtime', `nobody answered within ${limit / 1000} s (approval_timeout_secs)`);
    abort.abort(new Error('approval timed out'));
  });
  const request = {
    runId,
    agentId: spec.agent_id,
    callId: call.id,
    tool: call.name,
    args: JSON.parse(call.args_text.trim() === '' ? '{}' : call.args_text),
  };
  engine
    .approve(request, abort.signal)
    .then(
      (answer) => say(answer.granted, answer.by, answer.why),
      (thrown: unknown) => say(false, 'runtime', `asking failed: ${messageOf(thrown)}`),
    )
    .finally(untime);
  return () => {
    untime();
    abort.abort(new Error('the run is being stopped'));
    settle(null);
  };
}
