import type { JsonObject } from '../../base/json.ts';
import type { ChildOutcome } from './run-event.ts';

/** What a parent's model reads of a child, and whether it reads it as a success. */
export interface ChildResult {
  readonly isError: boolean;
  readonly errorType: string;
  readonly text: string;
  readonly partial: string;
}

/** Words of SPEC D5 and D6 for a child reached by `delegate`. */
export function delegateResult(outcome: ChildOutcome): ChildResult {
  const name = outcome.agent_id;
  switch (outcome.status) {
    case 'completed':
      return success(`[Agent '${name}' (${outcome.model_label})]\n${outcome.answer}`);
    case 'incomplete':
      return failure(
        'incomplete',
        `Agent '${name}' ended without its own final answer: ${reasonOf(outcome)}.${uncertainty(outcome)}`,
        outcome.answer,
      );
    case 'cancelled':
      return outcome.stopped_by === 'deadline'
        ? failure(
            'timeout',
            `Agent '${name}' ${outcome.reason ?? 'timed out'}${uncertainty(outcome)}`,
            '',
          )
        : failure(
            'cancelled',
            `Agent '${name}' was cancelled: ${outcome.reason ?? 'no reason given'}.${uncertainty(outcome)}`,
            '',
          );
    case 'failed':
      return failure(
        outcome.error_type ?? 'failed',
        `Agent '${name}' failed: ${outcome.error ?? 'unknown error'}${uncertainty(outcome)}`,
        '',
      );
  }
}

/** Words of SPEC S3 for a child of `spawn_subagent`: exactly its final answer, no prefix. */
export function subagentResult(outcome: ChildOutcome): ChildResult {
  if (outcome.status === 'completed') {
    return success(
      outcome.answer.trim() === '' ? 'subagent completed without output' : outcome.answer,
    );
  }
  const wrapped =
    outcome.status === 'failed'
      ? (outcome.error ?? 'unknown error')
      : `${outcome.status}: ${reasonOf(outcome)}`;
  const launched = outcome.error_type !== 'agent_resolution_failed';
  const words = launched ? `subagent run failed: ${wrapped}` : `subagent spawn failed: ${wrapped}`;
  return failure(
    outcome.error_type ?? outcome.status,
    `${words}${uncertainty(outcome)}`,
    outcome.status === 'incomplete' ? outcome.answer : '',
  );
}

/** A limit that was met says more than its name. */
function reasonOf({ reason, error }: ChildOutcome): string {
  const why = reason ?? 'no reason given';
  return error === null ? why : `${why} (${error})`;
}

/** The structured result beside the text (SPEC D5). */
export function structuredResult(outcome: ChildOutcome): JsonObject {
  return {
    status: outcome.status,
    child_run_id: outcome.child_run_id,
    turns: outcome.turns,
    effect: outcome.effect,
    usage: { ...outcome.usage },
    cost_cents: outcome.cost_cents,
  };
}

function uncertainty(outcome: ChildOutcome): string {
  if (outcome.effect === 'none') return '';
  const named = outcome.operations.length === 0 ? 'its changes' : outcome.operations.join(', ');
  return `\nWarning: the effects of this run are uncertain: ${named}. Check what was really done before relying on it or repeating it.`;
}

function success(text: string): ChildResult {
  return { isError: false, errorType: '', text, partial: '' };
}

function failure(errorType: string, text: string, partial: string): ChildResult {
  return { isError: true, errorType, text, partial };
}
