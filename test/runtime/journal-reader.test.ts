import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault } from '../../src/base/fault.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { type JournalReader, openJournalReader } from '../../src/runtime/journal-reader.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import {
  newEvent,
  newEvents,
  openJournal,
  seqsOf,
  temporaryDir,
  upTo,
} from '../support/journal-fixture.ts';

const PAGE_BYTES = 4096;

/** A closed journal of `count` events of about 500 bytes. */
async function writtenFile(count: number): Promise<string> {
  const file = join(temporaryDir(), 'journal.db');
  const journal = await openJournal(file);
  const text = 'y'.repeat(400);
  journal.append(upTo(count).map((n) => newEvent(`run_${n % 7}`, n, { text })));
  await journal.close();
  return file;
}

test('K2: a journal is read with no host, and nothing is left behind', async () => {
  const file = await writtenFile(1000);
  const before = readFileSync(file);
  const reader = openJournalReader(file);
  expect(reader.lastSeq()).toBe(1000);
  expect(seqsOf([...reader.read()])).toEqual(upTo(1000));
  expect([...reader.read({ runId: 'run_3', limit: 2 })].map((event) => event.event_id)).toEqual([
    'run_3#3',
    'run_3#10',
  ]);
  expect(reader.integrity()).toEqual({ ok: true });
  reader.close();
  expect(readFileSync(file)).toEqual(before);
});

test('J6: two readers follow while a host writes, each sees only whole commits, in order', async () => {
  const file = join(temporaryDir(), 'journal.db');
  const journal = await openJournal(file);
  await journal.append(newEvents('run_a', 10)).durable;
  const readers = [openJournalReader(file), openJournalReader(file)];
  const seen: number[][] = [[], []];
  for (let batch = 1; batch <= 50; batch += 1) {
    const { durable } = journal.append(newEvents('run_a', 10, batch * 10 + 1));
    readers.forEach((reader, at) => {
      const news = seqsOf([...reader.read({ afterSeq: seen[at]?.at(-1) ?? 0 })]);
      expect(news.length % 10).toBe(0);
      seen[at]?.push(...news);
    });
    await durable;
  }
  for (const [at, reader] of readers.entries()) {
    seen[at]?.push(...seqsOf([...reader.read({ afterSeq: seen[at]?.at(-1) ?? 0 })]));
    expect(seen[at]).toEqual(upTo(510));
    reader.close();
  }
});

test('a reader that dawdles between two pages holds back no checkpoint', async () => {
  const file = join(temporaryDir(), 'journal.db');
  const journal = await openJournal(file);
  await journal.append(newEvents('run_a', 1000)).durable;
  const reader = openJournalReader(file);
  const dawdling = reader.read()[Symbol.iterator]();
  expect(dawdling.next().value).toMatchObject({ seq: 1 });
  await journal.append([newEvent('run_b', 1, { text: 'z'.repeat(9_000_000) })]).durable;
  const other = openSqlite(file);
  const [checkpoint] = other.pragma('wal_checkpoint(TRUNCATE)');
  other.close();
  expect(checkpoint).toMatchObject({ busy: 0 });
  expect(statSync(`${file}-wal`).size).toBe(0);
  let last = 1;
  for (let next = dawdling.next(); next.done !== true; next = dawdling.next())
    last = next.value.seq;
  expect(last).toBe(1000);
  reader.close();
});

test('a host that has not written yet is an empty journal; no file at all is a fault', async () => {
  const file = join(temporaryDir(), 'journal.db');
  expect(() => openJournalReader(file)).toThrow(
    expect.objectContaining({ code: 'argument.invalid', message: expect.stringContaining(file) }),
  );
  writeFileSync(file, '');
  const reader = openJournalReader(file);
  expect([[...reader.read()], reader.lastSeq(), reader.integrity()]).toEqual([[], 0, { ok: true }]);
  const journal = await openJournal(file);
  await journal.append(newEvents('run_a', 2)).durable;
  expect(seqsOf([...reader.read()])).toEqual([1, 2]);
  reader.close();
});

test('J8: of a file without a valid header the events are read, then the fault names it', async () => {
  const file = await writtenFile(1000);
  overwrite(file, 0, Buffer.from('not a database!!'));
  const reader = openJournalReader(file);
  const { events, fault } = readToDamage(reader);
  expect(seqsOf(events)).toEqual(upTo(1000));
  expect(fault).toMatchObject({ code: 'journal.corrupt', message: expect.stringContaining(file) });
  expect(() => reader.lastSeq()).toThrow(expect.objectContaining({ code: 'journal.corrupt' }));
  expect(reader.integrity()).toMatchObject({ ok: false });
  reader.close();
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'journal.corrupt' });
});

