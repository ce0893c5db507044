import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gate, type Reply } from '../support/model-server.ts';
import {
  about,
  accepts,
  endPlan,
  planEnd,
  planning,
  plans,
  playPlan,
  reviewer,
  reviews,
  STAGE_AGENTS,
  sendsBack,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import { calls, ofRun, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ agents: STAGE_AGENTS, troupe: { threads: 1 } });
});

afterAll(() => stage.close());

const count = (story: readonly string[], line: string) =>
  story.filter((each) => each === line).length;

describe('reviewers that meet', () => {
  it('P8: of overlapping sets: the second may send back what the first accepted, and the first looks again', async () => {
    const { story, events, run, prompts } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          task('b'),
          task('c'),
          reviewer('r1', ['a', 'b']),
          reviewer('r2', ['b', 'c'], { depends_on: ['r1'] }),
        ]),
      ],
      {
        a: 'A',
        b: ({ round }) => `B${round}`,
        c: 'C',
        r1: accepts('good'),
        r2: reviews({ b: 'not good' }),
      },
    );
    expect(story.slice(story.indexOf('rejected b by r2'))).toEqual([
      'rejected b by r2',
      'reopened b',
      'invalidated r1',
      'invalidated r2',
      'started b',
      'completed b',
      'started r1',
      'completed r1',
      'started r2',
      'completed r2',
    ]);
    expect(prompts['r1']?.[1]).toContain('B2');
    expect(planEnd(events, run.id)['statuses']).toEqual({
      a: 'completed',
      b: 'completed',
      c: 'completed',
      r1: 'completed',
      r2: 'completed',
    });
  });

  it('P8: at the same time: the one that is still running when its task goes back is cancelled, and its verdict counts for nothing', async () => {
    const shut = gate();
    const playing = playPlan(
      stage,
      [plans([task('a'), reviewer('r1', ['a']), reviewer('r2', ['a'])])],
      {
        a: ({ round }) => `A${round}`,
        r1: reviews({ a: 'from r1' }),
        r2: async ({ round }) => {
          if (round === 1) await shut.opened;
          return round === 1 ? sendsBack({ a: 'from r2' }) : accepts();
        },
      },
    );
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.invalidated', 'r2'), run.id);
    // The answer of the cancelled run comes anyway.
    shut.open();
    const { story, events } = await endPlan(stage, run, playing);
    expect(count(story, 'rejected a by r1')).toBe(1);
    expect(count(story, 'rejected a by r2')).toBe(0);
    expect(count(story, 'discarded r2')).toBe(1);
    expect(story.indexOf('discarded r2')).toBeLessThan(story.lastIndexOf('started r2'));
    const [dropped] = ofType(events, 'plan.task.discarded');
    expect(dropped?.data['child_status']).toBe('cancelled');
    expect(ofType(events, 'run.cancelled')[0]?.data).toMatchObject({ by: 'parent' });
    expect(planEnd(events, run.id)['statuses']).toEqual({
      a: 'completed',
      r1: 'completed',
      r2: 'completed',
    });
  });

  it('P8: a reviewer of a reviewer sends the review itself back, and what was reviewed stays', async () => {
    const { story, prompts } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a']), reviewer('rr', ['r'])])],
      {
        a: 'A',
        r: ({ round }) => accepts(`review ${round}`),
        rr: reviews({ r: 'look harder' }),
      },
    );
    expect(count(story, 'started a')).toBe(1);
    expect(count(story, 'started r')).toBe(2);
    expect(story).toContain('rejected r by rr');
    expect(prompts['r']?.[1]).toContain('look harder');
    expect(prompts['r']?.[1]).toContain(
      '=== Your previous answer ===\nVerdict: accept\n\nreview 1',
    );
    expect(prompts['rr']?.[1]).toContain('review 2');
  });

  it('P7: feedback for a task that is upstream and not reviewed is refused', async () => {
    let read = '';
    const { story } = await tellPlan(
      stage,
      [plans([task('up'), task('a', { depends_on: ['up'] }), reviewer('r', ['a'])])],
      {
        up: 'UP',
        a: 'A',
        r: ({ turn, results }) => {
          if (turn === 1) return sendsBack({ up: 'the fault is here', a: 'x' });
          read = results[0] ?? '';
          return accepts();
        },
      },
    );
    expect(read).toContain("'feedback' names 'up', which this task does not review; reviewed: a");
    expect(story.filter((line) => line.startsWith('rejected'))).toEqual([]);
  });
});

