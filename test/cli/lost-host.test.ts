import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import type { Reply } from '../support/model-server.ts';
import { calls, eventsIn, eventually } from '../support/troupe-fixture.ts';

const shell = (command: string) => ({ name: 'shell', args: { command } });
/** Does the process run? One that nobody has asked for its exit code yet does not. */
const isThere = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
};

/** Empties the first page of an index, as a bad sector would. */
function emptyIndex(file: string, name: string): void {
  const db = openSqlite(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const size = Number(db.pragma('page_size')[0]?.['page_size']);
  const row = db.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(name);
  db.close();
  const fd = openSync(file, 'r+');
  const at = (Number(row?.['rootpage']) - 1) * size;
  const kind = Buffer.alloc(1);
  readSync(fd, kind, 0, 1, at);
  expect(kind[0], 'a leaf of an index').toBe(10);
  writeSync(fd, Buffer.from([0, 0]), 0, 2, at + 3);
  closeSync(fd);
}

/** A host that is killed while its agent's second answer is waited for. */
async function killed(stage: CliStage): Promise<void> {
  const run = stage.start(['run', 'quick', 'go']);
  await stage.server.request(1);
  run.kill('SIGKILL');
  await run.code;
}

describe('a state directory', () => {
  it('J6: stays its host’s whatever the tools of a run look at', async () => {
    const stage = await openCli();
    const look = calls(
      { name: 'content_search', args: { pattern: 'x' } },
      { name: 'file_read', args: { path: '.troupe/lock.db' } },
      { name: 'content_search', args: { pattern: 'x', path: '.troupe' } },
    );
    stage.play({ quick: [look, { hang: true }] });
    const run = stage.start(['run', 'quick', 'go']);
    await stage.server.request(1);
    expect(stage.server.requests.at(-1)?.results[1]).toContain('forbidden');
    const second = await stage.cli('run', 'puppet', 'go');
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in use by process'),
    });
    run.kill('SIGINT');
    expect(await run.code).toBe(130);
  });

  it.each(['events_by_run', 'events_of_runs'])(
    'J5, J8: whose journal lost its index %s is taken up by nobody, and nothing is done twice',
    async (index) => {
      const stage = await openCli();
      stage.write('stubborn', '#!/bin/sh\necho done >> effects\n', 0o755);
      stage.play({ quick: [calls(shell('./stubborn')), { hang: true }, 'ok'] });
      await killed(stage);
      const file = join(stage.dir, '.troupe', 'journal.db');
      emptyIndex(file, index);
      expect(await stage.cli('resume')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^error: .*journal.*damaged|is damaged/),
      });
      expect(readFileSync(join(stage.dir, 'effects'), 'utf8')).toBe('done\n');
      expect((await stage.cli('doctor')).code).toBe(1);
    },
  );

  it('J5, J8: whose log has a flipped bit is opened by nobody until a person says so, and the doctor names the place', async () => {
    const stage = await openCli();
    stage.write('stubborn', '#!/bin/sh\necho done >> effects\n', 0o755);
    let asked = 0;
    const later = (): Reply => {
      asked += 1;
      return asked === 1 ? { hang: true } : 'ok';
    };
    stage.play({ quick: [calls(shell('./stubborn')), later] });
    await killed(stage);
    const wal = join(stage.dir, '.troupe', 'journal.db-wal');
    const log = readFileSync(wal);
    const whole = Buffer.from(log);
    const at = 32 + 2 * (24 + 4096) + 1000;
    log[at] = (log[at] ?? 0) ^ 1;
    writeFileSync(wal, log);
    const words =
      /write-ahead log is damaged: \S+journal\.db-wal, frame 3: its checksum is wrong, and the \d+ commits/;
    for (const command of [['resume'], ['run', 'puppet', 'go']]) {
      expect(await stage.cli(...command)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(words),
      });
    }
    expect(await stage.cli('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(words),
    });
    expect(readFileSync(wal), 'nothing has touched it').toEqual(log);
    writeFileSync(wal, whole);
    expect(await stage.cli('resume')).toMatchObject({ code: 0, out: 'ok\n' });
    expect(readFileSync(join(stage.dir, 'effects'), 'utf8')).toBe('done\n');
  });

  it.runIf(process.platform === 'linux')(
    'N2, J5: whose host was killed keeps no command of it once another host has it',
    async () => {
      const stage = await openCli();
      stage.write('stubborn', '#!/bin/sh\necho $$ > pid\nexec sleep 600\n', 0o755);
      stage.play({ quick: [calls(shell('./stubborn')), 'ok'] });
      const run = stage.start(['run', 'quick', 'go']);
      const pid = await eventually(() => {
        const text = readFileSync(join(stage.dir, 'pid'), 'utf8').trim();
        expect(text).not.toBe('');
        return Number(text);
      });
      run.kill('SIGKILL');
      await run.code;
      expect(isThere(pid), 'it outlived its host').toBe(true);
      expect(await stage.cli('resume')).toMatchObject({ code: 0, out: 'ok\n' });
      expect(isThere(pid)).toBe(false);
      const events = eventsIn(join(stage.dir, '.troupe'));
      expect(events.find(({ type }) => type === 'tool.failed')?.data).toMatchObject({
        error_type: 'interrupted',
        effect: 'uncertain',
      });
    },
  );
});
