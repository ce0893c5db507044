import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { examineState } from '../../src/examination.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { openJournalReader } from '../../src/runtime/journal-reader.ts';
import { COLUMNS, SUM } from '../../src/runtime/journal-schema.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { openStateDir } from '../../src/runtime/state-dir.ts';
import { type GoodJournals, goodJournals, writeJournal } from '../support/good-journals.ts';
import {
  newEvent,
  openJournal,
  readAll,
  seqsOf,
  temporaryDir,
} from '../support/journal-fixture.ts';
import { MUTATIONS } from '../support/journal-mutations.ts';

const PAGE_BYTES = 4096;

let good: GoodJournals;

beforeAll(async () => {
  good = await goodJournals();
}, 60_000);

/** A state directory whose journal holds these events. */
function stateWith(events: readonly JournalEvent[]): { state: string; file: string } {
  const state = temporaryDir();
  const file = join(state, 'journal.db');
  writeJournal(file, events);
  return { state, file };
}

function change(file: string, sql: string): void {
  const db = openSqlite(file);
  db.exec(sql);
  db.close();
}

function codesOf(state: string): string[] {
  return examineState(state).findings.map(({ code }) => code);
}

/** The same journal again and again, each time as other runs. */
function repeated(events: readonly JournalEvent[], times: number): JournalEvent[] {
  const text = JSON.stringify(events);
  const id = events[0]?.run_id ?? '';
  return Array.from({ length: times }, (_, at) =>
    (JSON.parse(text.replaceAll(id, `run_copy${at}`)) as JournalEvent[]).map((event) => ({
      ...event,
      seq: event.seq + at * events.length,
      ts: '2026-01-01T00:00:00.000Z',
    })),
  ).flat();
}

describe('a state directory, examined from its files alone', () => {
  it('is healthy where it is sound, and is left as it was', () => {
    for (const events of Object.values(good)) {
      const { state, file } = stateWith(events);
      const before = readFileSync(file);
      expect(examineState(state)).toMatchObject({
        events: events.length,
        host: 'free',
        findings: [],
      });
      expect(readFileSync(file)).toEqual(before);
    }
  });

  it('J8: every change of a journal that a file can hold is named', () => {
    let written = 0;
    for (const { what, of, change: mutate, code } of MUTATIONS) {
      const events = mutate(good[of]);
      const isWritable = events.every(
        (event, at) =>
          event.seq > (events[at - 1]?.seq ?? 0) &&
          /#\d+$/.test(event.event_id) &&
          event.event_id.startsWith(`${event.run_id}#`),
      );
      if (!isWritable) continue;
      written += 1;
      const { state } = stateWith(events);
      // A reader that finds a position missing says so itself.
      const expected = code === 'seq-gap' ? 'journal-damaged' : code;
      expect(codesOf(state), what).toContain(expected);
      rmSync(state, { recursive: true });
    }
    expect(written).toBeGreaterThan(100);
  }, 60_000);

  it('tells a lock that is held from a host that is gone', () => {
    const { state } = stateWith(good.desk);
    const { lock, hostFile } = openStateDir(state);
    expect(examineState(state)).toMatchObject({
      host: 'held',
      findings: [{ code: 'lock-held', severity: 'info' }],
    });
    const record = readFileSync(hostFile);
    rmSync(hostFile);
    expect(codesOf(state)).toEqual(['host-record-missing']);
    lock.release();
    writeFileSync(hostFile, record);
    expect(examineState(state)).toMatchObject({
      host: 'free',
      findings: [{ code: 'host-record-stale', severity: 'info' }],
    });
  });

  it('looking at a lock takes it from nobody', () => {
    const { state } = stateWith(good.desk);
    const { lock } = openStateDir(state);
    examineState(state);
    expect(() => openStateDir(state)).toThrow(expect.objectContaining({ code: 'state.locked' }));
    lock.release();
    examineState(state);
    openStateDir(state).lock.release();
  });

  it('R12: names results that no event names, and events whose result is gone', () => {
    const [first] = good.desk;
    const runId = first?.run_id ?? '';
    const name = `${runId}/turn-1-call-5.txt`;
    const events = good.desk.map((event) =>
      event.type === 'tool.completed' && event.data['name'] === 'send'
        ? { ...event, data: { ...event.data, full_path: `/elsewhere/.troupe/results/${name}` } }
        : event,
    );
    const { state } = stateWith(events);
    expect(codesOf(state)).toEqual(['result-missing']);
    const keep = (path: string) => {
      mkdirSync(dirname(join(state, 'results', path)), { recursive: true });
      writeFileSync(join(state, 'results', path), 'all of it');
    };
    keep(name);
    expect(codesOf(state)).toEqual([]);
    keep(`${runId}~delegate~01/turn-9-call-9.txt`);
    keep('run_unknown/turn-1-call-1.txt');
    expect(codesOf(state)).toEqual(['result-orphaned', 'result-orphaned']);
  });

  it('J5: a result of a run that goes on may be there before its event', () => {
    const cut = good.desk.slice(0, 12);
    const { state } = stateWith(cut);
    const folder = join(state, 'results', cut[0]?.run_id ?? '');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'turn-1-call-5.txt'), 'all of it');
    expect(codesOf(state)).toEqual(['unfinished']);
  });

  it.runIf(process.getuid?.() === 0)(
    'is read where its folder takes no file, and nothing stays behind',
    async () => {
      const { state, file } = stateWith(good.desk);
      const journal = await openJournal(file);
      const last = good.desk.at(-1)?.seq;
      expect(journal.lastSeq).toBe(last);
      await journal.close();
      chmodSync(file, 0o444);
      chmodSync(state, 0o555);
      const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('troupe-copy-'));
      const before = copies();
      process.seteuid?.(65534);
      try {
        expect(examineState(state)).toMatchObject({ events: last, findings: [] });
      } finally {
        process.seteuid?.(0);
      }
      expect(copies()).toEqual(before);
    },
  );

  it('where there is no journal, says so', () => {
    const state = temporaryDir();
    expect(() => examineState(state)).toThrow(
      expect.objectContaining({
        code: 'argument.invalid',
        message: expect.stringContaining(state),
      }),
    );
  });
});

