import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import type { Reply } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import { delegate, eventsIn } from '../support/troupe-fixture.ts';

/** Starts a run, waits until so many requests are there in all, and kills its host. @returns its id. */
async function killedAfter(stage: CliStage, agent: string, requests: number): Promise<string> {
  const run = stage.start(['run', agent, 'go']);
  const [, runId = ''] = await run.says(/^run (\S+)/m);
  await stage.server.request(requests - 1);
  run.kill('SIGKILL');
  await run.code;
  return runId;
}

/** Says nothing the first time it is asked, then this. */
function later(said: Reply): () => Reply {
  let asked = 0;
  return () => {
    asked += 1;
    return asked === 1 ? { hang: true } : said;
  };
}

describe('troupe resume', () => {
  it('J5: goes on with a killed run under its old id, prints its answer alone, and asks nothing that was answered', async () => {
    const stage = await openCli();
    stage.play({ lead: [delegate('worker', 'part'), 'all done'], worker: [later('my part')] });
    const runId = await killedAfter(stage, 'lead', 2);
    const { code, out, err } = await stage.cli('resume');
    expect({ code, out }).toEqual({ code: 0, out: 'all done\n' });
    expect(err).toMatch(new RegExp(`^run ${runId}$`, 'm'));
    expect(err).toContain(`${runId} run.resumed`);
    expect(stage.server.requests.map(({ system }) => system)).toEqual([
      'agent:lead',
      'agent:worker',
      'agent:worker',
      'agent:lead',
    ]);
    const events = eventsIn(join(stage.dir, '.troupe'));
    audit(events);
    expect(events.filter(({ type }) => type === 'run.started')).toHaveLength(2);
    expect(await stage.cli('resume')).toEqual({
      code: 0,
      out: '',
      err: 'nothing to resume in .troupe\n',
    });
  });

  it('says that there is nothing to resume, exits 0, and leaves an untouched folder as it is', async () => {
    const stage = await openCli();
    const { code, out, err } = await stage.cli('resume');
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'nothing to resume in .troupe\n' });
    expect((await stage.cli('resume', '--json', '--quiet')).out).toBe('[]\n');
    expect(existsSync(join(stage.dir, '.troupe'))).toBe(false);
  });

  it('K1: takes up every unfinished run, shows each answer under its run, and exits with the worst outcome', async () => {
    const stage = await openCli();
    stage.play({
      quick: [later('quick answer')],
      worker: [later({ status: 400, body: { error: { message: 'no' } } })],
    });
    const first = await killedAfter(stage, 'quick', 1);
    const run = stage.start(['run', 'worker', 'go']);
    await run.says(/^1 unfinished run: `troupe resume` goes on with it$/m);
    const [, second = ''] = await run.says(/^run (\S+)/m);
    await stage.server.request(1);
    run.kill('SIGKILL');
    await run.code;
    const ps = await stage.cli('ps');
    expect(ps.err).toBe('2 unfinished runs: `troupe resume` goes on with them\n');
    const { code, out, err } = await stage.cli('resume');
    expect(code).toBe(1);
    expect(out).toBe(`${first} completed\nquick answer\n${second} failed\n`);
    expect(err).toContain(`${second}\nfailed: `);
  });

  it('K1: --json prints one array with an object for each run, as `run` prints it', async () => {
    const stage = await openCli();
    stage.play({ quick: [later('yes')] });
    const runId = await killedAfter(stage, 'quick', 1);
    const { code, out } = await stage.cli('resume', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ run_id: runId, status: 'completed', answer: 'yes' }]);
  });

  it('J6: is refused beside a live host, which goes on', async () => {
    const stage = await openCli();
    let say: (reply: Reply) => void = () => undefined;
    const answer = new Promise<Reply>((resolve) => {
      say = resolve;
    });
    stage.play({ quick: [() => answer] });
    const run = stage.start(['run', 'quick', 'go', '--quiet']);
    await stage.server.request(0);
    const { code, out, err } = await stage.cli('resume');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: state directory \S+\.troupe is in use by process \d+/m);
    say('mine');
    expect(await run.code).toBe(0);
    expect(run.out).toBe('mine\n');
  });

  it('K1: SIGINT cancels what it took up, and exits 130', async () => {
    const stage = await openCli();
    stage.play({ quick: [{ hang: true }] });
    const runId = await killedAfter(stage, 'quick', 1);
    const resumed = stage.start(['resume']);
    await stage.server.request(1);
    resumed.kill('SIGINT');
    expect(await resumed.code).toBe(130);
    expect(resumed.err).toContain('cancelled: stopped by the user (SIGINT)');
    const ends = eventsIn(join(stage.dir, '.troupe')).filter(({ run_id }) => run_id === runId);
    expect(ends.at(-1)?.type).toBe('run.cancelled');
  });
});
