import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  readReviewCall,
  reviewOfAnswer,
  submitReviewSpec,
} from '../../../src/runtime/core/plan-review.ts';

function words(args: JsonObject): string {
  const said = readReviewCall(args, ['api', 'tests']);
  return said.ok ? '' : said.words;
}

describe('submit_review', () => {
  it('P7: accept needs nothing, and a rework its remarks', () => {
    expect(readReviewCall({ verdict: 'accept' }, ['api'])).toEqual({
      ok: true,
      verdict: { verdict: 'accept', feedback: {}, summary: null },
    });
    const args = { verdict: 'rework', feedback: { api: ' no tests ' }, summary: ' so so ' };
    expect(readReviewCall(args, ['api', 'tests'])).toEqual({
      ok: true,
      verdict: { verdict: 'rework', feedback: { api: 'no tests' }, summary: 'so so' },
    });
  });

  it('P7: a rework without any remark is refused', () => {
    const needs =
      'submit_review: "rework" needs \'feedback\' with remarks on at least one of the reviewed tasks: api, tests';
    expect(words({ verdict: 'rework' })).toBe(needs);
    expect(words({ verdict: 'rework', feedback: {} })).toBe(needs);
    expect(words({ verdict: 'rework', feedback: { api: null } })).toBe(needs);
    expect(words({ verdict: 'rework', feedback: { api: ' ' } })).toBe(
      "submit_review: 'feedback' for 'api' is empty; say what is to be changed or leave it out",
    );
  });

  it('P7: feedback for a task that is not reviewed is refused, and the reviewed ones are named', () => {
    expect(words({ verdict: 'rework', feedback: { docs: 'x', api: 'y' } })).toBe(
      "submit_review: 'feedback' names 'docs', which this task does not review; reviewed: api, tests",
    );
    expect(words({ verdict: 'accept', feedback: { constructor: 'x' } })).toMatch(/'constructor'/);
  });

  it('R5: every fault of the arguments is said at once', () => {
    expect(words({ verdit: 'accept', feedback: ['x'], summary: 3 })).toBe(
      "submit_review: unknown parameter 'verdit'; did you mean 'verdict'?; 'verdict' must be \"accept\" or \"rework\", found nothing; 'feedback' must be an object of remarks by task id; 'summary' must be a text",
    );
  });

  it('P7: submitted twice in one answer, the first valid verdict counts and the other is not executed', () => {
    const said = reviewOfAnswer(
      [
        { name: 'submit_review', args: { verdict: 'rework' } },
        { name: 'submit_review', args: { verdict: 'accept' } },
        { name: 'submit_review', args: { verdict: 'rework', feedback: { api: 'x' } } },
      ],
      ['api'],
    );
    expect(said?.verdict.verdict).toBe('accept');
    expect(said?.at).toBe(1);
    expect([...(said?.refusals.keys() ?? [])]).toEqual([0, 2]);
    expect(said?.refusals.get(2)).toBe(
      'Not executed: call 2 of this answer submitted the review, and the first valid verdict counts.',
    );
  });

  it('P7: a verdict beside other calls ends the run, and none of them is executed', () => {
    const said = reviewOfAnswer(
      [
        { name: 'read_file', args: { path: 'a' } },
        { name: 'submit_review', args: { verdict: 'accept' } },
        { name: 'shell', args: null },
      ],
      ['api'],
    );
    expect(said?.at).toBe(1);
    expect(said?.refusals.get(0)).toMatch(/^Not executed: call 2 of this answer/);
    expect(said?.refusals.get(2)).toMatch(/a verdict ends the run at once/);
  });

  it('P7: an answer without a valid verdict has none, whatever it says', () => {
    expect(reviewOfAnswer([{ name: 'submit_review', args: null }], ['api'])).toBeNull();
    expect(reviewOfAnswer([{ name: 'accept', args: { verdict: 'accept' } }], ['api'])).toBeNull();
  });

  it('P7: the schema is strict and holds the reviewed tasks as the only keys of feedback', () => {
    const check = new Ajv({ strict: true }).compile(submitReviewSpec(['api', 'tests']).parameters);
    expect(check({ verdict: 'rework', feedback: { api: 'x' }, summary: 's' })).toBe(true);
    expect(check({ verdict: 'rework', feedback: { docs: 'x' } })).toBe(false);
    expect(check({ feedback: { api: 'x' } })).toBe(false);
  });
});