describe('J8: bytes that changed on the disk', () => {
  it('are noticed inside a text that is still valid JSON', () => {
    const { state, file } = stateWith(good.desk);
    const bytes = readFileSync(file);
    // SQLite leaves copies behind where it divides a page.
    for (
      let at = bytes.indexOf('All at once.');
      at !== -1;
      at = bytes.indexOf('All at once.', at)
    ) {
      bytes[at] = (bytes[at] ?? 0) ^ 0x02;
    }
    writeFileSync(file, bytes);
    const seq = good.desk.find(({ data }) => data['text'] === 'All at once.')?.seq ?? 0;
    const reader = openJournalReader(file);
    expect(() => [...reader.read()]).toThrow(
      expect.objectContaining({
        code: 'journal.corrupt',
        message: expect.stringContaining(`seq ${seq}`),
        detail: expect.objectContaining({ readableTo: seq - 1 }),
      }),
    );
    expect(seqsOf([...reader.read({ afterSeq: seq })])).toHaveLength(good.desk.length - seq);
    expect(reader.integrity()).toMatchObject({
      ok: false,
      place: expect.stringContaining(`seq ${seq}`),
    });
    reader.close();
    const { events, findings } = examineState(state);
    expect(events).toBe(seq - 1);
    expect(findings).toMatchObject([
      {
        code: 'journal-damaged',
        words: expect.stringMatching(
          new RegExp(
            `seq ${seq}.*; ${seq - 1} events before it could be read, ${good.desk.length - seq} after it`,
          ),
        ),
      },
    ]);
    expect(JSON.stringify(findings)).not.toContain('at once');
  });

  it.each(COLUMNS)('are noticed in column %s', (column) => {
    const { state, file } = stateWith(good.desk);
    const isNumber = column === 'n' || column === 'v';
    const other = column === 'data' ? `replace(data, '"turn"', '"torn"')` : `'changed'`;
    const set = isNumber ? `${column} + 1` : other;
    change(file, `UPDATE events SET ${column} = ${set} WHERE seq = 20`);
    change(file, `UPDATE events SET ${column} = ${set} WHERE type = 'turn.started'`);
    expect(codesOf(state)).toContain('journal-damaged');
  });

  it('are noticed where a row took the place of another', () => {
    const { state, file } = stateWith(good.desk);
    change(file, 'UPDATE events SET seq = -1 WHERE seq = 20');
    change(file, 'UPDATE events SET seq = 20 WHERE seq = 21');
    change(file, 'UPDATE events SET seq = 21 WHERE seq = -1');
    expect(examineState(state)).toMatchObject({
      events: 19,
      findings: [{ code: 'journal-damaged', words: expect.stringContaining('seq 20') }],
    });
  });

  it('of a truncated file cost what stood behind them, and nothing is made up', () => {
    const events = repeated(good.desk, 40);
    const { state, file } = stateWith(events);
    truncateSync(file, Math.floor(statSync(file).size / (2 * PAGE_BYTES)) * PAGE_BYTES + 100);
    const { events: read, findings } = examineState(state);
    expect(read).toBeGreaterThan(events.length / 4);
    expect(read).toBeLessThan(events.length);
    expect(findings.map(({ code }) => code)).toEqual(['journal-damaged']);
    expect(findings[0]?.words).toContain(`${read} events before it could be read`);
  });

  it('in an index are named, and every event is audited all the same', () => {
    const { state, file } = stateWith(repeated(good.desk, 40));
    const db = openSqlite(file);
    const row = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'events_by_run'").get();
    db.close();
    const bytes = readFileSync(file);
    bytes.fill(
      0xff,
      (Number(row?.['rootpage']) - 1) * PAGE_BYTES,
      Number(row?.['rootpage']) * PAGE_BYTES,
    );
    writeFileSync(file, bytes);
    expect(examineState(state)).toMatchObject({
      events: good.desk.length * 40,
      findings: [
        { code: 'journal-damaged', words: expect.stringContaining('could be read nevertheless') },
      ],
    });
  });
});

