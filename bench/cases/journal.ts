// Events a second into the journal, as its owner's thread appends them, each way of syncing; beside it the same rows put
// into the same tables by better-sqlite3 alone, in transactions of the same size, in turns of the same process.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import type { NewEvent } from '../../src/runtime/journal.ts';
import { COLUMNS, migrate } from '../../src/runtime/journal-schema.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { openSqliteJournal } from '../../src/runtime/sqlite-journal.ts';
import { threadEntry } from '../../src/thread-entry.ts';
import { reportRounds } from '../support/report.ts';
import { inRounds, spent } from '../support/rounds.ts';

const EVENTS = 40_000;
/** Events a transaction, and a list that is appended at once. */
const BATCH = 1000;
/** Lists on their way at a time: the journal gathers one while it syncs another. */
const BATCHES_ON_THE_WAY = 4;
/** Of data, in an event. */
const CHARS = 256;
const RUNS = 64;
const ROUNDS = 7;
const WARM_UPS = 1;

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
const text = 'x'.repeat(CHARS - '{"text":""}'.length);

function eventOf(at: number): NewEvent {
  const run_id = `run_bench/delegate/${at % RUNS}`;
  const n = Math.floor(at / RUNS) + 1;
  return {
    event_id: `${run_id}#${n}`,
    run_id,
    parent_run_id: 'run_bench',
    parent_event_id: `run_bench#${n}`,
    frame_id: `turn-${n}`,
    ts: '2026-01-01T00:00:00.000Z',
    type: 'turn.started',
    v: 1,
    data: { text },
  };
}

const events = Array.from({ length: EVENTS }, (_, at) => eventOf(at));
const lists = Array.from({ length: EVENTS / BATCH }, (_, at) =>
  events.slice(at * BATCH, (at + 1) * BATCH),
);

async function inFolder<Value>(work: (file: string) => Promise<Value>): Promise<Value> {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  try {
    return await work(join(dir, 'journal.db'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

type Sync = 'full' | 'normal';

/** Milliseconds until the last event is committed. */
async function journaled(sync: Sync): Promise<number> {
  return inFolder(async (file) => {
    const journal = await openSqliteJournal({ file, sync, entry: threadEntry('journal') });
    const { wallMs } = await spent(async () => {
      const onTheWay: Promise<void>[] = [];
      for (const list of lists) {
        onTheWay.push(journal.append(list).durable);
        // What is appended in one turn of the loop is one batch: the next list belongs to the next turn.
        await new Promise(setImmediate);
        if (onTheWay.length >= BATCHES_ON_THE_WAY) await onTheWay.shift();
      }
      await journal.flush();
    });
    await journal.close();
    return wallMs;
  });
}

async function raw(sync: Sync): Promise<number> {
  return inFolder(async (file) => {
    const own = openSqlite(file);
    own.pragma('journal_mode = WAL');
    migrate(own, file);
    own.close();
    const db = new Database(file);
    db.pragma(`synchronous = ${sync}`);
    const columns = ['seq', ...COLUMNS];
    const insert = db.prepare(
      `INSERT INTO events (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    let seq = 0;
    const putAll = db.transaction((list: readonly NewEvent[]) => {
      for (const event of list) {
        seq += 1;
        const { run_id, parent_run_id, parent_event_id, frame_id, ts, type, v, data } = event;
        const n = Number(event.event_id.slice(run_id.length + 1));
        const line = JSON.stringify(data);
        insert.run(seq, run_id, n, parent_run_id, parent_event_id, frame_id, ts, type, v, line);
      }
    });
    const { wallMs } = await spent(async () => {
      for (const list of lists) putAll(list);
    });
    db.close();
    return wallMs;
  });
}

for (const sync of ['full', 'normal'] as const) {
  const { values, load } = await inRounds({ warmUps: WARM_UPS, rounds: ROUNDS }, async () => ({
    ownMs: await journaled(sync),
    rawMs: await raw(sync),
  }));
  const shares = values.map(({ ownMs, rawMs }) => rawMs / ownMs);
  const own = values.map(({ ownMs }) => (EVENTS / ownMs) * 1000);
  const bare = values.map(({ rawMs }) => (EVENTS / rawMs) * 1000);
  const what = `sync = ${sync}, ${CHARS} bytes an event`;
  reportRounds(`journal, ${what} [events/s]`, own, { load });
  reportRounds(`better-sqlite3 alone, ${what} [events/s]`, bare, {
    load,
    note: `${BATCH} rows a transaction`,
  });
  reportRounds(`journal against better-sqlite3 alone, sync = ${sync} [share]`, shares, {
    reach: { atLeast: 0.5 },
    load,
  });
}
