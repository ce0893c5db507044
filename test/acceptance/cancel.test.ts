import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { gate } from '../support/model-server.ts';
import {
  calls,
  delegate,
  delegation,
  eventually,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let marks = 0;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: {},
      narrow: { runtime_profile: 'narrow' },
      timed: { runtime_profile: 'timed' },
    },
    blocks: {
      runtime_profiles: { narrow: { max_delegation_width: 2 }, timed: { max_run_secs: 0.3 } },
    },
    troupe: { threads: 2, computeThreads: 2, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

/** A file that a tool makes as soon as it runs. */
function newMark(): string {
  marks += 1;
  return join(stage.dir, `mark-${marks}`);
}

const isThere = (mark: string) => eventually(() => expect(existsSync(mark)).toBe(true));

const askedBy = (runId: string) => (event: JournalEvent) =>
  event.type === 'model.started' && event.run_id === runId;

describe('cancelling a tree', () => {
  it('N2: cancels everything below, aborts the requests in flight, and starts no child that was waiting for a slot', async () => {
    stage.play({
      narrow: calls(...[1, 2, 3, 4, 5, 6].map((n) => delegation('worker', `${n}`))),
      worker: { hang: true },
    });
    const before = stage.requestsOf('worker').length;
    const run = await stage.start('narrow');
    const asked = await eventually(() => {
      const requests = stage.requestsOf('worker').slice(before);
      expect(requests).toHaveLength(2);
      return requests;
    });
    expect(await run.cancel('changed my mind')).toBe('cancelled');
    const { outcome, events } = await stage.end(run);
    expect(outcome).toMatchObject({ status: 'cancelled', reason: 'changed my mind', answer: '' });
    expect(ofType(events, 'delegation.started')).toHaveLength(2);
    expect(await Promise.all(asked.map(({ closed }) => closed))).toEqual([true, true]);
    expect(stage.requestsOf('worker')).toHaveLength(before + 2);
    const cut = ofType(ofRun(events, run.id), 'tool.failed');
    expect(cut).toHaveLength(6);
    for (const { data } of cut) expect(data).toMatchObject({ effect: 'none' });
    for (const { type, data } of events.filter(({ run_id }) => run_id !== run.id)) {
      if (type === 'run.stopping')
        expect(data).toMatchObject({ by: 'parent', reason: 'changed my mind' });
    }
  });

  it('N2: a signal that is aborted already ends the run before it asks anything', async () => {
    stage.play({});
    const before = stage.server.requests.length;
    const { outcome, events, run } = await stage.run('lead', 'go', {
      signal: AbortSignal.abort('never mind'),
    });
    expect(outcome).toMatchObject({ status: 'cancelled', reason: 'never mind', turns: 0 });
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'run.stopping',
      'run.cancelled',
    ]);
    expect(stage.server.requests).toHaveLength(before);
    expect(await run.cancel()).toBe('already ended');
    for (const reason of [5, null, 'x'.repeat(4001)]) {
      await expect(run.cancel(reason as never)).rejects.toMatchObject({
        code: 'argument.invalid',
        message: expect.stringMatching(
          /^cancel: the reason must be a text of at most 4000 characters/,
        ),
      });
    }
  });

  it('N2: aborting the signal later cancels the run, with the words of its reason', async () => {
    stage.play({ lead: { hang: true } });
    const abort = new AbortController();
    const run = await stage.start('lead', 'go', { signal: abort.signal });
    const asked = await stage.server.request(stage.server.requests.length);
    abort.abort(new Error('the user left'));
    expect(await run.result()).toMatchObject({ status: 'cancelled', reason: 'the user left' });
    expect(await asked.closed).toBe(true);
  });

  it('N2: the first cancel cancels, one meanwhile and one afterwards are harmless and say so', async () => {
    stage.play({ lead: { hang: true } });
    const run = await stage.start('lead');
    await stage.sees(askedBy(run.id), run.id);
    const [first, second] = await Promise.all([run.cancel('one'), run.cancel('two')]);
    expect([first, second]).toEqual(['cancelled', 'already stopping']);
    expect(await run.cancel('three')).toBe('already ended');
    const { outcome, events } = await stage.end(run);
    expect(outcome.reason).toBe('one');
    expect(ofType(events, 'run.stopping')).toHaveLength(1);
  });

  it('N2: cancelling a finished run changes nothing', async () => {
    stage.play({ lead: 'done' });
    const { run, events } = await stage.run('lead');
    expect(await run.cancel()).toBe('already ended');
    expect(await stage.events(run.id)).toEqual(events);
    expect((await run.result()).status).toBe('completed');
    expect(stage.troupe.run(run.id)).toBeUndefined();
  });

  it('N2: one of four children cancelled leaves four results, and the parent goes on', async () => {
    const shut = gate();
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(...[1, 2, 3, 4].map((n) => delegation('worker', `${n}`)));
        read = results;
        return 'done';
      },
      worker: async ({ prompt }) => {
        await shut.opened;
        return `did ${prompt}`;
      },
    });
    const run = await stage.start('lead');
    const third = `${run.id}/delegate/03`;
    await stage.sees(askedBy(third), run.id);
    expect(await stage.troupe.run(third)?.cancel('not needed')).toBe('cancelled');
    shut.open();
    const { outcome, events } = await stage.end(run);
    expect(outcome.status).toBe('completed');
    expect(read.map((text) => text.split('\n').at(-1))).toEqual([
      'did 1',
      'did 2',
      "Agent 'worker' was cancelled: not needed.",
      'did 4',
    ]);
    expect(ofType(ofRun(events, third), 'run.cancelled')[0]?.data).toMatchObject({ by: 'user' });
    const ends = ofType(events, 'delegation.completed').map(({ data }) => data['child_status']);
    expect(ends.sort()).toEqual(['cancelled', 'completed', 'completed', 'completed']);
  });

  it('N4: max_run_secs ends a run incomplete, after its children', async () => {
    stage.play({ timed: delegate('worker', 'x'), worker: { hang: true } });
    const { run, outcome, events } = await stage.run('timed');
    expect(outcome).toMatchObject({ status: 'incomplete', reason: 'run_time_limit' });
    const ends = ofType(events, 'run.cancelled', 'run.incomplete');
    expect(ends.map(({ run_id, type }) => [run_id, type])).toEqual([
      [`${run.id}/delegate/01`, 'run.cancelled'],
      [run.id, 'run.incomplete'],
    ]);
  });
});