describe('a journal of before rows had sums', () => {
  function olderFile(): string {
    const { file } = stateWith(repeated(good.desk, 8));
    change(file, `ALTER TABLE events DROP COLUMN ${SUM}; PRAGMA user_version = 1`);
    return file;
  }

  it('J2: is read as it is, also where only its pages are left', () => {
    const file = olderFile();
    expect(codesOf(dirname(file))).toEqual([]);
    const bytes = readFileSync(file);
    bytes.write('not a database!!');
    writeFileSync(file, bytes);
    const reader = openJournalReader(file);
    const seqs: number[] = [];
    expect(() => {
      for (const { seq } of reader.read()) seqs.push(seq);
    }).toThrow(expect.objectContaining({ code: 'journal.corrupt' }));
    expect(seqs).toHaveLength(good.desk.length * 8);
    reader.close();
  });

  it('goes on with sums, and what it had stays as it was', async () => {
    const file = olderFile();
    const journal = await openJournal(file);
    await journal.append([newEvent('run_new', 1)]).durable;
    const events = await readAll(journal);
    await journal.close();
    expect(events).toHaveLength(good.desk.length * 8 + 1);
    change(file, `UPDATE events SET frame_id = 'x' WHERE run_id = 'run_new'`);
    const reader = openJournalReader(file);
    expect(reader.integrity()).toMatchObject({ ok: false });
    reader.close();
  });
});

describe('a journal under way', () => {
  it('J8: with a torn write-ahead log is whole up to its last whole commit', async () => {
    const file = join(temporaryDir(), 'journal.db');
    const journal = await openJournal(file);
    for (const event of good.desk) await journal.append([event]).durable;
    const state = temporaryDir();
    copyFileSync(file, join(state, 'journal.db'));
    copyFileSync(`${file}-wal`, join(state, 'journal.db-wal'));
    truncateSync(join(state, 'journal.db-wal'), statSync(`${file}-wal`).size - 3000);
    const { events, findings } = examineState(state);
    expect(events).toBeGreaterThan(10);
    expect(events).toBeLessThan(good.desk.length);
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(findings.map(({ code }) => code)).toContain('unfinished');
  });

  it('that met a full disk is sound up to there', async () => {
    const state = temporaryDir();
    const journal = await openJournal(join(state, 'journal.db'), { pagesMax: 60 });
    const events = repeated(good.desk, 40);
    let fault: unknown = null;
    for (const event of events) {
      await journal.append([event]).durable.catch((thrown: unknown) => {
        fault ??= thrown;
      });
      if (fault !== null) break;
    }
    expect(fault).toMatchObject({
      code: 'journal.unwritable',
      message: expect.stringContaining('full'),
    });
    await journal.close().catch(() => undefined);
    const found = examineState(state);
    expect(found.events).toBeGreaterThan(50);
    expect(found.findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  it('whose clock was set back is healthy, with a warning', () => {
    const back = good.desk.map((event, at) =>
      at < 20 ? event : { ...event, ts: event.ts.replace(/^\d{4}/, '2001') },
    );
    const { state } = stateWith(back);
    expect(examineState(state).findings).toMatchObject([
      { code: 'clock-backwards', severity: 'warning', seq: 21 },
    ]);
  });

  it.each([
    ['deleted', (file: string) => rmSync(dirname(file), { recursive: true })],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}.copy`);
        rmSync(file);
        copyFileSync(`${file}.copy`, file);
      },
    ],
  ])('that is %s while it is open acknowledges nothing more', async (_, takeAway) => {
    const file = join(temporaryDir(), 'state', 'journal.db');
    mkdirSync(dirname(file));
    const journal = await openJournal(file);
    await journal.append([newEvent('run_a', 1)]).durable;
    takeAway(file);
    await expect(journal.append([newEvent('run_a', 2)]).durable).rejects.toMatchObject({
      code: 'journal.unwritable',
      message: expect.stringMatching(/deleted or replaced while it was open/),
    });
    expect(journal.lastSeq).toBe(1);
  });
});
