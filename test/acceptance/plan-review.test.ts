import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../support/model-server.ts';
import {
  accepts,
  planEnd,
  plans,
  reviewer,
  reviews,
  STAGE_AGENTS,
  sendsBack,
  submission,
  type TaskPart,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import {
  calls,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { ...STAGE_AGENTS, small: { runtime_profile: 'plain' } },
    blocks: { runtime_profiles: { plain: { agentic: false } } },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const broken: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };
const pair = [task('a'), reviewer('r', ['a'])];

/** One task and its reviewer. */
function reviewed(r: TaskPart, more: object = {}) {
  return tellPlan(stage, [plans(pair, more)], { a: ({ round }) => `A${round}`, r });
}

const endOfReview = (events: Awaited<ReturnType<typeof reviewed>>['events']) =>
  ofType(events, 'plan.task.completed').findLast(({ data }) => data['task_id'] === 'r')?.data;

describe('a reviewer', () => {
  it('P7: depends on what it reviews, is told so in its prompt, and alone is offered submit_review', async () => {
    const { story, prompts, events } = await reviewed(accepts('well done'));
    expect(story).toEqual(['started a', 'completed a', 'started r', 'completed r']);
    const [prompt] = prompts['r'] ?? [];
    expect(prompt).toContain("=== Answer of task 'a' ===\nA1\n=== End ===");
    expect(prompt).toMatch(
      /Review\nYou are the reviewer of: a\. .*call submit_review once, alone; it ends your run/,
    );
    const [doer, judge] = stage.requestsOf('worker').slice(-2);
    expect(doer?.tools).not.toContain('submit_review');
    expect(judge?.tools).toContain('submit_review');
    expect(endOfReview(events)).toMatchObject({
      verdict: 'accept',
      verdict_source: 'submit_review',
      summary: 'well done',
      child_status: 'completed',
    });
  });

  it('P7: submit_review ends the run at once: the reviewer is not asked again', async () => {
    const { run, events } = await reviewed(accepts('fine'));
    const child = `${run.id}/plan/02-r`;
    expect(ofType(ofRun(events, child), 'model.started')).toHaveLength(1);
    expect(typesOf(events, child).slice(-3)).toEqual([
      'tool.completed',
      'turn.completed',
      'run.completed',
    ]);
    expect(ofType(ofRun(events, child), 'run.completed')[0]?.data).toMatchObject({
      answer: 'fine',
      review: { verdict: 'accept', feedback: {}, summary: 'fine' },
    });
  });

  it.each([
    [submission('rework'), '"rework" needs \'feedback\' with remarks on at least one'],
    [
      submission('rework', { b: 'x' }),
      "'feedback' names 'b', which this task does not review; reviewed: a",
    ],
    [submission('maybe'), '\'verdict\' must be "accept" or "rework", found "maybe"'],
    [submission('rework', { a: '  ' }), "'feedback' for 'a' is empty"],
    [{ name: 'submit_review', args: '{"verdict":' }, 'not valid JSON at line 1'],
  ])(
    'P7: a submission that is no verdict is refused, and the reviewer may call again: %j',
    async (bad, words) => {
      let read = '';
      const { story, events } = await reviewed(({ turn, results }) => {
        if (turn === 1) return calls(bad);
        read = results[0] ?? '';
        return accepts('second try');
      });
      expect(read).toContain(words);
      expect(story.at(-1)).toBe('completed r');
      expect(endOfReview(events)).toMatchObject({
        verdict_source: 'submit_review',
        summary: 'second try',
      });
    },
  );

  it('P7: prose is no verdict: without the call the work is accepted by default, which is journaled and in the summary', async () => {
    const { events, summary, story } = await reviewed('I reject this: rework everything!');
    expect(story).not.toContain('rejected a by r');
    expect(endOfReview(events)).toMatchObject({
      verdict: 'accept',
      verdict_source: 'default',
      child_status: 'completed',
    });
    expect(summary).toContain('verdict: accept by default: it ended without calling submit_review');
  });

  it('P7: whose run fails accepts by default, and its dependents go on', async () => {
    const { events, summary, story } = await tellPlan(
      stage,
      [plans([...pair, task('z', { depends_on: ['r'] })])],
      { a: 'A', r: broken, z: 'Z' },
    );
    expect(story.at(-1)).toBe('completed z');
    expect(endOfReview(events)).toMatchObject({
      verdict_source: 'default',
      child_status: 'failed',
    });
    expect(summary).toContain(
      'verdict: accept by default: its run ended as failed without a review',
    );
  });

  it('R8, P7: that is not agentic is offered no tool, and accepts by default', async () => {
    const { events, story } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a'], { agent_id: 'small' })])],
      { a: 'A', r: { ...sendsBack({ a: 'never heard' }), text: 'I would send it back' } },
    );
    expect(stage.requestsOf('small').at(-1)?.tools).toEqual([]);
    expect(story.at(-1)).toBe('completed r');
    expect(endOfReview(events)).toMatchObject({
      verdict: 'accept',
      verdict_source: 'default',
      answer: 'I would send it back',
    });
  });

  it('P7: the first of two verdicts in one answer counts', async () => {
    const { story, events, run } = await reviewed(({ round }) =>
      round === 1 ? calls(submission('rework', { a: 'first' }), submission('accept')) : accepts(),
    );
    expect(story).toContain('rejected a by r');
    const refused = ofType(ofRun(events, `${run.id}/plan/02-r`), 'tool.failed');
    expect(refused.map(({ data }) => data)).toMatchObject([
      {
        error_type: 'run_ended',
        effect: 'none',
        error:
          'Not executed: call 1 of this answer submitted the review, and the first valid verdict counts.',
      },
    ]);
  });

  it('P7: nothing beside a verdict is carried out, on either side of it', async () => {
    const { run, events, outcome } = await reviewed(
      calls(
        { name: 'breaks_off' },
        submission('accept'),
        { name: 'spawn_subagent', args: { prompt: 'x' } },
        { name: 'say', args: { text: 'x' } },
      ),
    );
    const child = `${run.id}/plan/02-r`;
    const own = ofRun(events, child);
    expect(ofType(own, 'tool.started', 'delegation.started')).toEqual([]);
    expect(ofType(own, 'tool.failed').map(({ data }) => data['error_type'])).toEqual([
      'run_ended',
      'run_ended',
      'run_ended',
    ]);
    expect(outcome.effect).toBe('none');
  });

  it('P7: submit_review of a run that is no reviewer is an unknown tool', async () => {
    let read = '';
    const { story } = await tellPlan(stage, [plans([task('a')])], {
      a: ({ turn, results }) => {
        if (turn === 1) return accepts();
        read = results[0] ?? '';
        return 'A';
      },
    });
    expect(read).toContain('Unknown tool: submit_review. Only a reviewer of a plan has it.');
    expect(story).toEqual(['started a', 'completed a']);
  });

  it("P7, S7: a reviewer's sub-agent is no reviewer", async () => {
    const heard: string[][] = [];
    const { story } = await tellPlan(stage, [plans(pair)], {
      a: 'A',
      r: ({ turn }) =>
        turn === 1
          ? calls({ name: 'spawn_subagent', args: { prompt: 'look closely' } })
          : accepts(),
      look: ({ turn, results, request }) => {
        heard.push([...request.tools], [...results]);
        return turn === 1 ? sendsBack({ a: 'mine' }) : 'looked';
      },
    });
    expect(heard[0]).not.toContain('submit_review');
    expect(heard[3]?.[0]).toContain('Unknown tool: submit_review');
    expect(story).not.toContain('rejected a by r');
  });
});