test('J8: a file that never was a database has no events, only the fault', () => {
  const file = join(temporaryDir(), 'journal.db');
  writeFileSync(file, Buffer.alloc(50_000, '\r\u0000\u0001junk'));
  const reader = openJournalReader(file);
  expect(readToDamage(reader)).toMatchObject({ events: [], fault: { code: 'journal.corrupt' } });
  reader.close();
});

test('J8: of a truncated file all that precedes the tear is read, then the place is named', async () => {
  const file = await writtenFile(5000);
  truncateSync(file, Math.floor(statSync(file).size / (2 * PAGE_BYTES)) * PAGE_BYTES + 100);
  const reader = openJournalReader(file);
  const { events, fault } = readToDamage(reader);
  expect(events.length).toBeGreaterThan(1000);
  expect(events.length).toBeLessThan(5000);
  expect(seqsOf(events)).toEqual(upTo(events.length));
  expect(fault).toMatchObject({ code: 'journal.corrupt', message: expect.stringContaining(file) });
  const ofOne = readToDamage(reader, { runId: 'run_3' });
  expect(ofOne.events.length).toBeGreaterThan(100);
  expect(ofOne.fault).toMatchObject({ code: 'journal.corrupt' });
  expect(reader.integrity()).toMatchObject({ ok: false });
  expect(() => reader.lastSeq()).toThrow(expect.objectContaining({ code: 'journal.corrupt' }));
  reader.close();
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'journal.corrupt' });
});

test.each([0.1, 0.35, 0.6, 0.99])(
  'J8: a page of garbage at %f of the file costs nothing that precedes it',
  async (where) => {
    const file = await writtenFile(5000);
    const pages = statSync(file).size / PAGE_BYTES;
    overwrite(file, Math.floor(pages * where) * PAGE_BYTES, Buffer.alloc(PAGE_BYTES, 0xff));
    const reader = openJournalReader(file);
    expect(reader.integrity()).toMatchObject({ ok: false, place: expect.stringContaining(file) });
    const { events, fault } = readToDamage(reader);
    // A row is lost only with its own page, and pages are filled in the order of rows.
    expect(events.length).toBeGreaterThan(5000 * where - 50);
    expect(seqsOf(events)).toEqual(upTo(events.length));
    if (events.length < 5000) {
      expect(fault).toMatchObject({
        code: 'journal.corrupt',
        message: expect.stringContaining(`after seq ${events.length}`),
        detail: { readableTo: events.length },
      });
    }
    const ofOne = readToDamage(reader, { runId: 'run_3' });
    expect(ofOne.events.map((event) => event.run_id)).toEqual(ofOne.events.map(() => 'run_3'));
    expect(ofOne.events.length).toBeGreaterThanOrEqual(Math.floor(events.length / 7));
    reader.close();
  },
);

test('J8: single bytes flipped all over the file never crash a read nor change its order', async () => {
  const source = await writtenFile(300);
  const { size } = statSync(source);
  const file = `${source}.flipped`;
  for (let at = 100; at < size; at += 1201) {
    copyFileSync(source, file);
    const byte = readFileSync(file)[at] ?? 0;
    overwrite(file, at, Buffer.from([byte ^ 0xff]));
    let seqs: number[] = [];
    try {
      const reader = openJournalReader(file);
      const { events } = readToDamage(reader);
      seqs = seqsOf(events);
      reader.close();
    } catch (error) {
      expect(['journal.corrupt', 'argument.invalid']).toContain((error as Fault).code);
    }
    expect(seqs).toEqual(upTo(seqs.length));
  }
});

test('J8: without its search tree the table is read leaf by leaf, long records and odd text too', async () => {
  const file = join(temporaryDir(), 'journal.db');
  const journal = await openJournal(file);
  const lengths = [0, 1, 480, 489, 490, 4000, 4050, 4061, 4062, 4084, 9000, 500_000];
  const { events } = journal.append(
    upTo(2000).map((n) =>
      newEvent(`run_${n}`, n * 70_000 * n, {
        text: `€\u0000👩${'z'.repeat(lengths[n % 12] ?? 0)}`,
      }),
    ),
  );
  await journal.close();
  const db = openSqlite(file);
  const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'events'").get();
  db.close();
  overwrite(file, (Number(root?.['rootpage']) - 1) * PAGE_BYTES, Buffer.alloc(PAGE_BYTES));
  const reader = openJournalReader(file);
  const read = readToDamage(reader);
  expect(read.events).toEqual(events);
  expect(read.fault).toMatchObject({ code: 'journal.corrupt', detail: { readableTo: 2000 } });
  expect(seqsOf(readToDamage(reader, { runId: 'run_77', limit: 1 }).events)).toEqual([77]);
  expect(readToDamage(reader, { afterSeq: 1990, limit: 3 }).fault).toBeNull();
  reader.close();
});

