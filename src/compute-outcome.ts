import type { JobOutcome } from './actors/pool.ts';
import { assertNever } from './base/never.ts';
import type { ComputeJob } from './runtime/core/agent-protocol.ts';
import type { Effect, ToolOutcome } from './runtime/core/tool.ts';
import { failed } from './tools/core/failure.ts';

/** What a job's end on the compute pool means for its call; `partial` is what it had said before. */
export function computeOutcome(
  { name, timeoutMs }: ComputeJob,
  outcome: JobOutcome,
  reads: boolean,
  partial: string,
): ToolOutcome {
  const effect: Effect = reads ? 'none' : 'uncertain';
  const about = partial === '' ? { effect } : { effect, text: partial };
  switch (outcome.type) {
    case 'returned':
      return outcome.value as ToolOutcome;
    case 'threw':
      return failed('tool_failed', `${name} failed: ${outcome.fault.message}`, about);
    case 'killed':
      return outcome.by === 'timeout'
        ? failed('timeout', `${name} took longer than ${timeoutMs} ms`, about)
        : failed('cancelled', `${name} was cancelled: ${outcome.reason}`, about);
    case 'lost':
      return failed('thread_lost', `${name} ended its thread: ${outcome.detail}`, about);
    case 'refused':
      return failed('refused', `${name} was not started: ${outcome.fault.message}`);
    default:
      return assertNever(outcome);
  }
}