describe('rework', () => {
  it('P8: the next prompt is the original, the upstream results, the remarks and the previous answer', async () => {
    const { story, prompts, events, run } = await tellPlan(
      stage,
      [plans([task('up'), task('a', { depends_on: ['up'] }), reviewer('r', ['a'])])],
      { up: 'UP', a: ({ round }) => `A${round}`, r: reviews({ a: 'more detail' }) },
    );
    expect(story).toEqual([
      'started up',
      'completed up',
      'started a',
      'completed a',
      'started r',
      'completed r',
      'rejected a by r',
      'reopened a',
      'invalidated r',
      'started a',
      'completed a',
      'started r',
      'completed r',
    ]);
    expect(prompts['a']?.[1]).toBe(
      [
        'a',
        "Upstream results\n\n=== Answer of task 'up' ===\nUP\n=== End ===",
        "Reviewer feedback\n\nTask 'r' sent your work of round 1 back. Do it again and follow these remarks:\n\nmore detail",
        '=== Your previous answer ===\nA1\n=== End ===',
      ].join('\n\n'),
    );
    expect(prompts['r']?.[1]).toContain('A2');
    expect(prompts['r']?.[1]).not.toContain('A1');
    expect(ofType(events, 'plan.task.rejected')[0]?.data).toMatchObject({
      task_id: 'a',
      by: 'r',
      round: 1,
      remarks: 'more detail',
    });
    expect(
      ofType(ofRun(events, run.id), 'plan.task.started').map(({ data }) => data['round']),
    ).toEqual([1, 1, 1, 2, 2]);
  });

  it('P8: tasks without remarks are accepted, and independent branches are not touched', async () => {
    const { story } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('b'),
          reviewer('r', ['a', 'b']),
          task('free'),
          task('after', { depends_on: ['free'] }),
        ]),
      ],
      {
        a: 'A',
        b: ({ round }) => `B${round}`,
        r: reviews({ b: 'again' }),
        free: 'F',
        after: 'AF',
      },
    );
    const starts = story.filter((line) => line.startsWith('started')).sort();
    expect(starts).toEqual([
      'started a',
      'started after',
      'started b',
      'started b',
      'started free',
      'started r',
      'started r',
    ]);
    expect(story.filter((line) => line.startsWith('invalidated'))).toEqual(['invalidated r']);
  });

  it('P8: remarks beside an accept send nothing back', async () => {
    const { story } = await reviewed(calls(submission('accept', { a: 'nice' })));
    expect(story).toEqual(['started a', 'completed a', 'started r', 'completed r']);
  });

  it('P9: a task returned more than max_rework times fails with rework_exhausted, and its dependents are dropped or skipped', async () => {
    const { story, events, run, summary } = await tellPlan(
      stage,
      [plans([...pair, task('z', { depends_on: ['r'] })], { max_rework: 1 })],
      { a: ({ round }) => `A${round}`, r: ({ round }) => sendsBack({ a: `no ${round}` }) },
    );
    expect(story.slice(-6)).toEqual([
      'completed r',
      'rejected a by r',
      'failed a rework_exhausted',
      'invalidated r',
      'skipped r upstream_rework_exhausted a',
      'skipped z upstream_rework_exhausted a',
    ]);
    expect(planEnd(events, run.id)['statuses']).toEqual({
      a: 'failed',
      r: 'skipped',
      z: 'skipped',
    });
    expect(summary).toContain("sent back by 'r' in round 1: no 1");
    expect(summary).toContain("sent back by 'r' in round 2: no 2");
    expect(summary).toContain("Last text of 'a', not its answer");
  });

  it('P9: with max_rework 0 the first rework verdict exhausts', async () => {
    const { story } = await reviewed(sendsBack({ a: 'no' }), { max_rework: 0 });
    expect(story.slice(4)).toEqual([
      'rejected a by r',
      'failed a rework_exhausted',
      'invalidated r',
      'skipped r upstream_rework_exhausted a',
    ]);
  });
});
