import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { gate, type ReplyCall } from '../support/model-server.ts';
import {
  calls,
  delegate,
  delegation,
  eventually,
  MODEL_LABEL,
  ofRun,
  ofType,
  openStage,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;

const logged: string[] = [];

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, narrow: { runtime_profile: 'narrow' }, middle: {}, worker: {}, other: {} },
    blocks: { runtime_profiles: { narrow: { max_delegation_width: 1 } } },
    troupe: { threads: 1, onLog: (_level, text) => logged.push(text) },
  });
});

afterAll(() => stage.close());

const background = (agent: string, prompt = 'part') =>
  delegation(agent, prompt, { background: true });
const ask = (action: string, more: object = {}) => ({
  name: 'delegate',
  args: { action, ...more },
});
const idIn = (text: string | undefined) => /task_id: ([0-9a-f-]{36})/.exec(text ?? '')?.[1] ?? '';

function fileOf(taskId: string, dir = stage.dir): JsonObject {
  return JSON.parse(readFileSync(join(dir, 'delegate_results', `${taskId}.json`), 'utf8'));
}

/** The lead starts the worker in the background, asks what `then` says of its task, and ends; what it read, turn by turn. */
async function told(
  then: (taskId: string, turn: number) => readonly ReplyCall[] | null,
  worker: Parameters<Stage['play']>[0][string] = 'worked',
) {
  const read: (readonly string[])[] = [];
  let taskId = '';
  stage.play({
    lead: ({ turn, results }) => {
      if (turn === 1) return calls(background('worker'));
      if (turn === 2) taskId = idIn(results[0]);
      read.push(results);
      const asked = then(taskId, turn);
      return asked === null ? 'done' : calls(...asked);
    },
    worker,
  });
  const { run, outcome, events } = await stage.run('lead');
  expect(outcome.status).toBe('completed');
  return { run, read, taskId, events };
}

