import type { ApprovalAnswer, ApprovalRequest } from './runtime/engine.ts';

/** A program's own way to ask a person: yes or no, or who said so and why. */
export type ApprovalAsker = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<boolean | ApprovalAnswer> | boolean | ApprovalAnswer;

export function askerOf(
  asker: ApprovalAsker,
): (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer> {
  return async (request, signal) => {
    const said = await asker(request, signal);
    if (typeof said !== 'boolean') return said;
    return { granted: said, by: 'onApproval', why: said ? 'approved' : 'denied' };
  };
}
