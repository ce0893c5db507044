import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { walFault } from '../../src/runtime/wal-fault.ts';

const FRAME = 24 + 4096;

let dir: string;
let copy: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'troupe-wal-'));
  copy = join(dir, 'copy.db');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A log with so many commits, as a killed host leaves it; `rounds` of it were checkpointed before. */
function lost(commits: number, rounds = 0): Buffer {
  const file = join(dir, 'live.db');
  const db = openSqlite(file);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE IF NOT EXISTS t (x)');
  const write = (count: number) => {
    for (let at = 0; at < count; at += 1) db.prepare('INSERT INTO t VALUES (?)').run(`row ${at}`);
  };
  for (let round = 0; round < rounds; round += 1) {
    write(20);
    db.pragma('wal_checkpoint(RESTART)');
  }
  write(commits);
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  db.close();
  return readFileSync(`${copy}-wal`);
}

function flip(log: Buffer, at: number): void {
  log[at] = (log[at] ?? 0) ^ 4;
  writeFileSync(`${copy}-wal`, log);
}

describe('J8: a write-ahead log', () => {
  it('that is whole, absent or empty is nothing to speak of', () => {
    lost(6);
    expect(walFault(copy)).toBeNull();
    truncateSync(`${copy}-wal`, 0);
    expect(walFault(copy)).toBeNull();
    expect(walFault(join(dir, 'none.db'))).toBeNull();
  });

  it('that was being written when its host was lost may end anywhere in its last commit', () => {
    const log = lost(6);
    for (const bytes of [1, FRAME - 1, FRAME + 7]) {
      writeFileSync(`${copy}-wal`, log.subarray(0, log.length - bytes));
      expect(walFault(copy)).toBeNull();
    }
    flip(log, log.length - 100);
    expect(walFault(copy)).toBeNull();
  });

  it('holds frames of the round before, which are no commits that were lost', () => {
    lost(2, 2);
    expect(walFault(copy)).toBeNull();
  });

  it.each([
    ['in a page', 24 + 2000],
    ['in a checksum', 18],
    ['in a salt', 9],
    ['in a page number', 3],
  ])(
    'with a flipped bit %s and commits behind it is said with the frame and their number',
    (_where, at) => {
      const log = lost(6);
      const frames = (log.length - 32) / FRAME;
      flip(log, 32 + 2 * FRAME + at);
      const fault = walFault(copy);
      expect(fault).toMatchObject({ code: 'journal.corrupt', detail: { frame: 3 } });
      expect(fault?.message).toContain(`the ${frames - 3} commits behind it`);
    },
  );

  it.each([2, 9, 40])(
    'with one flipped bit hides no two commits from SQLite unsaid (%i commits)',
    (commits) => {
      const log = lost(commits);
      const rowsIn = () => {
        copyFileSync(copy, join(dir, 'read.db'));
        copyFileSync(`${copy}-wal`, join(dir, 'read.db-wal'));
        const db = openSqlite(join(dir, 'read.db'));
        try {
          return Number(db.prepare('SELECT count(*) AS count FROM t').get()?.['count'] ?? 0);
        } catch {
          return 0;
        } finally {
          db.close();
          rmSync(join(dir, 'read.db-shm'), { force: true });
        }
      };
      for (let at = 0; at < log.length; at += at < 64 ? 1 : 1511) {
        const bad = Buffer.from(log);
        flip(bad, at);
        if (walFault(copy) === null)
          expect(rowsIn(), `byte ${at}`).toBeGreaterThanOrEqual(commits - 2);
      }
    },
  );
});
