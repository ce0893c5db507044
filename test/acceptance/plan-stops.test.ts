import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gate, gate, type Reply } from '../support/model-server.ts';
import {
  about,
  accepts,
  endPlan,
  planEnd,
  plans,
  playPlan,
  reviewer,
  STAGE_AGENTS,
  sendsBack,
  type TaskPart,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import { eventually, ofRun, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ agents: STAGE_AGENTS, troupe: { threads: 1 } });
});

afterAll(() => stage.close());

const broken: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };

function behind(shut: Gate, reply: Reply): TaskPart {
  return async () => {
    await shut.opened;
    return reply;
  };
}

describe('on_failure', () => {
  it('P5: stop lets what runs finish, starts nothing new, and names the task that stopped it', async () => {
    const shut = gate();
    const playing = playPlan(
      stage,
      [
        plans([task('bad'), task('slow'), task('next', { depends_on: ['slow'] })], {
          on_failure: 'stop',
        }),
      ],
      { bad: broken, slow: behind(shut, 'S') },
    );
    const run = await stage.start('lead');
    await stage.sees((event) => event.type === 'plan.stopped', run.id);
    shut.open();
    const { story, events, summary } = await endPlan(stage, run, playing);
    expect(story.slice(2)).toEqual([
      'failed bad model.refused',
      'stopped bad',
      'skipped next plan_stopped bad',
      'completed slow',
    ]);
    expect(planEnd(events, run.id)).toMatchObject({
      stopped_by: 'bad',
      statuses: { bad: 'failed', slow: 'completed', next: 'skipped' },
    });
    expect(summary).toMatch(/^Plan stopped because of task 'bad'\./);
  });

  it('P5: stop during rework: what was sent back is not done again', async () => {
    const shut = gate();
    const answered = gate();
    const playing = playPlan(
      stage,
      [
        plans([task('a'), reviewer('r', ['a']), task('bad')], {
          on_failure: 'stop',
          max_rework: 3,
        }),
      ],
      {
        a: async ({ round }) => {
          if (round > 1) await shut.opened;
          return `A${round}`;
        },
        r: ({ round }) => sendsBack({ a: `remark ${round}` }),
        bad: async () => {
          await answered.opened;
          return broken;
        },
      },
    );
    const run = await stage.start('lead');
    const isSecond = (event: Parameters<ReturnType<typeof about>>[0]) =>
      about('plan.task.started', 'a')(event) && event.data['round'] === 2;
    await stage.sees(isSecond, run.id);
    answered.open();
    await stage.sees((event) => event.type === 'plan.stopped', run.id);
    shut.open();
    const { story, events } = await endPlan(stage, run, playing);
    expect(story.slice(story.indexOf('stopped bad'))).toEqual([
      'stopped bad',
      'skipped r plan_stopped bad',
      'completed a',
    ]);
    expect(planEnd(events, run.id)['statuses']).toEqual({
      a: 'completed',
      r: 'skipped',
      bad: 'failed',
    });
  });

  it('P5: rework_exhausted stops a plan like any other failure', async () => {
    const { story, events, run } = await tellPlan(
      stage,
      [
        plans([task('a'), reviewer('r', ['a']), task('z', { depends_on: ['r'] })], {
          on_failure: 'stop',
          max_rework: 0,
        }),
      ],
      { a: 'A', r: sendsBack({ a: 'bad' }) },
    );
    expect(story).toEqual(expect.arrayContaining(['failed a rework_exhausted', 'stopped a']));
    expect(story).not.toContain('started z');
    expect(planEnd(events, run.id)).toMatchObject({ stopped_by: 'a' });
  });

  it('P5, N2: abort with eight running cancels them and takes their requests back, and the summary returns', async () => {
    const ids = Array.from({ length: 7 }, (_, at) => `h${at}`);
    const shut = gate();
    const playing = playPlan(
      stage,
      [plans([...ids.map((id) => task(id)), task('bad'), task('late')], { on_failure: 'abort' })],
      {
        ...Object.fromEntries(ids.map((id) => [id, { hang: true } as const])),
        bad: behind(shut, broken),
      },
    );
    const before = stage.server.requests.length;
    const run = await stage.start('lead');
    // The lead and eight tasks.
    await eventually(() => expect(stage.server.requests.length).toBe(before + 9));
    const hung = stage.server.requests.slice(before).filter(({ prompt }) => ids.includes(prompt));
    shut.open();
    const { story, events, summary, outcome } = await endPlan(stage, run, playing);
    expect(hung).toHaveLength(7);
    expect(await Promise.all(hung.map(({ closed }) => closed))).toEqual(hung.map(() => true));
    expect(story).toContain('aborted bad');
    expect(story).toContain('skipped late plan_aborted bad');
    expect(story.filter((line) => line.startsWith('incomplete'))).toHaveLength(7);
    for (const id of ids) expect(story).toContain(`incomplete ${id} plan_aborted`);
    expect(planEnd(events, run.id)).toMatchObject({ aborted_by: 'bad' });
    expect(summary).toMatch(/^Plan aborted because of task 'bad'\./);
    expect(outcome.status).toBe('completed');
    const cancelled = ofType(events, 'run.cancelled').map(({ data }) => data);
    expect(cancelled).toHaveLength(7);
    for (const data of cancelled) {
      expect(data).toMatchObject({
        by: 'parent',
        reason: "the plan was aborted because of task 'bad'",
      });
    }
  });
});