describe('what builds on a task that is sent back', () => {
  const graph = [
    task('a'),
    reviewer('r', ['a']),
    task('use', { depends_on: ['a'], agent_id: 'other' }),
    task('far', { depends_on: ['use'], agent_id: 'other' }),
  ];

  it('P8: while it runs it is cancelled, its request taken back, and it runs again on the new answer', async () => {
    const shut = gate();
    const playing = playPlan(stage, [plans(graph)], {
      a: ({ round }) => `A${round}`,
      r: async ({ round }) => {
        if (round === 1) await shut.opened;
        return round === 1 ? sendsBack({ a: 'again' }) : accepts();
      },
      use: ({ prompt }): Reply => (prompt.includes('A1') ? { hang: true } : 'used A2'),
      far: 'F',
    });
    const run = await stage.start('lead');
    const before = stage.requestsOf('other').length;
    await stage.sees(
      ({ type, run_id }) => type === 'model.started' && run_id.endsWith('-use'),
      run.id,
    );
    shut.open();
    const { story, events, prompts } = await endPlan(stage, run, playing);
    expect(story.filter((line) => line.endsWith(' use'))).toEqual([
      'started use',
      'invalidated use',
      'discarded use',
      'started use',
      'completed use',
    ]);
    // Tasks share a workspace: what is done again waits until the cancelled reader has stopped.
    expect(story.indexOf('discarded use')).toBeLessThan(story.lastIndexOf('started a'));
    expect(prompts['use']?.[1]).toContain('A2');
    expect(prompts['far']).toHaveLength(1);
    const cancelled = ofType(events, 'run.cancelled')[0];
    expect(cancelled?.run_id).toMatch(/-use$/);
    expect(cancelled?.data).toMatchObject({
      by: 'parent',
      reason: 'its plan dropped it: what its task builds on is done again',
    });
    // The request may have been called off before it left.
    const [hung] = stage.requestsOf('other').slice(before);
    if (hung?.prompt.includes('A1') === true) expect(await hung.closed).toBe(true);
  });

  it('P8: once it is done its answer is dropped, and so are those of all that built on it', async () => {
    const shut = gate();
    const playing = playPlan(stage, [plans(graph)], {
      a: ({ round }) => `A${round}`,
      r: async ({ round }) => {
        if (round === 1) await shut.opened;
        return round === 1 ? sendsBack({ a: 'again' }) : accepts();
      },
      use: ({ prompt }) => `used ${/A\d/.exec(prompt)?.[0]}`,
      far: ({ prompt }) => `far ${/used A\d/.exec(prompt)?.[0]}`,
    });
    const run = await stage.start('lead');
    await stage.sees(about('plan.task.completed', 'far'), run.id);
    shut.open();
    const { story, summary, prompts } = await endPlan(stage, run, playing);
    expect(count(story, 'invalidated use')).toBe(1);
    expect(count(story, 'invalidated far')).toBe(1);
    expect(prompts['far']).toHaveLength(2);
    expect(summary).toContain('far used A2');
    expect(summary).not.toContain('used A1');
  });

  it('P8: while it is pending nothing happens to it, and it starts once, on the new answer', async () => {
    const { story, prompts } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          reviewer('r', ['a']),
          task('use', { depends_on: ['a', 'r'], agent_id: 'other' }),
        ]),
      ],
      { a: ({ round }) => `A${round}`, r: reviews({ a: 'again' }), use: 'U' },
    );
    expect(story.filter((line) => line.endsWith(' use'))).toEqual(['started use', 'completed use']);
    expect(prompts['use']?.[0]).toContain('A2');
  });

  it('P8, R13: an answer that is already on its way when its task is dropped is nobody’s', async () => {
    // The reader answers in the very moment in which its source is sent back, in 20 meetings.
    for (let round = 0; round < 20; round += 1) {
      const both = gate();
      const playing = playPlan(
        stage,
        [plans([task('a'), reviewer('r', ['a']), task('use', { depends_on: ['a'] })])],
        {
          a: ({ round: at }) => `A${at}`,
          r: async ({ round: at }) => {
            if (at > 1) return accepts();
            await both.opened;
            return sendsBack({ a: 'again' });
          },
          use: async ({ prompt }) => {
            if (prompt.includes('A1')) await both.opened;
            return `used ${/A\d/.exec(prompt)?.[0]}`;
          },
        },
      );
      const run = await stage.start('lead');
      await stage.sees(
        ({ type, run_id }) => type === 'model.started' && run_id.endsWith('-use'),
        run.id,
      );
      both.open();
      const { summary, events } = await endPlan(stage, run, playing);
      expect(summary).toContain('used A2');
      expect(summary).not.toContain('used A1');
      expect(planEnd(events, run.id)['statuses']).toEqual({
        a: 'completed',
        r: 'completed',
        use: 'completed',
      });
    }
  });
});

describe('two plans in one answer', () => {
  it('P2, P11: run beside each other in one width, each with its own tasks and result', async () => {
    const { read, events, run } = await tellPlan(
      stage,
      [
        calls(
          planning([task('a'), reviewer('r', ['a'])]),
          planning([task('b'), task('c', { depends_on: ['b'] })], { on_failure: 'stop' }),
        ),
      ],
      { a: ({ round }) => `A${round}`, r: reviews({ a: 'x' }), b: 'B', c: 'C' },
    );
    expect(read[0]?.[0]).toContain('A2');
    expect(read[0]?.[1]).toContain("Answer of 'c'");
    expect(read[0]?.[1]).not.toContain('A2');
    const own = ofRun(events, run.id);
    expect(
      ofType(own, 'plan.completed')
        .map(({ frame_id }) => frame_id)
        .sort(),
    ).toEqual(['turn-1/call-1', 'turn-1/call-2']);
    const ordinals = ofType(own, 'plan.task.started').map(({ data }) => data['ordinal']);
    expect(ordinals).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