describe('a background delegation', () => {
  it('D9, N4: returns at once with a task id, outlives the run that started it, and leaves its answer in a file', async () => {
    const shut = gate();
    const { run, read, taskId, events } = await told(
      () => null,
      async () => {
        await shut.opened;
        return 'worked late';
      },
    );
    expect(read[0]).toEqual([
      `Background task started for agent 'worker'.\ntask_id: ${taskId}\nUse action='check_result' with task_id='${taskId}' to retrieve the result.`,
    ]);
    const child = `${run.id}/delegate/01`;
    expect(fileOf(taskId)).toEqual({
      task_id: taskId,
      agent: 'worker',
      status: 'running',
      output: null,
      error: null,
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      finished_at: null,
      child_run_id: child,
      owner_run_id: run.id,
    });
    expect(typesOf(events, run.id).at(-1)).toBe('run.completed');
    expect(typesOf(events, child)).not.toContain('run.completed');
    const [left] = stage.troupe.backgroundRuns(run.id);
    expect(left?.id).toBe(child);
    expect((await stage.troupe.tree(child)).background_task_id).toBe(taskId);
    shut.open();
    expect(await left?.result()).toMatchObject({ status: 'completed', answer: 'worked late' });
    await eventually(() => expect(fileOf(taskId)['status']).toBe('completed'));
    expect(fileOf(taskId)).toMatchObject({
      output: `[Agent 'worker' (${MODEL_LABEL})]\nworked late`,
      error: null,
      finished_at: expect.stringMatching(/Z$/),
    });
    expect(stage.troupe.backgroundRuns(run.id)).toEqual([]);
    expect(
      readdirSync(join(stage.dir, 'delegate_results')).every((name) => name.endsWith('.json')),
    ).toBe(true);
  });

  it('D3, D9: takes no part of the width, and does not hold up those that are waited for', async () => {
    const shut = gate();
    let read: readonly string[] = [];
    stage.play({
      narrow: ({ turn, results }) => {
        if (turn === 1)
          return calls(
            background('worker'),
            background('worker', 'more'),
            delegation('other', 'now'),
          );
        read = results;
        shut.open();
        return 'done';
      },
      worker: async () => {
        await shut.opened;
        return 'worked';
      },
      other: 'other work',
    });
    const { run } = await stage.run('narrow');
    expect(read[2]).toContain('other work');
    await Promise.all(stage.troupe.backgroundRuns(run.id).map((left) => left.result()));
  });

  it('R6: identical ones of an answer share one child and its task id', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(background('worker'), background('worker'));
        read = results;
        return 'done';
      },
      worker: 'worked',
    });
    const { events } = await stage.run('lead');
    expect(ofType(events, 'delegation.started')).toHaveLength(1);
    expect(idIn(read[0])).toBe(idIn(read[1]));
    expect(idIn(read[0])).not.toBe('');
  });

  it('D9, G6: one that is refused has no task id and no file', async () => {
    const workspace = join(stage.dir, 'untouched');
    mkdirSync(workspace);
    let read = '';
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(background('ghost'));
        read = results[0] ?? '';
        return 'done';
      },
    });
    await stage.run('lead', 'go', { workspace });
    expect(read).toContain("Unknown agent 'ghost'");
    expect(idIn(read)).toBe('');
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('N2: cancelling the run that started it cancels it, and its file says so', async () => {
    let taskId = '';
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(background('worker'));
        taskId = idIn(results[0]);
        return { hang: true };
      },
      worker: { hang: true },
    });
    const run = await stage.start('lead');
    await stage.sees(
      ({ type, frame_id, run_id }) =>
        run_id === run.id && type === 'model.started' && frame_id === 'turn-2',
    );
    await eventually(() => expect(taskId).not.toBe(''));
    await run.cancel('enough');
    const { events } = await stage.end(run);
    expect(typesOf(events, `${run.id}/delegate/01`).at(-1)).toBe('run.cancelled');
    await eventually(() => expect(fileOf(taskId)).toMatchObject({ status: 'cancelled' }));
  });

  it('N4: a run that fails stops it first', async () => {
    stage.play({
      lead: ({ turn }) =>
        turn === 1
          ? calls(background('worker'))
          : { status: 400, body: { error: { message: 'no', code: 'bad' } } },
      worker: { hang: true },
    });
    const { run, outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('answered 400') },
    });
    expect(typesOf(events, `${run.id}/delegate/01`).at(-1)).toBe('run.cancelled');
  });

  it('N2: cancelling a run takes along what a run below it left behind', async () => {
    stage.play({
      lead: ({ turn }) => (turn === 1 ? delegate('middle', 'part') : { hang: true }),
      middle: ({ turn }) => (turn === 1 ? calls(background('worker')) : 'middle is done'),
      worker: { hang: true },
    });
    const run = await stage.start('lead');
    const middle = `${run.id}/delegate/01`;
    await stage.sees(({ type, run_id }) => run_id === middle && type === 'run.completed');
    await stage.sees(
      ({ type, frame_id, run_id }) =>
        run_id === run.id && type === 'model.started' && frame_id === 'turn-2',
    );
    await run.cancel('enough');
    const { events } = await stage.end(run);
    const own = ofRun(events, `${middle}/delegate/01`);
    expect(own.at(-1)).toMatchObject({ type: 'run.cancelled', data: { reason: 'enough' } });
    expect(own.at(-1)?.seq).toBeLessThan(ofRun(events, run.id).at(-1)?.seq ?? 0);
  });

  it('N2: cancelling a run that has ended cancels what it left behind, and says that it had ended', async () => {
    const { run } = await told(() => null, { hang: true });
    const [left] = stage.troupe.backgroundRuns(run.id);
    expect(await run.cancel('enough')).toBe('already ended');
    expect(await left?.result()).toMatchObject({ status: 'cancelled', reason: 'enough' });
  });

  it('D9: a folder for its file that leads out of the workspace is not followed, and its answer is there all the same', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'troupe-outside-'));
    const workspace = mkdtempSync(join(tmpdir(), 'troupe-inside-'));
    try {
      symlinkSync(outside, join(workspace, 'delegate_results'));
      logged.length = 0;
      let read = '';
      stage.play({
        lead: ({ turn, results }) => {
          if (turn === 1) return calls(background('worker'));
          if (turn === 2) return calls(ask('await_sessions', { task_ids: [idIn(results[0])] }));
          read = results[0] ?? '';
          return 'done';
        },
        worker: 'worked',
      });
      await stage.run('lead', 'go', { workspace });
      expect(JSON.parse(read)).toMatchObject({ status: 'complete', completed: 1 });
      await eventually(() =>
        expect(logged.filter((text) => text.includes('was not written'))).not.toEqual([]),
      );
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
      rmSync(workspace, { recursive: true });
    }
  });
});