describe('wave', () => {
  it('P6: runs the first layer only, and names the tasks that were not started', async () => {
    const { story, events, run, summary } = await tellPlan(
      stage,
      [
        plans([task('a'), task('b', { depends_on: ['a'] }), task('c'), reviewer('r', ['c'])], {
          mode: 'wave',
        }),
      ],
      { a: 'A', c: 'C' },
    );
    expect(story.filter((line) => line.startsWith('started'))).toEqual(['started a', 'started c']);
    expect(planEnd(events, run.id)).toMatchObject({
      remaining: ['b', 'r'],
      statuses: { a: 'completed', b: 'not_started', c: 'completed', r: 'not_started' },
    });
    expect(summary).toContain('Not started: b, r.');
  });

  it('P6: tasks of a later layer whose upstream failed are skipped and not left open', async () => {
    const { story, events, run } = await tellPlan(
      stage,
      [plans([task('a'), task('b', { depends_on: ['a'] })], { mode: 'wave' })],
      { a: broken },
    );
    expect(story.at(-1)).toBe('skipped b upstream_failed a');
    expect(planEnd(events, run.id)).toMatchObject({ statuses: { a: 'failed', b: 'skipped' } });
  });

  it('P6, P11: a second plan of the same run builds on the answers of a wave', async () => {
    const { prompts, read, events, run } = await tellPlan(
      stage,
      [
        plans([task('a'), task('b', { depends_on: ['a'] })], { mode: 'wave' }),
        plans([
          task('b', { prompt: 'b of {{a.answer}}' }),
          task('c', { depends_on: ['b'], prompt: 'c of {{b.answer}} and {{a.answer}}' }),
        ]),
        plans([task('a'), task('d', { depends_on: ['a'], prompt: 'd of {{a.answer}}' })]),
        plans([task('e', { prompt: 'e of {{a.answer}} {{c.answer}}' })]),
      ],
      { a: ({ request }) => `A${request.index}`, b: 'B', c: 'C', d: 'D', e: 'E' },
    );
    const answers = ofType(ofRun(events, run.id), 'plan.task.completed')
      .filter(({ data }) => data['task_id'] === 'a')
      .map(({ data }) => data['answer']);
    expect(prompts['b']).toEqual([`b of ${answers[0]}`]);
    expect(prompts['c']).toEqual([`c of B and ${answers[0]}`]);
    // A re-used id means the newest answer.
    expect(prompts['d']).toEqual([`d of ${answers[1]}`]);
    expect(prompts['e']).toEqual([`e of ${answers[1]} C`]);
    expect(read).toHaveLength(4);
  });

  it('P6: a reviewer is no first layer, so a wave reviews nothing', async () => {
    const { story } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a'])], { mode: 'wave' })],
      { a: 'A', r: accepts() },
    );
    expect(story).toEqual(['started a', 'completed a']);
  });
});