test('J8: a damaged index is no reason to lose events: they are found in the table', async () => {
  const file = await writtenFile(5000);
  const db = openSqlite(file);
  const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'events_by_run'").get();
  db.close();
  overwrite(file, (Number(root?.['rootpage']) - 1) * PAGE_BYTES, Buffer.alloc(PAGE_BYTES, 0xff));
  const reader = openJournalReader(file);
  expect(reader.integrity()).toMatchObject({ ok: false });
  expect(seqsOf([...reader.read({ runId: 'run_0' })])).toEqual(upTo(714).map((n) => n * 7));
  reader.close();
});

test('J8, C6: a row whose data is not JSON is named by its seq, and its text stays out of the message', async () => {
  const file = await writtenFile(50);
  change(file, `UPDATE events SET data = '{"key": sk-secret' WHERE seq = 31`);
  const reader = openJournalReader(file);
  const { events, fault } = readToDamage(reader);
  expect(seqsOf(events)).toEqual(upTo(30));
  expect(fault).toMatchObject({
    code: 'journal.corrupt',
    message: expect.stringContaining('seq 31'),
    detail: { readableTo: 30 },
  });
  expect(JSON.stringify([fault?.message, fault?.detail])).not.toContain('sk-secret');
  expect(reader.integrity()).toMatchObject({ ok: false, place: expect.stringContaining('seq 31') });
  expect(seqsOf(readToDamage(reader, { afterSeq: 31 }).events)).toEqual(upTo(50).slice(31));
  reader.close();
});

test.each([
  ['in the middle', 17, 16],
  ['at the very start', 1, 0],
])('J8: an event that is missing %s is named', async (_, missing, readable) => {
  const file = await writtenFile(50);
  change(file, `DELETE FROM events WHERE seq = ${missing}`);
  const reader = openJournalReader(file);
  const { events, fault } = readToDamage(reader);
  expect(seqsOf(events)).toEqual(upTo(readable));
  expect(fault?.message).toContain(`seq ${missing}`);
  expect(reader.integrity()).toMatchObject({
    ok: false,
    place: expect.stringContaining('missing'),
  });
  reader.close();
});

test('J8: the end of a write-ahead log that a crash tore off is dropped, the commits before it stand', async () => {
  const file = join(temporaryDir(), 'journal.db');
  const journal = await openJournal(file);
  for (const n of upTo(20)) await journal.append([newEvent('run_a', n)]).durable;
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  truncateSync(`${copy}-wal`, statSync(`${copy}-wal`).size - 3000);
  const reader = openJournalReader(copy);
  const seqs = seqsOf([...reader.read()]);
  expect(seqs.length).toBeGreaterThan(10);
  expect(seqs).toEqual(upTo(seqs.length));
  expect(reader.integrity()).toEqual({ ok: true });
  reader.close();
});

test('a read is bounded in what it looks at: one run among many is found by index', async () => {
  const file = await writtenFile(5000);
  const db = openSqlite(file, { readonly: true });
  const plan = (where: string, index: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN SELECT seq FROM events INDEXED BY ${index} WHERE ${where}`)
      .all()
      .map((row) => String(row['detail']));
  expect(plan("run_id > 'a/' AND run_id < 'a0' AND seq > 5", 'events_by_run')).toEqual([
    expect.stringMatching(/^SEARCH events USING COVERING INDEX events_by_run/),
  ]);
  expect(plan("type GLOB 'run.*' AND type IN ('run.started')", 'events_of_runs')).toEqual([
    expect.stringMatching(/^SEARCH events USING (COVERING )?INDEX events_of_runs/),
  ]);
  db.close();
});

function readToDamage(
  reader: JournalReader,
  filter?: Parameters<JournalReader['read']>[0],
): { events: JournalEvent[]; fault: Fault | null } {
  const events: JournalEvent[] = [];
  try {
    for (const event of reader.read(filter)) events.push(event);
    return { events, fault: null };
  } catch (error) {
    return { events, fault: error as Fault };
  }
}

function overwrite(file: string, at: number, bytes: Buffer): void {
  const content = readFileSync(file);
  bytes.copy(content, at);
  writeFileSync(file, content);
}

function change(file: string, sql: string): void {
  const db = openSqlite(file);
  db.exec(sql);
  db.close();
}
