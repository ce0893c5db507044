import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MEMORIES_MAX, type MemoryAnswer } from '../../src/runtime/core/memory.ts';
import { type MemoryStore, openMemoryStore } from '../../src/runtime/memory-store.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';

let dir: string;
let file: string;
let store: MemoryStore;
let calls = 0;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'troupe-memory-'));
  file = join(dir, 'memory.db');
  store = openMemoryStore(file);
});

afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

const who = (own: string, ...others: string[]) => ({ own, readable: [own, ...others] });

function put(agent: string, key: string, content: string, now = '2026-01-01T00:00:00.000Z') {
  calls += 1;
  const callKey = `run_x/turn-1/call-${calls}`;
  return store.answer({ type: 'store', as: who(agent), callKey, key, content, now });
}

function recall(as: ReturnType<typeof who>, query = '', limit = 5, agents: string[] | null = null) {
  const answer: MemoryAnswer = store.answer({ type: 'recall', as, query, limit, agents });
  return answer.type === 'recalled' ? answer.memories : [];
}

const keys = (...about: Parameters<typeof recall>) => recall(...about).map(({ key }) => key);

function forget(agent: string, key: string): MemoryAnswer {
  calls += 1;
  return store.answer({
    type: 'forget',
    as: who(agent),
    callKey: `run_x/turn-1/call-${calls}`,
    key,
  });
}

describe('memories', () => {
  it('X4: are found by the beginning of any word of key or content, whatever its case and its accents', () => {
    put('a', 'deploy', 'The Déploiement runs on Fridays');
    put('a', 'colour', 'blue');
    expect(keys(who('a'), 'friday')).toEqual(['deploy']);
    expect(keys(who('a'), 'deploiem')).toEqual(['deploy']);
    expect(keys(who('a'), 'COLOUR nothing')).toEqual(['colour']);
    expect(keys(who('a'), 'green')).toEqual([]);
  });

  it('X4: come with the best match first, and a key counts more than a content', () => {
    put('a', 'notes', 'something about a fox and about much else besides');
    put('a', 'fox', 'an animal');
    expect(keys(who('a'), 'fox')).toEqual(['fox', 'notes']);
    expect(keys(who('a'), 'fox', 1)).toEqual(['fox']);
  });

  it('X4: without a query, are those that were stored last', () => {
    put('a', 'old', 'x', '2026-01-01T00:00:00.000Z');
    put('a', 'new', 'x', '2026-01-02T00:00:00.000Z');
    expect(keys(who('a'))).toEqual(['new', 'old']);
  });

  it('X4: belong to one agent: another reads them only where it may, and never writes or forgets them', () => {
    put('a', 'k', 'of a');
    put('b', 'k', 'of b');
    expect(recall(who('b'), 'k').map(({ content }) => content)).toEqual(['of b']);
    expect(
      recall(who('b', 'a'), 'k')
        .map(({ agent_id }) => agent_id)
        .sort(),
    ).toEqual(['a', 'b']);
    expect(forget('b', 'k')).toEqual({ type: 'forgotten' });
    expect(forget('b', 'k')).toMatchObject({ type: 'refused', errorType: 'not_found' });
    expect(store.list().map(({ agent_id }) => agent_id)).toEqual(['a']);
  });

  it('X4: of agents that may not be read are nothing, not everything', () => {
    put('a', 'k', 'of a');
    expect(recall(who('b'), 'k', 5, ['a'])).toEqual([]);
    expect(recall(who('b'), '', 5, [])).toEqual([]);
    expect(recall(who('b', 'a'), '', 5, ['a']).map(({ agent_id }) => agent_id)).toEqual(['a']);
  });

  it('are replaced under the same key, in what is searched too', () => {
    put('a', 'k', 'apples');
    expect(put('a', 'k', 'pears')).toEqual({ type: 'stored', replaced: true });
    expect(keys(who('a'), 'apples')).toEqual([]);
    expect(keys(who('a'), 'pears')).toEqual(['k']);
    forget('a', 'k');
    expect(keys(who('a'), 'pears')).toEqual([]);
  });

  it('come back as they were stored, whatever is in them', () => {
    const content = `"; DROP TABLE memories; --\u2028\u202e😀\r\n${'x'.repeat(15_000)}`;
    put('a', "it's", content);
    expect(recall(who('a'), "it's")).toEqual([
      { key: "it's", content, agent_id: 'a', stored_at: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  it('J5: a call that is made again after a crash gives the answer of the first time and changes nothing', () => {
    const as = who('a');
    const now = '2026-01-01T00:00:00.000Z';
    const first = {
      type: 'store',
      as,
      callKey: 'r/turn-1/call-1',
      key: 'k',
      content: '1',
      now,
    } as const;
    const gone = { type: 'forget', as, callKey: 'r/turn-3/call-1', key: 'k' } as const;
    expect(store.answer(first)).toEqual({ type: 'stored', replaced: false });
    store.answer({ ...first, callKey: 'r/turn-2/call-1', content: '2' });
    store.close();
    store = openMemoryStore(file);
    expect(store.answer(first)).toEqual({ type: 'stored', replaced: false });
    expect(recall(as)[0]?.content).toBe('2');
    expect(store.answer(gone)).toEqual({ type: 'forgotten' });
    expect(store.answer(gone)).toEqual({ type: 'forgotten' });
  });

  it('R11: are at most so many an agent; one more is refused, a replacement is not', () => {
    const db = openSqlite(file);
    db.transaction(() => {
      const add = db.prepare(
        "INSERT INTO memories (owner, key, content, stored_at) VALUES ('a', ?, 'x', '2026')",
      );
      for (let at = 0; at < MEMORIES_MAX; at += 1) add.run(`k${at}`);
    });
    db.close();
    expect(put('a', 'more', 'x')).toEqual({
      type: 'refused',
      errorType: 'memory_full',
      error: "agent 'a' has 10000 memories, which is the most; forget some first",
    });
    expect(put('a', 'k7', 'y')).toEqual({ type: 'stored', replaced: true });
    expect(put('b', 'more', 'x')).toEqual({ type: 'stored', replaced: false });
  });
});

describe('the file of memories', () => {
  it("is its owner's to read alone", () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is left as it is where it is no memory of troupe', () => {
    const other = join(dir, 'other.db');
    writeFileSync(other, 'this is a text of mine, and long enough to be looked at. '.repeat(20));
    const before = readFileSync(other);
    expect(() => openMemoryStore(other)).toThrow(
      expect.objectContaining({ code: 'memory.unusable', message: expect.stringContaining(other) }),
    );
    expect(readFileSync(other)).toEqual(before);
    const db = openSqlite(join(dir, 'theirs.db'));
    db.exec('CREATE TABLE theirs (x)');
    db.close();
    expect(() => openMemoryStore(join(dir, 'theirs.db'))).toThrow('it is no memory of troupe');
  });

  it('of a newer troupe is refused', () => {
    const db = openSqlite(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => openMemoryStore(file)).toThrow('a newer troupe wrote it');
  });
});
