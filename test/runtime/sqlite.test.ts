import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseDriver, sqliteFailure } from '../../src/runtime/sqlite.ts';
import { temporaryDir } from '../support/journal-fixture.ts';

const load = createRequire(import.meta.url);
const without =
  (...names: string[]) =>
  (name: string): unknown => {
    if (names.includes(name))
      throw new Error(`Could not locate the bindings file.\n Tried: ${name}`);
    return load(name);
  };
test('without better-sqlite3 and without node:sqlite the fault says the exact command that mends it', () => {
  expect(() => chooseDriver(without('better-sqlite3', 'node:sqlite'))).toThrow(
    expect.objectContaining({
      code: 'sqlite.absent',
      message: expect.stringMatching(
        /"npm install-scripts approve better-sqlite3 && npm rebuild better-sqlite3".*"npm rebuild better-sqlite3"/,
      ),
    }),
  );
});

test('a module that loads without its binding is a module that is missing', () => {
  const hollow = class {
    constructor() {
      throw new Error('Could not locate the bindings file');
    }
  };
  const loadHollow = (name: string): unknown => {
    if (name === 'better-sqlite3') return hollow;
    throw new Error(`no ${name}`);
  };
  expect(() => chooseDriver(loadHollow)).toThrow(
    expect.objectContaining({ code: 'sqlite.absent' }),
  );
});

/** Those of the two that this Node has; one of them at least, or there is nothing to test. */
const drivers = (
  [
    ['better-sqlite3', without('node:sqlite')],
    ['node:sqlite', without('better-sqlite3')],
  ] as const
).filter(([, from]) => {
  try {
    return chooseDriver(from) !== null;
  } catch {
    return false;
  }
});

test.each(drivers)(
  '%s: a transaction is all or nothing, and rows come back as they went in',
  (name, from) => {
    const db = chooseDriver(from)(join(temporaryDir(), 'a.db'), {});
    expect(db.driver).toBe(name);
    db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT) STRICT');
    const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
    db.transaction(() => insert.run(1, 'a\u0000b €'));
    expect(() =>
      db.transaction(() => {
        insert.run(2, null);
        insert.run(1, 'again');
      }),
    ).toThrow();
    expect(db.prepare('SELECT * FROM t').get()).toEqual({ id: 1, text: 'a\u0000b €' });
    expect([...db.prepare('SELECT id FROM t WHERE id > ?').iterate(0)]).toHaveLength(1);
    expect(db.prepare('SELECT * FROM t WHERE id = 2').get()).toBeUndefined();
    expect(db.pragma('user_version')).toMatchObject([{ user_version: 0 }]);
    db.close();
  },
);

test.each(drivers)('%s: failures are told apart by kind', (_, from) => {
  const open = chooseDriver(from);
  const dir = temporaryDir();
  const file = join(dir, 'a.db');
  const db = open(file, {});
  db.exec('CREATE TABLE t (text TEXT)');
  const other = open(file, { busyTimeoutMs: 0 });
  db.exec('BEGIN EXCLUSIVE');
  expect(failureOf(() => other.exec('BEGIN EXCLUSIVE'))).toBe('busy');
  db.exec('COMMIT');
  db.exec('PRAGMA max_page_count = 3');
  const fill = 'x'.repeat(100_000);
  expect(failureOf(() => db.prepare('INSERT INTO t VALUES (?)').run(fill))).toBe('full');
  const reader = open(file, { readonly: true });
  expect(failureOf(() => reader.exec('DELETE FROM t'))).toBe('readonly');
  expect(failureOf(() => open(join(dir, 'none', 'a.db'), {}))).toBe('cannot-open');
  expect(failureOf(() => open(join(dir, 'none.db'), { readonly: true }))).toBe('cannot-open');
  expect(failureOf(() => db.exec('nonsense'))).toBe('other');
  expect(sqliteFailure(new Error('of another kind'))).toBeNull();
  for (const one of [db, other, reader]) one.close();
});

function failureOf(work: () => unknown): unknown {
  try {
    work();
    return 'it did not fail';
  } catch (error) {
    return sqliteFailure(error);
  }
}
