import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import { gate, type Reply } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import { calls, delegation, eventsIn } from '../support/troupe-fixture.ts';

const LEAVES = [calls(delegation('worker', 'part', { background: true })), 'all done'];

/** The one result file there is. */
function recordIn(stage: CliStage): object {
  const folder = join(stage.dir, 'delegate_results');
  const [name = ''] = readdirSync(folder);
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}

describe('a run that leaves a background run behind', () => {
  it('D9, K1: is carried until that has ended, which is said on stderr', async () => {
    const stage = await openCli();
    const shut = gate();
    const worker = async (): Promise<Reply> => {
      await shut.opened;
      return 'my part';
    };
    stage.play({ lead: LEAVES, worker: [worker] });
    const run = stage.start(['run', 'lead', 'go']);
    const [, runId = ''] = await run.says(/^run (\S+)/m);
    await run.says(new RegExp(`^run ${runId} has ended; waiting for its background runs: `, 'm'));
    shut.open();
    expect(await run.code).toBe(0);
    expect(recordIn(stage)).toMatchObject({ status: 'completed', owner_run_id: runId });
    const events = eventsIn(join(stage.dir, '.troupe'));
    audit(events);
    expect(events.at(-1)).toMatchObject({ type: 'run.completed', run_id: `${runId}/delegate/01` });
  });

  it('D9, K1: is stopped with it by Ctrl-C', async () => {
    const stage = await openCli();
    stage.play({ lead: LEAVES, worker: [{ hang: true }] });
    const run = stage.start(['run', 'lead', 'go']);
    await run.says(/waiting for its background runs/);
    run.kill('SIGINT');
    expect(await run.code).toBe(0);
    expect(recordIn(stage)).toMatchObject({ status: 'cancelled' });
  });

  it('D9, N2: can be told to stop it by `troupe cancel`, though it has ended itself', async () => {
    const stage = await openCli();
    stage.play({ lead: LEAVES, worker: [{ hang: true }] });
    const run = stage.start(['run', 'lead', 'go']);
    const [, runId = ''] = await run.says(/^run (\S+)/m);
    await run.says(/waiting for its background runs/);
    expect(await stage.cli('cancel', runId)).toMatchObject({
      code: 0,
      out: `${runId}: already ended: completed; cancelled ${runId}/delegate/01, which went on in the background\n`,
    });
    expect(await run.code).toBe(0);
    expect(recordIn(stage)).toMatchObject({ status: 'cancelled' });
    expect(JSON.parse((await stage.cli('cancel', runId, '--json')).out)).toEqual({
      run_id: runId,
      answer: 'already ended',
    });
  });

  it('D9, J5: is found by troupe resume although it has ended itself, and the file says how it went on', async () => {
    const stage = await openCli();
    let asked = 0;
    const worker = (): Reply => {
      asked += 1;
      return asked === 1 ? { hang: true } : 'my part';
    };
    stage.play({ lead: LEAVES, worker: [worker] });
    const run = stage.start(['run', 'lead', 'go']);
    const [, runId = ''] = await run.says(/^run (\S+)/m);
    await run.says(/waiting for its background runs/);
    run.kill('SIGKILL');
    await run.code;
    expect(recordIn(stage)).toMatchObject({ status: 'running' });
    const ps = await stage.cli('ps');
    expect(ps.out).toMatch(new RegExp(`${runId}/delegate/01 .*interrupted`));
    expect(ps.err).toContain('troupe resume');
    const { code, out, err } = await stage.cli('resume');
    expect({ code, out }).toEqual({ code: 0, out: 'my part\n' });
    expect(err).toMatch(new RegExp(`^run ${runId}/delegate/01$`, 'm'));
    expect(recordIn(stage)).toMatchObject({ status: 'completed' });
    audit(eventsIn(join(stage.dir, '.troupe')));
    expect((await stage.cli('resume')).err).toBe('nothing to resume in .troupe\n');
    expect((await stage.cli('tree', runId)).out).toContain('background');
    expect((await stage.cli('doctor')).code).toBe(0);
  });
});