describe('tools that do not stop by themselves', () => {
  it('N3: a tool that computes for ever is terminated within the bound, and its siblings go on', async () => {
    const mark = newMark();
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls(delegation('worker', 'spin'), delegation('worker', 'calm'));
        read = results;
        return 'done';
      },
      worker: ({ prompt, turn, results }) => {
        if (turn > 1) return `calm ${results[0]}`;
        return calls(
          prompt === 'spin' ? { name: 'spins', args: { mark } } : { name: 'where_compute' },
        );
      },
    });
    const run = await stage.start('lead');
    const spinning = `${run.id}/delegate/01`;
    await isThere(mark);
    await stage.troupe.run(spinning)?.cancel('enough');
    const { outcome, events } = await stage.end(run);
    expect(outcome.status).toBe('completed');
    expect(read[0]).toMatch(
      /^Agent 'worker' was cancelled: enough\.\nWarning: .*spins \(turn-1\/call-1/,
    );
    expect(read[1]).toMatch(/calm \{/);
    expect(stopTook(events, spinning)).toBeLessThan(5000);
    expect(ofType(ofRun(events, spinning), 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'cancelled',
      effect: 'uncertain',
    });
    // The pool is whole again: as many threads as before take jobs.
    stage.play({
      lead: [
        calls({ name: 'where_compute' }, { name: 'long_on_compute', args: { count: 1 } }),
        'done',
      ],
    });
    const after = await stage.run('lead');
    expect(ofType(after.events, 'tool.completed')).toHaveLength(2);
  });

  it('N2: a tool that ignores its signal holds nobody up, and what it may have done is uncertain', async () => {
    const mark = newMark();
    stage.play({ lead: calls({ name: 'deaf', args: { mark } }) });
    const run = await stage.start('lead');
    await isThere(mark);
    expect(await run.cancel()).toBe('cancelled');
    const { outcome, events } = await stage.end(run);
    expect(outcome).toMatchObject({ status: 'cancelled', effect: 'uncertain' });
    expect(stopTook(events, run.id)).toBeLessThan(5000);
  });

  /** Milliseconds from the run's first stopping to its end, as journaled. */
  function stopTook(events: readonly JournalEvent[], runId: string): number {
    const [stopping, ended] = ofType(ofRun(events, runId), 'run.stopping', 'run.cancelled');
    return Date.parse(ended?.ts ?? '') - Date.parse(stopping?.ts ?? '');
  }
});
