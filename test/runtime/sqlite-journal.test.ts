import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openJournalReader } from '../../src/runtime/journal-reader.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { openSqliteJournal } from '../../src/runtime/sqlite-journal.ts';
import { threadEntry } from '../../src/thread-entry.ts';
import { journalContract } from '../contract/journal.contract.ts';
import {
  newEvent,
  newEvents,
  openJournal,
  readAll,
  seqsOf,
  temporaryDir,
  testThread,
  upTo,
} from '../support/journal-fixture.ts';

const newFile = () => join(temporaryDir(), 'journal.db');
const fill = { text: 'x'.repeat(3000) };

/** A file that may grow to 40 pages of 4 KiB, with a few events in it. */
async function openNearlyFull(file = newFile()) {
  const journal = await openJournal(file, { pagesMax: 40 });
  await journal.append(newEvents('run_a', 5)).durable;
  return journal;
}

journalContract('sqlite, sync full', {
  open: () => openJournal(newFile()),
  openFailing: () => openNearlyFull(),
});

journalContract('sqlite, sync normal', {
  open: () => openJournal(newFile(), { sync: 'normal' }),
  openFailing: () => openNearlyFull(),
});

test('J3: a journal that is opened again goes on where it ended, with what it had', async () => {
  const file = newFile();
  const first = await openJournal(file);
  const { events } = first.append(newEvents('run_a', 7));
  await first.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  const second = await openJournal(file);
  expect(second.lastSeq).toBe(7);
  expect(seqsOf(second.append(newEvents('run_b', 2)).events)).toEqual([8, 9]);
  expect((await readAll(second)).slice(0, 7)).toEqual(events);
});

