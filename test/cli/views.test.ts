import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { type CliProcess, type CliStage, openCli } from '../support/cli-fixture.ts';
import { gate } from '../support/model-server.ts';
import { delegate, eventsIn } from '../support/troupe-fixture.ts';

async function idOf(run: CliProcess): Promise<string> {
  const [, runId = ''] = await run.says(/^run (run_\S+)$/m);
  return runId;
}

/** A lead that waits for its one child, until the gate is opened. */
async function waiting(stage: CliStage) {
  const asked = gate();
  stage.play({
    lead: [delegate('worker', 'part'), 'all done'],
    worker: [() => asked.opened.then(() => 'my part')],
  });
  const run = stage.start(['run', 'lead', 'go']);
  const runId = await idOf(run);
  await stage.server.request(1);
  return { run, runId, asked };
}

function eventLines(text: string): JournalEvent[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JournalEvent);
}

describe('looking at runs beside their host', () => {
  it('K1, K2: ps and tree show what runs, in words and as JSON', async () => {
    const stage = await openCli();
    const { run, runId, asked } = await waiting(stage);
    const ps = await stage.cli('ps');
    expect(ps.out.split('\n')[0]).toMatch(/^RUN +AGENT +STATUS +TURNS +STARTED +TOOK$/);
    expect(ps.out).toMatch(new RegExp(`^${runId} +lead +running +1 `, 'm'));
    expect(JSON.parse((await stage.cli('ps', '--json')).out)).toEqual([
      expect.objectContaining({
        run_id: runId,
        agent_id: 'lead',
        status: 'running',
        depth: 0,
        parent_run_id: null,
        turns: 1,
        ended_at: null,
      }),
      expect.objectContaining({
        run_id: `${runId}/delegate/01`,
        agent_id: 'worker',
        depth: 1,
        parent_run_id: runId,
      }),
    ]);
    const tree = await stage.cli('tree', runId.slice(0, 8));
    expect(tree.out).toMatch(
      /^lead run_\S+ +running +1 turn +\S+ +\S+ +1\/2 +delegate\n└─ worker delegate\/01 +running /,
    );
    expect(JSON.parse((await stage.cli('tree', runId, '--json')).out)).toMatchObject({
      run_id: runId,
      agent_id: 'lead',
      status: 'running',
      children: [
        { run_id: `${runId}/delegate/01`, agent_id: 'worker', status: 'running', children: [] },
      ],
    });
    asked.open();
    expect(await run.code).toBe(0);
  });

  it('J3, K1: log --follow --subtree --json gives every event once, in order, to the end of the run', async () => {
    const stage = await openCli();
    const { run, runId, asked } = await waiting(stage);
    const log = stage.start(['log', runId, '--follow', '--subtree', '--json']);
    await log.says(/"delegation\.started"/, 'out');
    asked.open();
    expect(await log.code).toBe(0);
    await run.code;
    expect(eventLines(log.out)).toEqual(eventsIn(join(stage.dir, '.troupe')));
  });

  it('log --follow of one run leaves its children out and ends with it', async () => {
    const stage = await openCli();
    const { runId, asked } = await waiting(stage);
    const log = stage.start(['log', runId, '--follow']);
    await log.says(/delegation\.started/, 'out');
    asked.open();
    expect(await log.code).toBe(0);
    expect(log.out).not.toMatch(/run\.started +agent worker/);
    expect(log.out.trim().split('\n').at(-1)).toMatch(/ - +run\.completed +2 turns: all done$/);
  });
});

describe('looking at runs without a host', () => {
  it('K2: ps, tree and log work from the journal alone', async () => {
    const stage = await openCli();
    stage.play({ lead: [delegate('worker', 'part'), 'all done'], worker: ['my part'] });
    const run = stage.start(['run', 'lead', 'go']);
    const runId = await idOf(run);
    await run.code;
    expect((await stage.cli('ps')).out).toMatch(/delegate\/01 +worker +completed +1 /);
    const tree = await stage.cli('tree', runId);
    expect(tree).toMatchObject({ code: 0, err: '' });
    expect(tree.out).toMatch(/^lead .* completed +2 turns/);
    const log = await stage.cli('log', runId, '--json');
    expect(eventLines(log.out)).toEqual(
      eventsIn(join(stage.dir, '.troupe')).filter((event) => event.run_id === runId),
    );
    expect(await stage.cli('log', runId, '--follow')).toMatchObject({ code: 0, err: '' });
  });

  it('a run whose host was killed is shown as interrupted, and following it says that nobody goes on', async () => {
    const stage = await openCli();
    const { run, runId } = await waiting(stage);
    run.kill('SIGKILL');
    await run.code;
    const ps = await stage.cli('ps');
    expect(ps.out).toMatch(new RegExp(`^${runId} +lead +interrupted`, 'm'));
    expect(ps.err).toBe('1 unfinished run: `troupe resume` goes on with it\n');
    expect((await stage.cli('tree', runId)).out).toMatch(/^lead run_\S+ +interrupted/);
    const log = await stage.cli('log', runId, '--follow');
    expect(log.code).toBe(1);
    expect(log.out).toContain('delegation.started');
    expect(log.err).toMatch(/has not ended, and no host is running on \S+\.troupe/);
    expect((await stage.cli('note', runId, 'x')).err).toContain('no host is running on');
  });

  it('an ambiguous beginning lists the runs that it may mean', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'one');
    await stage.cli('run', 'puppet', 'two');
    const { code, out, err } = await stage.cli('tree', 'run_');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(
      /^error: 'run_' is the beginning of 2 runs; write more of it:\n {2}run_\S+\n {2}run_\S+\n$/,
    );
  });

  it('where nothing has run, it says which folder it looked in', async () => {
    const stage = await openCli();
    const { code, err } = await stage.cli('ps', '--state', 'elsewhere');
    expect(code).toBe(2);
    expect(err).toMatch(/there is no journal at \S+elsewhere\/journal\.db.*--state/);
  });

  it('J8: a damaged journal shows what precedes the damage, then where it is', async () => {
    const stage = await openCli();
    for (let n = 0; n < 12; n += 1) await stage.cli('run', 'puppet', 'x'.repeat(3000), '--quiet');
    const file = join(stage.dir, '.troupe', 'journal.db');
    const bytes = readFileSync(file);
    bytes.fill(0xff, Math.floor(bytes.length / 2));
    writeFileSync(file, bytes);
    const { code, out, err } = await stage.cli('ps');
    expect(code).toBe(1);
    expect(out.split('\n').length).toBeGreaterThan(2);
    expect(err).toMatch(/^error: .*journal\.db/m);
  }, 60_000);

  it('log | head is no error', async () => {
    const stage = await openCli();
    const { runId, asked } = await waiting(stage);
    const log = stage.start(['log', runId, '--follow', '--subtree']);
    await log.says(/run\.started/, 'out');
    log.hangUp();
    asked.open();
    expect(await log.code).toBe(0);
    expect(log.err).toBe('');
  });
});
