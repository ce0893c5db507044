import type { Json, JsonObject } from '../../base/json.ts';
import type { RefusedCall } from './delegate-arguments.ts';
import { nearest } from './nearest.ts';
import type { ReviewVerdict } from './plan-event.ts';
import type { ChildOutcome } from './run-event.ts';
import type { ToolSpec } from './tool.ts';

export const SUBMIT_REVIEW = 'submit_review';

const FIELDS = ['verdict', 'feedback', 'summary'];

/** How `submit_review` is advertised to a reviewer of these tasks, and to nobody else (SPEC P7). */
export function submitReviewSpec(reviewed: readonly string[]): ToolSpec {
  const remarks = reviewed.map((id) => [
    id,
    { type: 'string', minLength: 1, description: `What is to be changed in the work of '${id}'.` },
  ]);
  return {
    name: SUBMIT_REVIEW,
    description:
      `Submits your review of ${reviewed.join(', ')} and ends your run. Call it exactly once, alone, when you have looked at everything. ` +
      'accept: the work is taken as it is. rework: every task named in feedback is done again with your remarks, and you review it again. ' +
      'What you only write as text is no verdict.',
    parameters: {
      type: 'object',
      properties: {
        verdict: { type: 'string', enum: ['accept', 'rework'] },
        feedback: {
          type: 'object',
          properties: Object.fromEntries(remarks),
          additionalProperties: false,
          description:
            'Remarks by task id, complete in themselves. With rework at least one; a task without remarks is accepted.',
        },
        summary: { type: 'string', description: 'The review in a few sentences.' },
      },
      required: ['verdict'],
      additionalProperties: false,
    },
  };
}

export type ReadReviewCall = { readonly ok: true; readonly verdict: ReviewVerdict } | RefusedCall;

/** The arguments of `submit_review`, checked by SPEC P7; every fault is named. A refused call ends nothing. */
export function readReviewCall(args: JsonObject, reviewed: readonly string[]): ReadReviewCall {
  const faults = unknownFaults(args);
  const verdict = given(args, 'verdict');
  const isRework = verdict === 'rework';
  if (!isRework && verdict !== 'accept') {
    const found = verdict === undefined ? 'nothing' : JSON.stringify(verdict);
    faults.push(`'verdict' must be "accept" or "rework", found ${found}`);
  }
  const feedback = readFeedback(given(args, 'feedback'), reviewed, faults);
  if (isRework && faults.length === 0 && Object.keys(feedback).length === 0) {
    faults.push(
      `"rework" needs 'feedback' with remarks on at least one of the reviewed tasks: ${reviewed.join(', ')}`,
    );
  }
  const summary = given(args, 'summary');
  if (summary !== undefined && typeof summary !== 'string') {
    faults.push("'summary' must be a text");
  }
  if (faults.length > 0) return { ok: false, words: `${SUBMIT_REVIEW}: ${faults.join('; ')}` };
  const text = typeof summary === 'string' ? summary.trim() : '';
  return {
    ok: true,
    verdict: { verdict: isRework ? 'rework' : 'accept', feedback, summary: text || null },
  };
}

function unknownFaults(args: JsonObject): string[] {
  return Object.keys(args)
    .filter((name) => !FIELDS.includes(name) && given(args, name) !== undefined)
    .map((name) => {
      const meant = nearest(name, FIELDS);
      const advice = meant === null ? `allowed: ${FIELDS.join(', ')}` : `did you mean '${meant}'?`;
      return `unknown parameter '${name}'; ${advice}`;
    });
}

function given(from: JsonObject, name: string): Json | undefined {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return value === null ? undefined : value;
}

function readFeedback(
  value: Json | undefined,
  reviewed: readonly string[],
  faults: string[],
): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push("'feedback' must be an object of remarks by task id");
    return {};
  }
  const remarks: [string, string][] = [];
  for (const [id, words] of Object.entries(value)) {
    if (!reviewed.includes(id)) {
      faults.push(
        `'feedback' names '${id}', which this task does not review; reviewed: ${reviewed.join(', ')}`,
      );
    } else if (typeof words !== 'string') {
      if (words !== null) faults.push(`'feedback' for '${id}' must be a text`);
    } else if (words.trim() === '') {
      faults.push(`'feedback' for '${id}' is empty; say what is to be changed or leave it out`);
    } else remarks.push([id, words.trim()]);
  }
  return Object.fromEntries(remarks);
}

/** One call of a reviewer's answer; `args` is `null` where its text was no JSON object. */
export interface ReviewerCall {
  readonly name: string;
  readonly args: JsonObject | null;
}

export interface ReviewOfAnswer {
  readonly verdict: ReviewVerdict;
  /** Index of the call that counts. */
  readonly at: number;
  /** Words for every other call of the answer, by index: none of them is executed. */
  readonly refusals: ReadonlyMap<number, string>;
}

/**
 * The verdict of an answer, or `null` where it holds no valid one. The first valid `submit_review` ends the run, so
 * nothing beside it is executed: neither a second verdict nor another tool, whichever side of it they stand on.
 */
export function reviewOfAnswer(
  calls: readonly ReviewerCall[],
  reviewed: readonly string[],
): ReviewOfAnswer | null {
  for (const [at, call] of calls.entries()) {
    if (call.name !== SUBMIT_REVIEW || call.args === null) continue;
    const read = readReviewCall(call.args, reviewed);
    if (!read.ok) continue;
    const others = [...calls.entries()].filter(([index]) => index !== at);
    const refusals = new Map(others.map(([index, { name }]) => [index, notExecuted(name, at)]));
    return { verdict: read.verdict, at, refusals };
  }
  return null;
}

function notExecuted(name: string, at: number): string {
  const why =
    name === SUBMIT_REVIEW ? 'the first valid verdict counts' : 'a verdict ends the run at once';
  return `Not executed: call ${at + 1} of this answer submitted the review, and ${why}.`;
}

/** What a reviewer's dependents and the summary read as its answer. */
export function reviewAnswer(said: ReviewVerdict | null, outcome: ChildOutcome): string {
  if (said === null) {
    if (outcome.status === 'completed') return outcome.answer;
    const why = outcome.error ?? outcome.reason;
    const how = why === null ? outcome.status : `${outcome.status}: ${why}`;
    return `No review was submitted (the reviewer's run ended as ${how}); the work was accepted by default.`;
  }
  const remarks = Object.entries(said.feedback).map(([id, words]) => `On '${id}': ${words}`);
  const summary = said.summary === null ? [] : [said.summary];
  return [`Verdict: ${said.verdict}`, ...summary, ...remarks].join('\n\n');
}