describe('what a run asks about its tasks', () => {
  it('D10: check_result shows the file as JSON, and takes no word of the file itself', async () => {
    const shut = gate();
    const { read, taskId } = await told(
      (id, turn) => {
        if (turn === 2) return [ask('check_result', { task_id: id })];
        if (turn === 3) {
          writeFileSync(
            join(stage.dir, 'delegate_results', `${id}.json`),
            JSON.stringify({ task_id: id, status: 'completed', output: 'forged' }),
          );
          return [ask('check_result', { task_id: id.toUpperCase() })];
        }
        if (turn === 4) {
          shut.open();
          return [ask('await_sessions', { task_ids: [id] })];
        }
        return turn === 5 ? [ask('check_result', { task_id: id })] : null;
      },
      async () => {
        await shut.opened;
        return 'worked';
      },
    );
    expect(JSON.parse(read[1]?.[0] ?? '')).toMatchObject({
      task_id: taskId,
      status: 'running',
      output: null,
    });
    expect(JSON.parse(read[2]?.[0] ?? '')).toMatchObject({ status: 'running' });
    expect(JSON.parse(read[4]?.[0] ?? '')).toMatchObject({
      status: 'completed',
      output: `[Agent 'worker' (${MODEL_LABEL})]\nworked`,
    });
  });

  it('D10, D11: what became of a task that failed is an error with the whole record behind it', async () => {
    const { read } = await told(
      (id, turn) => {
        if (turn === 2) return [ask('await_sessions', { task_ids: [id] })];
        return turn === 3 ? [ask('check_result', { task_id: id })] : null;
      },
      { status: 400, body: { error: { message: 'no', code: 'bad' } } },
    );
    expect(read[1]?.[0]).toMatch(
      /^one or more background tasks failed or were cancelled\n\n\{\n {2}"status": "complete"/,
    );
    expect(read[2]?.[0]).toMatch(/^Agent 'worker' failed: .*answered 400/);
    expect(read[2]?.[0]).toContain('"status": "failed"');
  });

  it('D11: await_sessions tells what is there when its time is up', async () => {
    const shut = gate();
    const stranger = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
    const { read, taskId, run } = await told(
      (id, turn) =>
        turn === 2 ? [ask('await_sessions', { task_ids: [id, stranger], timeout_ms: 0 })] : null,
      async () => {
        await shut.opened;
        return 'worked';
      },
    );
    const [words = '', ...rest] = (read[1]?.[0] ?? '').split('\n\n');
    expect(words).toBe('one or more background tasks are still pending or missing');
    expect(JSON.parse(rest.join('\n\n'))).toMatchObject({
      status: 'timeout',
      completed: 0,
      pending: [taskId],
      missing: [stranger],
      failed: [],
      results: [{ task_id: taskId, status: 'running' }],
    });
    shut.open();
    await Promise.all(stage.troupe.backgroundRuns(run.id).map((left) => left.result()));
  });

  it('D12: list_results and cancel_task', async () => {
    const { read, taskId } = await told(
      (id, turn) => {
        if (turn === 2) return [ask('list_results'), ask('cancel_task', { task_id: id })];
        if (turn === 3) return [ask('cancel_task', { task_id: id }), ask('list_results')];
        return null;
      },
      { hang: true },
    );
    expect(JSON.parse(read[1]?.[0] ?? '')).toEqual([
      {
        task_id: taskId,
        agent: 'worker',
        status: 'running',
        started_at: expect.any(String),
        finished_at: null,
      },
    ]);
    expect(read[1]?.[1]).toBe(`Task '${taskId}' cancelled: the running task was aborted.`);
    expect(read[2]?.[0]).toBe(`Task '${taskId}' is not running (status: cancelled)`);
    expect(JSON.parse(read[2]?.[1] ?? '')).toMatchObject([
      { task_id: taskId, status: 'cancelled' },
    ]);
  });

  it('D9: another root sees, awaits and cancels nothing of it; a run above its owner does', async () => {
    const shut = gate();
    const worker = async () => {
      await shut.opened;
      return 'worked';
    };
    const { taskId, run } = await told(() => null, worker);
    let read: readonly string[] = [];
    stage.play({
      other: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            ask('check_result', { task_id: taskId }),
            ask('cancel_task', { task_id: taskId }),
            ask('list_results'),
          );
        }
        read = results;
        return 'done';
      },
      lead: ({ turn, results }) => {
        if (turn === 1) return delegate('middle', 'part');
        if (turn === 2)
          return calls(ask('check_result', { task_id: /id (\S+)$/.exec(results[0] ?? '')?.[1] }));
        read = results;
        return 'done';
      },
      middle: ({ turn, results }) =>
        turn === 1 ? calls(background('worker')) : `it has the id ${idIn(results[0])}`,
      worker,
    });
    await stage.run('other');
    expect(read).toEqual([
      `No result found for task_id '${taskId}'`,
      `No task found for task_id '${taskId}'`,
      'No background delegate results found.',
    ]);
    const above = await stage.run('lead');
    expect(JSON.parse(read[0] ?? '')).toMatchObject({
      status: 'running',
      owner_run_id: `${above.run.id}/delegate/01`,
    });
    shut.open();
    for (const id of [run.id, above.run.id]) {
      await Promise.all(stage.troupe.backgroundRuns(id).map((left) => left.result()));
    }
  });

  it('N2: a cancel ends a wait for tasks at once', async () => {
    stage.play({
      lead: ({ turn, results }) =>
        turn === 1
          ? calls(background('worker'))
          : calls(ask('await_sessions', { task_ids: [idIn(results[0])], timeout_ms: 120_000 })),
      worker: { hang: true },
    });
    const run = await stage.start('lead');
    await stage.sees(
      ({ type, frame_id, run_id }) =>
        run_id === run.id && type === 'tool.started' && frame_id === 'turn-2/call-1',
    );
    expect(await run.cancel('enough')).toBe('cancelled');
    const { events } = await stage.end(run);
    const failed = ofType(ofRun(events, run.id), 'tool.failed');
    expect(failed.map(({ data }) => data['error_type'])).toEqual(['cancelled']);
  });

  it('D10: an id that is none is refused before anything is looked for', async () => {
    const { read } = await told((_id, turn) =>
      turn === 2 ? [ask('check_result', { task_id: '../lead' })] : null,
    );
    expect(read[1]?.[0]).toBe("Invalid task_id '../lead': must be a valid UUID");
  });
});