test('J3: the file is a versioned SQLite database in WAL mode', async () => {
  const file = newFile();
  await openJournal(file);
  const db = openSqlite(file, { readonly: true });
  expect(db.pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(db.pragma('user_version')).toEqual([{ user_version: 3 }]);
  db.close();
});

test('a full disk ends all writing; what was acknowledged is there and complete', async () => {
  const file = newFile();
  const journal = await openNearlyFull(file);
  const acknowledged: number[] = [];
  journal.subscribe((events) => acknowledged.push(...seqsOf(events)));
  const failed = new Promise((resolve) => journal.onFailure(resolve));
  let fault: unknown;
  for (let n = 6; n < 1000 && fault === undefined; n += 1) {
    const { durable } = journal.append([newEvent('run_a', n, fill)]);
    await durable.catch((reason: unknown) => {
      fault = reason;
    });
  }
  expect(await failed).toBe(fault);
  expect(fault).toMatchObject({
    code: 'journal.unwritable',
    message: expect.stringMatching(/full.*free some space/s),
    detail: { file, sqlite: 'full' },
  });
  expect(acknowledged.length).toBeGreaterThan(5);
  await journal.close().catch(() => {});
  const again = await openJournal(file);
  const last = acknowledged.at(-1) ?? 0;
  expect(seqsOf(await readAll(again))).toEqual(upTo(last));
  expect(seqsOf(again.append([newEvent('run_a', last + 1)]).events)).toEqual([last + 1]);
  await again.flush();
});

test('a transaction that fails takes none of its events with it', async () => {
  const file = newFile();
  const journal = await openNearlyFull(file);
  const many = upTo(100).map((n) => newEvent('run_big', n, fill));
  await expect(journal.append(many).durable).rejects.toMatchObject({ code: 'journal.unwritable' });
  expect(await readAll(journal)).toHaveLength(5);
});

test('J6: a second writer of the same file is refused before it does harm', async () => {
  const file = newFile();
  const first = await openJournal(file);
  const second = await openJournal(file);
  await first.append(newEvents('run_a', 2)).durable;
  await expect(second.append(newEvents('run_b', 1)).durable).rejects.toMatchObject({
    code: 'journal.unwritable',
    message: expect.stringContaining('another writer'),
  });
  await first.append(newEvents('run_a', 1, 3)).durable;
  expect((await readAll(first)).map((event) => event.run_id)).toEqual(['run_a', 'run_a', 'run_a']);
});

test('J7: a thread that dies is a failure that names its exit, after what it had committed', async () => {
  const file = newFile();
  const journal = await openJournal(file, { entry: testThread('journal-mortal') });
  await journal.append(newEvents('run_a', 2)).durable;
  const said: unknown[] = [];
  journal.onFailure((fault) => said.push(fault));
  await expect(journal.append(newEvents('run_a', 1, 3)).durable).rejects.toMatchObject({
    code: 'journal.unwritable',
    message: expect.stringContaining('exit code 3'),
  });
  await expect(journal.append(newEvents('run_a', 1, 4)).durable).rejects.toBe(said[0]);
  expect(said).toHaveLength(1);
  expect(seqsOf(await readAll(journal, { limit: 2 }))).toEqual([1, 2]);
});

test('a thread that dies before it is ready fails the opening with its error', async () => {
  const file = join(temporaryDir(), 'dies-at-once.db');
  await expect(openJournal(file, { entry: testThread('journal-mortal') })).rejects.toMatchObject({
    code: 'journal.unwritable',
    message: expect.stringContaining('no heart to begin'),
  });
});

test.each([
  ['a missing directory', () => join(temporaryDir(), 'none', 'journal.db')],
  ['a path below a file', () => join(fileWith('text'), 'journal.db')],
  ['/proc', () => '/proc/journal.db'],
])('%s cannot hold a journal: journal.unwritable, with the next step', async (_, path) => {
  const file = path();
  await expect(openJournal(file)).rejects.toMatchObject({
    code: 'journal.unwritable',
    message: expect.stringMatching(new RegExp(`${file}.*--state`)),
  });
});

test('J8: a file that is no database is refused and left as it is', async () => {
  const file = fileWith('this is not a database, and long enough to be taken for one'.repeat(99));
  const before = readFileSync(file);
  await expect(openJournal(file)).rejects.toMatchObject({
    code: 'journal.corrupt',
    message: expect.stringContaining(file),
  });
  expect(readFileSync(file)).toEqual(before);
});

test('a database of another program, or of a newer troupe, is refused', async () => {
  const alien = newFile();
  const db = openSqlite(alien);
  db.exec('CREATE TABLE songs (name TEXT)');
  await expect(openJournal(alien)).rejects.toMatchObject({
    code: 'argument.invalid',
    message: expect.stringContaining('not a journal'),
  });
  db.exec('PRAGMA user_version = 99');
  db.close();
  await expect(openJournal(alien)).rejects.toMatchObject({
    code: 'argument.invalid',
    message: expect.stringContaining('newer troupe'),
  });
});

test('J5: kill -9 in the middle of appends loses nothing that was acknowledged, time after time', async () => {
  const file = newFile();
  let before = 0;
  for (const acknowledgements of [1, 40, 150]) {
    const child = spawn(
      process.execPath,
      [testThread('journal-child').pathname, file, threadEntry('journal').href],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const acknowledged = await killAfter(child, acknowledgements);
    expect(acknowledged).toBeGreaterThan(before);
    const journal = await openJournal(file);
    expect(journal.lastSeq).toBeGreaterThanOrEqual(acknowledged);
    expect(seqsOf(await readAll(journal))).toEqual(upTo(journal.lastSeq));
    const reader = openJournalReader(file);
    expect(reader.integrity()).toEqual({ ok: true });
    reader.close();
    before = journal.lastSeq;
    await journal.close();
  }
});

test('a process that has nothing left to commit ends although its journal is open', async () => {
  const child = spawn(
    process.execPath,
    [testThread('journal-idle').pathname, newFile(), threadEntry('journal').href],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, said]).toEqual([0, 'durable']);
});

test('a listener that throws is an uncaught exception and stops no other listener', async () => {
  const journal = await openSqliteJournal({ file: newFile(), entry: threadEntry('journal') });
  const uncaught = new Promise((resolve) => {
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => {
      for (const other of others) process.on('uncaughtException', other);
      resolve(error);
    });
  });
  const heard: number[] = [];
  journal.subscribe(() => {
    throw new Error('a listener of mine');
  });
  journal.subscribe((events) => heard.push(...seqsOf(events)));
  await journal.append([newEvent('run_a', 1)]).durable;
  expect(await uncaught).toMatchObject({ message: 'a listener of mine' });
  expect(heard).toEqual([1]);
  await journal.close();
});

function fileWith(text: string): string {
  const file = join(temporaryDir(), 'file.db');
  writeFileSync(file, text);
  return file;
}

/** The last position the child had acknowledged, by its own words, when it was killed. */
async function killAfter(child: ChildProcess, lines: number): Promise<number> {
  if (child.stdout === null) throw new Error('the child has no output');
  let last = 0;
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    count += 1;
    if (count === lines) child.kill('SIGKILL');
  }
  return last;
}
