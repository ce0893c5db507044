import type { ApprovalAnswer, ApprovalRequest } from './runtime/engine.ts';

export type { ApprovalAnswer, ApprovalRequest };

/**
 * A program's own way to ask a person: yes or no, or who said so and why. Nothing but `true` is a yes. The signal aborts
 * once the answer is no longer wanted: it was given elsewhere, its time is over, or the run is being stopped.
 */
export type ApprovalAsker = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<boolean | ApprovalAnswer> | boolean | ApprovalAnswer;

/** What an asker said, whatever it really was: programs without types answer too. */
export function answerOf(said: unknown): ApprovalAnswer {
  if (typeof said !== 'object' || said === null) {
    const granted = said === true;
    return { granted, by: 'onApproval', why: granted ? 'approved' : 'denied' };
  }
  const { granted, by, why } = said as { granted?: unknown; by?: unknown; why?: unknown };
  return {
    granted: granted === true,
    by: typeof by === 'string' ? by : 'onApproval',
    why: typeof why === 'string' ? why : granted === true ? 'approved' : 'denied',
  };
}
