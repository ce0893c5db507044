import { chmodSync, closeSync, openSync } from 'node:fs';
import { Fault, messageOf } from '../base/fault.ts';
import {
  MEMORIES_MAX,
  type Memory,
  type MemoryAnswer,
  type MemoryRequest,
  matchOf,
} from './core/memory.ts';
import { isDamage, openSqlite, type SqliteDatabase, type SqliteRow } from './sqlite.ts';

/*
 * Owns the database of memories of one state directory, in whatever thread opens it.
 *
 * M1. Every row belongs to one agent; a request reads and writes by the identity it brings, and by nothing else of it.
 * M2. What a call changes, it changes once: its key is kept beside its effect, in the same transaction, so a call that is
 *     made again after a crash finds its answer there.
 */

const LAYOUT = 1;
/** Calls whose answers are kept; one that is made again after so many others is a new one. */
const CALLS_KEPT = 10_000;

const TABLES = `
  CREATE TABLE memories (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    content TEXT NOT NULL,
    stored_at TEXT NOT NULL,
    UNIQUE (owner, key)
  ) STRICT;
  CREATE VIRTUAL TABLE memory_words USING fts5(
    key, content, content = 'memories', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, key, content) VALUES (new.id, new.key, new.content);
  END;
  CREATE TRIGGER memory_gone AFTER DELETE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, key, content)
    VALUES ('delete', old.id, old.key, old.content);
  END;
  CREATE TABLE calls (id INTEGER PRIMARY KEY, call_key TEXT NOT NULL UNIQUE, answer TEXT NOT NULL) STRICT;
`;

export interface MemoryStore {
  /** @throws Fault `memory.unusable` where the file cannot be read or written. */
  answer(request: MemoryRequest): MemoryAnswer;
  /** Every memory, by agent and key; of one agent where one is named. */
  list(owner?: string): readonly Memory[];
  close(): void;
}

/**
 * Opens the file, or makes it, readable for its user alone.
 * @throws Fault `memory.unusable` naming the file; `sqlite.absent`.
 */
export function openMemoryStore(file: string): MemoryStore {
  let db: SqliteDatabase | null = null;
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    db = openSqlite(file);
    db.pragma('journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    layOut(db, file);
    return new OpenStore(db, file);
  } catch (thrown) {
    db?.close();
    throw unusable(file, thrown);
  }
}

function layOut(db: SqliteDatabase, file: string): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version')[0]?.['user_version']);
    if (version === LAYOUT) return;
    const tables = Number(
      db.prepare('SELECT count(*) AS count FROM sqlite_master').get()?.['count'],
    );
    if (version > LAYOUT || tables > 0) {
      const whose = version > LAYOUT ? 'a newer troupe wrote it' : 'it is no memory of troupe';
      throw new Fault('memory.unusable', `${file}: ${whose}; update troupe, or move the file away`);
    }
    db.exec(TABLES);
    db.exec(`PRAGMA user_version = ${LAYOUT}`);
  });
}

type Asked<Type extends MemoryRequest['type']> = Extract<MemoryRequest, { type: Type }>;

class OpenStore implements MemoryStore {
  readonly #db: SqliteDatabase;
  readonly #file: string;

  constructor(db: SqliteDatabase, file: string) {
    this.#db = db;
    this.#file = file;
  }

  answer(request: MemoryRequest): MemoryAnswer {
    try {
      switch (request.type) {
        case 'recall':
          return { type: 'recalled', memories: this.#recall(request) };
        case 'store':
          return this.#once(request.callKey, () => this.#store(request));
        case 'forget':
          return this.#once(request.callKey, () => this.#forget(request));
      }
    } catch (thrown) {
      throw unusable(this.#file, thrown);
    }
  }

  list(owner?: string): readonly Memory[] {
    const select = 'SELECT key, content, owner, stored_at FROM memories';
    const rows =
      owner === undefined
        ? this.#db.prepare(`${select} ORDER BY owner, key`).all()
        : this.#db.prepare(`${select} WHERE owner = ? ORDER BY key`).all(owner);
    return rows.map(memoryOf);
  }

  close(): void {
    this.#db.close();
  }

  /** M2 */
  #once(callKey: string, work: () => MemoryAnswer): MemoryAnswer {
    return this.#db.transaction(() => {
      const before = this.#db.prepare('SELECT answer FROM calls WHERE call_key = ?').get(callKey);
      if (before !== undefined) return JSON.parse(String(before['answer'])) as MemoryAnswer;
      const answer = work();
      const keep = this.#db.prepare('INSERT INTO calls (call_key, answer) VALUES (?, ?)');
      keep.run(callKey, JSON.stringify(answer));
      this.#db
        .prepare('DELETE FROM calls WHERE id <= (SELECT max(id) FROM calls) - ?')
        .run(CALLS_KEPT);
      return answer;
    });
  }

  #store({ as, key, content, now }: Asked<'store'>): MemoryAnswer {
    const old = this.#db.prepare('DELETE FROM memories WHERE owner = ? AND key = ? RETURNING id');
    const replaced = old.all(as.own, key).length > 0;
    if (!replaced) {
      const count = this.#db.prepare('SELECT count(*) AS count FROM memories WHERE owner = ?');
      if (Number(count.get(as.own)?.['count']) >= MEMORIES_MAX) {
        const error = `agent '${as.own}' has ${MEMORIES_MAX} memories, which is the most; forget some first`;
        return { type: 'refused', errorType: 'memory_full', error };
      }
    }
    this.#db
      .prepare('INSERT INTO memories (owner, key, content, stored_at) VALUES (?, ?, ?, ?)')
      .run(as.own, key, content, now);
    return { type: 'stored', replaced };
  }

  #forget({ as, key }: Asked<'forget'>): MemoryAnswer {
    const gone = this.#db.prepare('DELETE FROM memories WHERE owner = ? AND key = ? RETURNING id');
    if (gone.all(as.own, key).length > 0) return { type: 'forgotten' };
    const error = `agent '${as.own}' has no memory '${key}'`;
    return { type: 'refused', errorType: 'not_found', error };
  }

  /** M1: of what was asked for, only what may be read; of nothing, nothing. */
  #recall({ as, query, limit, agents }: Asked<'recall'>): readonly Memory[] {
    const owners = as.readable.filter((owner) => agents === null || agents.includes(owner));
    if (owners.length === 0) return [];
    const marks = owners.map(() => '?').join(', ');
    const match = matchOf(query);
    const rows =
      match === null
        ? this.#db
            .prepare(
              `SELECT key, content, owner, stored_at FROM memories WHERE owner IN (${marks})
               ORDER BY stored_at DESC, id DESC LIMIT ?`,
            )
            .all(...owners, limit)
        : this.#db
            .prepare(
              `SELECT m.key, m.content, m.owner, m.stored_at
               FROM memory_words JOIN memories AS m ON m.id = memory_words.rowid
               WHERE memory_words MATCH ? AND m.owner IN (${marks})
               ORDER BY bm25(memory_words, 2.0, 1.0), m.stored_at DESC, m.id DESC LIMIT ?`,
            )
            .all(match, ...owners, limit);
    return rows.map(memoryOf);
  }
}

function memoryOf(row: SqliteRow): Memory {
  return {
    key: String(row['key']),
    content: String(row['content']),
    agent_id: String(row['owner']),
    stored_at: String(row['stored_at']),
  };
}

function unusable(file: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const why = isDamage(thrown) ? 'it is damaged' : 'it cannot be used';
  const words = `memories ${file}: ${why} (${messageOf(thrown)}); move it away to begin anew`;
  return new Fault('memory.unusable', words, { cause: thrown });
}
