import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import { gate } from '../support/model-server.ts';
import { delegate } from '../support/troupe-fixture.ts';

function change(stage: CliStage, sql: string): void {
  const db = openSqlite(join(stage.dir, '.troupe', 'journal.db'));
  db.exec(sql);
  db.close();
}

describe('troupe doctor', () => {
  it('says that a sound journal is healthy, in words and as JSON', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'one');
    const { code, out, err } = await stage.cli('doctor');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /\.troupe: 6 events of 1 run\n\nhealthy: 0 errors, 0 warnings, 0 notices\n$/,
    );
    const state = join(stage.dir, '.troupe');
    expect(JSON.parse((await stage.cli('doctor', '--json')).out)).toEqual({
      state,
      events: 6,
      runs: 1,
      host: 'free',
      findings: [],
      healthy: true,
    });
    expect(await stage.cli('doctor', '--quiet')).toEqual({ code: 0, out: '', err: '' });
  });

  it('looks beside a host that goes on, and leaves it alone', async () => {
    const stage = await openCli();
    const asked = gate();
    stage.play({
      lead: [delegate('worker', 'part'), 'all done'],
      worker: [() => asked.opened.then(() => 'my part')],
    });
    const run = stage.start(['run', 'lead', 'go']);
    await stage.server.request(1);
    const { code, out } = await stage.cli('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^state directory\n {2}info lock-held: process \d+, started \S+, owns the directory$/m,
    );
    expect(out).toMatch(
      /^run run_\S+\n {2}info unfinished at run_\S+ \(seq \d+\): the run has not ended/m,
    );
    asked.open();
    expect(await run.code).toBe(0);
    expect((await stage.cli('doctor')).out).toContain('healthy: 0 errors, 0 warnings, 0 notices');
  });

  it('J5: tells what a host that was killed has left, and what to do about it', async () => {
    const stage = await openCli();
    const never = gate();
    stage.play({ lead: [() => never.opened.then(() => 'never')] });
    const run = stage.start(['run', 'lead', 'go']);
    await stage.server.request(0);
    run.kill('SIGKILL');
    await run.code;
    const { code, out } = await stage.cli('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/info host-record-stale: host\.json names process \d+/);
    expect(out).toMatch(/info unfinished at .*\n +`troupe resume` carries it on/);
    never.open();
  });

  it('exits with 1 and names the run, the event and the advice where something is wrong', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'one');
    change(
      stage,
      "UPDATE events SET parent_event_id = NULL, sum = NULL WHERE type = 'turn.completed'",
    );
    const { code, out } = await stage.cli('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^run (run_\S+)\n {2}error cause-missing at \1#5 \(seq 5\): it names no cause\n +something of the journal is gone: restore a copy/m,
    );
    expect(out).toMatch(/^damaged: 1 error, 0 warnings, 0 notices$/m);
    const json = await stage.cli('doctor', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      healthy: false,
      findings: [{ code: 'cause-missing', severity: 'error', seq: 5 }],
    });
    expect((await stage.cli('doctor', '--quiet')).out).toContain('cause-missing');
  });

  it('J8: names the place of a changed byte, and what can still be read', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'one');
    change(stage, `UPDATE events SET data = replace(data, 'only', 'also') WHERE seq = 4`);
    const { code, out } = await stage.cli('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(
      /error journal-damaged: table events, seq 4: [^(]*; 3 events before it could be read, 2 after it/,
    );
  });

  it('exits with 2 where there is no journal, also one that was deleted', async () => {
    const stage = await openCli();
    expect(await stage.cli('doctor')).toMatchObject({ code: 2, out: '' });
    await stage.cli('run', 'puppet', 'one');
    rmSync(join(stage.dir, '.troupe'), { recursive: true });
    const { code, err } = await stage.cli('doctor');
    expect(code).toBe(2);
    expect(err).toMatch(/^error: there is no journal at \S+journal\.db/);
    expect((await stage.cli('doctor', 'run_x')).code).toBe(2);
  });
});
