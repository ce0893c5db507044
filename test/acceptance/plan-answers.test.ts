import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { summaryOf } from '../../src/runtime/core/plan-summary.ts';
import type { RunEvent } from '../../src/runtime/core/run-event.ts';
import { evolveRun } from '../../src/runtime/core/run-evolve.ts';
import { pendingRun } from '../../src/runtime/core/run-state.ts';
import {
  planning,
  plans,
  reviewer,
  reviews,
  STAGE_AGENTS,
  task,
  tellPlan,
} from '../support/plan-stage.ts';
import { calls, ofRun, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { ...STAGE_AGENTS, tight: { runtime_profile: 'tight' } },
    blocks: {
      runtime_profiles: { tight: { max_result_chars: 6000, max_turn_result_chars: 9000 } },
    },
    troupe: { threads: 1 },
  });
});

afterAll(() => stage.close());

/** Every mark of a cut in a text: the file that holds all of it. */
function filesNamedIn(text: string): string[] {
  return [...text.matchAll(/the full text is in (\S+) \.\.\.\]/g)].map((match) => match[1] ?? '');
}

describe('what the model reads of its plan', () => {
  it('P11: status, child runs, turns, answers, rejections with who, remarks and round, and reasons of skips', async () => {
    const { summary, structured, run } = await tellPlan(
      stage,
      [
        plans([
          task('a'),
          reviewer('r', ['a']),
          task('bad'),
          task('never', { depends_on: ['bad'] }),
        ]),
      ],
      {
        a: ({ round }) => `answer ${round}`,
        r: reviews({ a: 'say more' }),
        bad: { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } },
      },
    );
    const ids = ofTasks(structured);
    expect(summary).toMatch(/^Plan done\. 4 tasks: 2 completed, 1 failed, 1 skipped\./);
    expect(summary).toContain(
      `[a] completed; agent 'worker'; 2 runs, 2 turns; ${ids['a']?.['child_run_ids']?.toString().replace(',', ', ')}`,
    );
    expect(summary).toContain("  sent back by 'r' in round 1: say more");
    expect(summary).toContain("=== Answer of 'a' ===\nanswer 2\n=== End ===");
    expect(summary).toContain('model.refused: ');
    expect(summary).toContain(
      "[never] skipped; agent 'worker'\n  reason: upstream_failed, because of 'bad'",
    );
    expect(structured).toMatchObject({
      operation_id: `${run.id}/turn-1/call-1`,
      statuses: { a: 'completed', r: 'completed', bad: 'failed', never: 'skipped' },
      launches: 5,
      effect: 'none',
    });
    expect(ids['a']).toMatchObject({
      turns: 2,
      rejections: [{ by: 'r', round: 1, remarks: 'say more' }],
    });
    expect(ids['never']).toMatchObject({ reason: 'upstream_failed', blocked_by: 'bad', turns: 0 });
  });

  it('P11, R12: answers that are too long are cut with a mark, and each whole one lies in the file it names', async () => {
    const long = (id: string) => `${id} begins ${'x'.repeat(40_000)} ${id} ends`;
    const { summary, prompts } = await tellPlan(
      stage,
      [plans([task('a'), task('b'), task('c', { depends_on: ['a'] })])],
      { a: long('a'), b: long('b'), c: 'C' },
    );
    expect(summary.length).toBeLessThanOrEqual(16_000);
    const files = filesNamedIn(summary);
    expect(files).toHaveLength(2);
    expect(await readFile(files[0] ?? '', 'utf8')).toBe(long('a'));
    expect(await readFile(files[1] ?? '', 'utf8')).toBe(long('b'));
    expect(summary).toContain('a begins xxx');
    expect(summary).toContain('xxx a ends');
    const [prompt] = prompts['c'] ?? [];
    expect(prompt?.length).toBeLessThan(17_000);
    expect(filesNamedIn(prompt ?? '')).toEqual([files[0]]);
  });

  it('P11, R12: many answers of a middle length are cut too, and are as reachable', async () => {
    const ids = Array.from({ length: 16 }, (_, at) => `t${at}`);
    const middle = (id: string) => `${id} begins ${'y'.repeat(1500)} ${id} ends`;
    const { summary, structured } = await tellPlan(
      stage,
      [plans(ids.map((id) => task(id)))],
      Object.fromEntries(ids.map((id) => [id, middle(id)])),
    );
    expect(summary.length).toBeLessThanOrEqual(16_000);
    const files = filesNamedIn(summary);
    expect(files).toHaveLength(16);
    for (const [at, id] of ids.entries()) {
      expect(await readFile(files[at] ?? '', 'utf8')).toBe(middle(id));
      expect(ofTasks(structured)[id]).toMatchObject({ full_path: files[at] });
    }
  });

  it('P11, R12: two summaries in one turn share its characters without losing a word for good', async () => {
    const long = (id: string) => `${id} begins ${'z'.repeat(20_000)} ${id} ends`;
    const { read } = await tellPlan(
      stage,
      [calls(planning([task('a')]), planning([task('b')]))],
      { a: long('a'), b: long('b') },
      { caller: 'tight' },
    );
    const [first = '', second = ''] = read[0] ?? [];
    expect(first.length + second.length).toBeLessThanOrEqual(9000);
    for (const text of [first, second]) {
      expect(text).toMatch(/^Plan done\./);
      expect(text).toMatch(/=== End ===$/);
      expect(text).not.toContain('was not kept');
      expect(filesNamedIn(text)).toHaveLength(1);
    }
  });

  it('M4: usage of all runs of a plan, dropped ones too, comes up to the caller', async () => {
    const { outcome, structured } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a'])])],
      { a: 'A', r: reviews({ a: 'x' }) },
    );
    // Two turns of the lead, two rounds of each task.
    expect(outcome.usage).toMatchObject({ inputTokens: 60, outputTokens: 30 });
    expect(structured['usage']).toMatchObject({ inputTokens: 40, outputTokens: 20 });
  });
});

