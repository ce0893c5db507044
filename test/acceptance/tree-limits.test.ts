import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import {
  calls,
  delegate,
  delegation,
  ofRun,
  ofType,
  openStage,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, worker: {}, brief: { max_turns: 3 }, plain: {}, orderly: {} },
    blocks: { runtime: { max_runs_per_root: 10 } },
    troupe: { threads: 1 },
  });
});

afterAll(() => stage.close());

describe('one tree', () => {
  it('R9: every descendant has the principal, the policy version and the frozen file policy of its root', async () => {
    const forbidden = join(stage.dir, 'secret');
    mkdirSync(forbidden, { recursive: true });
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('orderly', 'b')), 'done'],
      worker: ({ prompt, turn: n }) =>
        prompt === 'sub' || n > 1
          ? 'x'
          : calls({ name: 'spawn_subagent', args: { prompt: 'sub' } }, delegation('brief', 'c')),
      orderly: 'x',
      brief: ({ turn: n, results }) =>
        n === 1 ? calls({ name: 'list_dir', args: { path: 'secret' } }) : (results[0] ?? ''),
    });
    const { events } = await stage.run('lead', 'go', {
      principal: 'ada',
      orgPosition: 'research',
      files: { forbidden: [forbidden] },
    });
    const started = ofType(events, 'run.started');
    expect(started).toHaveLength(5);
    const [first] = started.map(({ data }) => data['security'] as JsonObject);
    expect(first).toMatchObject({
      principal: 'ada',
      org_position: 'research',
      policy_version: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const { data } of started) expect(data['security']).toEqual(first);
    const brief = started.find(({ data }) => data['agent_id'] === 'brief');
    const [refused] = ofType(ofRun(events, brief?.run_id ?? ''), 'tool.failed');
    expect(refused?.data, 'the deepest run meets the policy of the initiator').toMatchObject({
      name: 'list_dir',
      error_type: 'forbidden_path',
    });
    stage.play({ plain: 'x' });
    const other = await stage.run('plain');
    expect(ofType(other.events, 'run.started')[0]?.data['security']).not.toEqual(first);
  });

  it('R11: a tree launches max_runs_per_root runs and no more, and the refusal names the limit', async () => {
    const refusals: string[] = [];
    stage.play({
      lead: ({ turn: n, results }) => {
        refusals.push(...results.filter((text) => text.includes('Limit of runs')));
        if (n > 4) return 'done';
        return calls(...[1, 2, 3].map((k) => delegation('worker', `${n}.${k}`)));
      },
      worker: ({ turn: n, prompt, results }) => {
        refusals.push(...results.filter((text) => text.includes('Limit of runs')));
        if (n > 1) return 'x';
        return calls(...[1, 2, 3].map((k) => delegation('orderly', `${prompt}.${k}`)));
      },
      orderly: 'x',
    });
    const { run, events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(ofType(events, 'run.started')).toHaveLength(11);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals[0]).toBe(
      `Limit of runs reached: ${run.id} has launched 10 of 10 runs ([runtime] max_runs_per_root). Finish the work without further delegation.`,
    );
    for (const { data } of ofType(events, 'tool.failed')) {
      expect(data).toMatchObject({ error_type: 'runs_limit', effect: 'none' });
    }
  });

  it('R11, R6: a shared delegation counts as the one run that it launches', async () => {
    stage.play({
      lead: ({ turn: n }) => {
        if (n > 6) return 'done';
        return calls(...[1, 2, 3].map(() => delegation('orderly', `${n}`)));
      },
      orderly: 'x',
    });
    const { events } = await stage.run('lead');
    expect(ofType(events, 'delegation.started')).toHaveLength(6);
    expect(ofType(events, 'tool.failed')).toEqual([]);
  });

  it('R13: every run has one terminal event, and it is its last', async () => {
    stage.play({ lead: [delegate('worker', 'a'), 'done'], worker: { status: 400 } });
    const { run, events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(typesOf(events, run.id).at(-1)).toBe('run.completed');
    expect(typesOf(events, `${run.id}/delegate/01`).slice(-2)).toEqual([
      'model.failed',
      'run.failed',
    ]);
  });
});
