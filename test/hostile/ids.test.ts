import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotOf } from '../support/hostile-box.ts';
import { openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;
let canary: string;
let runId: string;

beforeAll(async () => {
  stage = await openStage({ agents: { lead: {} }, troupe: { threads: 1 } });
  canary = join(stage.dir, 'canary');
  mkdirSync(canary);
  writeFileSync(join(canary, 'x'), 'the canary is yellow');
  stage.play({ lead: 'done' });
  runId = (await stage.run('lead')).run.id;
});

afterAll(() => stage.close());

const IDS = [
  '../../x',
  '/etc/passwd',
  '..',
  'run_%',
  'run_*',
  'run_________________',
  '%',
  "' OR 1=1 --",
  '"; DROP TABLE events; --',
  'run_\0',
  'run_\u202e',
  'r\u03c5n_abcdefghijkl',
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  'x'.repeat(100_000),
];

/** The code and the words of what a call throws. */
async function faultOf(work: () => unknown): Promise<readonly [unknown, string]> {
  try {
    return ['nothing was thrown', JSON.stringify(await work())];
  } catch (thrown) {
    return [(thrown as { code?: unknown }).code, (thrown as Error).message];
  }
}

describe('an id that is none finds nothing, in these words, and starts nothing', () => {
  it.each(IDS.map((id) => [id]))('%j', async (id) => {
    const { troupe } = stage;
    const before = [snapshotOf(canary), (await stage.events()).length];
    expect(await faultOf(() => troupe.tree(id))).toEqual([
      'run.not-found',
      `no run '${id}' in this journal; \`troupe ps\` lists them`,
    ]);
    expect(await faultOf(() => troupe.approve(id, { granted: true }))).toEqual([
      'approval.not-found',
      `no approval '${id}' in this journal; \`troupe approvals\` lists those that wait`,
    ]);
    const unknown = ['agent.not-found', `Unknown agent '${id}'. Available agents: lead`];
    expect(await faultOf(() => troupe.agentsFrom(id))).toEqual(unknown);
    const start = { prompt: 'x', workspace: stage.dir };
    expect(await faultOf(() => troupe.start({ ...start, agent: id }))).toEqual(unknown);
    expect((await faultOf(() => troupe.start({ ...start, agent: 'lead', project: id })))[1]).toBe(
      `unknown project '${id}'; configured: (none)`,
    );
    expect((await faultOf(() => troupe.startCron(id)))[1]).toBe(
      `no cron job '${id}'; configured: (none)`,
    );
    expect([troupe.run(id), troupe.backgroundRuns(id), await stage.events(id)]).toEqual([
      undefined,
      [],
      [],
    ]);
    expect([snapshotOf(canary), (await stage.events()).length]).toEqual(before);
  });

  it('while the id of a run finds it', async () => {
    expect(await stage.troupe.tree(runId)).toMatchObject({ run_id: runId });
    expect((await stage.events(runId)).length).toBeGreaterThan(0);
  });
});