describe('the journal of a plan', () => {
  it('P14: replaying it gives the same state: at its end the fold holds the very summary that the model read', async () => {
    const { events, run, summary, structured } = await tellPlan(
      stage,
      [plans([task('a'), reviewer('r', ['a']), task('use', { depends_on: ['a'] })])],
      { a: ({ round }) => `A${round}`, r: reviews({ a: 'x' }), use: 'U' },
    );
    const own = ofRun(events, run.id);
    const state = own.reduce((now, event) => evolveRun(now, runEventOf(event)), pendingRun(run.id));
    const [plan] = state.plans;
    if (plan === undefined) throw new Error('the fold knows no plan');
    expect(summaryOf(plan, 16_000)).toEqual({ text: summary, structured });
    expect(state.childrenRunning).toBe(0);
    expect(state.answers.map(({ task_id }) => task_id)).toEqual(['a', 'r', 'use']);
    expect(state.ended?.usage).toEqual(state.usage);
  });

  it('J2: plan.completed names the status of every task, and nothing of the plan comes after it', async () => {
    const { events, run } = await tellPlan(
      stage,
      [plans([task('a'), task('b', { depends_on: ['a'] }), task('c')], { mode: 'wave' })],
      { a: 'A', c: 'C' },
    );
    const own = ofRun(events, run.id);
    const types = own.map(({ type }) => type);
    expect(types.slice(types.indexOf('plan.completed'))).toEqual([
      'plan.completed',
      'tool.completed',
      'turn.completed',
      'turn.started',
      'model.started',
      'model.completed',
      'turn.completed',
      'run.completed',
    ]);
    expect(ofType(own, 'plan.completed')[0]?.data['statuses']).toEqual({
      a: 'completed',
      b: 'not_started',
      c: 'completed',
    });
  });
});

function runEventOf(event: JournalEvent): RunEvent {
  return { type: event.type, frame: event.frame_id, data: event.data } as unknown as RunEvent;
}

/** The tasks of a structured summary by their ids. */
function ofTasks(structured: JsonObject): Record<string, JsonObject> {
  const tasks = structured['tasks'] as unknown as readonly JsonObject[];
  return Object.fromEntries(tasks.map((each) => [String(each['task_id']), each]));
}
