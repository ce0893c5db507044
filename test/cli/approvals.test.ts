import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliProcess, type CliStage, openCli } from '../support/cli-fixture.ts';
import { calls, delegation, eventsIn, ofType } from '../support/troupe-fixture.ts';

const write = (path: string) => calls({ name: 'file_write', args: { path, content: 'x' } });

async function supervised(): Promise<CliStage> {
  const stage = await openCli();
  const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
  stage.write('troupe.toml', config.replace('autonomy = "full"', 'autonomy = "supervised"'));
  return stage;
}

/** The id that a command without a terminal says for the call of this agent. */
async function idSaid(run: CliProcess, agent: string): Promise<string> {
  const [, id = ''] = await run.says(
    new RegExp(`^approval (run_\\S+): ${agent} [^]*?to answer: troupe approve`, 'm'),
  );
  return id;
}

describe('troupe approve and deny', () => {
  it('X3: without a terminal run says how to answer, and waits for the answer of another one', async () => {
    const stage = await supervised();
    stage.play({ quick: [write('a'), 'done'] });
    const run = stage.start(['run', 'quick', 'go']);
    const id = await idSaid(run, 'quick');
    expect(existsSync(join(stage.dir, 'a'))).toBe(false);
    const [, runId = ''] = await run.says(/^run (run_\S+)$/m);
    expect(id).toMatch(new RegExp(`^${runId}#\\d+$`));
    expect((await stage.cli('tree', runId)).out).toContain('approval of file_write');
    expect((await stage.cli('log', runId)).out).toMatch(/approval\.requested +file_write \{"path"/);
    expect(await stage.cli('approve', id)).toEqual({ code: 0, out: `${id}: approved\n`, err: '' });
    expect(await run.code).toBe(0);
    expect(existsSync(join(stage.dir, 'a'))).toBe(true);
  });

  it('X3: two that ask at once get each its own answer, and the reason of a denial reaches the model', async () => {
    const stage = await supervised();
    const both = calls(delegation('worker', 'a'), delegation('quick', 'b'));
    stage.play({ lead: [both, 'done'], worker: [write('a'), 'ok'], quick: [write('b'), 'ok'] });
    const run = stage.start(['run', 'lead', 'go']);
    const first = await idSaid(run, 'worker');
    const second = await idSaid(run, 'quick');
    const said = await stage.cli('deny', second, 'not', 'today', '--json');
    expect(JSON.parse(said.out)).toEqual({ approval_id: second, granted: false });
    expect((await stage.cli('approve', first)).code).toBe(0);
    expect(await run.code).toBe(0);
    expect(existsSync(join(stage.dir, 'a'))).toBe(true);
    expect(existsSync(join(stage.dir, 'b'))).toBe(false);
    const told = stage.server.requests.flatMap(({ results }) => results);
    expect(told).toContain(
      "Tool call not executed: 'file_write' requires approval, and it was denied by user: not today",
    );
  });

  it('X3: the second answer, an unknown id and one of a run that has ended are refused in plain words', async () => {
    const stage = await supervised();
    stage.play({ quick: [write('a'), () => new Promise(() => undefined)] });
    const run = stage.start(['run', 'quick', 'go']);
    const id = await idSaid(run, 'quick');
    await stage.cli('deny', id, 'no');
    const refused = `error: approval ${id} was already denied by user: no\n`;
    expect(await stage.cli('approve', id)).toEqual({ code: 1, out: '', err: refused });
    const unknown =
      "error: no approval 'run_x#1' in this journal; `troupe approvals` lists those that wait\n";
    expect(await stage.cli('approve', 'run_x#1')).toMatchObject({ code: 1, err: unknown });
    run.kill('SIGTERM');
    await run.code;
    expect((await stage.cli('approve', id)).err).toBe(refused);
    expect((await stage.cli('deny', 'run_x#1')).err).toBe(unknown);
    expect(existsSync(join(stage.dir, 'a'))).toBe(false);
  });
});

describe('troupe approvals', () => {
  it('X3: lists what waits, as words and as JSON, and nothing else', async () => {
    const stage = await supervised();
    stage.play({ quick: [write('a'), 'done'] });
    const run = stage.start(['run', 'quick', 'go']);
    const id = await idSaid(run, 'quick');
    const { out } = await stage.cli('approvals');
    expect(out).toContain(`approval ${id}: quick (`);
    expect(out).toContain('  path: "a"\n');
    expect(out).toContain(`  to answer: troupe approve ${id}`);
    expect(JSON.parse((await stage.cli('approvals', '--json')).out)).toEqual([
      {
        approval_id: id,
        run_id: id.split('#')[0],
        agent_id: 'quick',
        tool: 'file_write',
        args: { path: 'a', content: 'x' },
        requested_at: expect.stringMatching(/^\d{4}-/),
        has_host: true,
      },
    ]);
    await stage.cli('approve', id);
    await run.code;
    expect(await stage.cli('approvals')).toEqual({ code: 0, out: '', err: 'nothing waits\n' });
    expect((await stage.cli('approvals', '--json')).out).toBe('[]\n');
  });

  it('X3, J5: a request whose host was killed is listed, and resume asks for it again under its id', async () => {
    const stage = await supervised();
    stage.play({ quick: [write('a'), 'done'] });
    const run = stage.start(['run', 'quick', 'go']);
    const id = await idSaid(run, 'quick');
    run.kill('SIGKILL');
    await run.code;
    expect((await stage.cli('approvals')).out).toContain('no host waits for it; `troupe resume`');
    const { code, err } = await stage.cli('approve', id);
    expect(code).toBe(1);
    expect(err).toContain('`troupe resume` does, and asks again under the same id');
    const resumed = stage.start(['resume']);
    expect(await idSaid(resumed, 'quick')).toBe(id);
    expect((await stage.cli('approve', id)).code).toBe(0);
    expect(await resumed.code).toBe(0);
    expect(existsSync(join(stage.dir, 'a'))).toBe(true);
    const events = eventsIn(join(stage.dir, '.troupe'));
    expect(ofType(events, 'approval.requested')).toHaveLength(1);
    expect(ofType(events, 'approval.granted')).toHaveLength(1);
  });
});
