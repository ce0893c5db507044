import { statSync } from 'node:fs';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Fault, type FaultWire, messageOf, toWire } from '../base/fault.ts';
import { type PackedCells, unpackRows } from './journal-cells.ts';
import { corrupt, gone, unwritable } from './journal-fault.ts';
import { COLUMNS, migrate, readLastSeq, SUM } from './journal-schema.ts';
import { isDamage, openSqlite, type SqliteDatabase, type SqliteStatement } from './sqlite.ts';

/*
 * Owns the one writing connection to a journal's file, in a thread of its own.
 *
 * T1. What has arrived goes into one transaction; what arrives meanwhile waits in the port and is the next one. No timer.
 * T2. `committed` is said after the commit, never before; with `sync: full` that is after the disk's own word.
 * T3. A transaction continues exactly where the file ends: if it does not, somebody else wrote, and this writer stops.
 * T4. After a failure nothing more is written or answered: `failed` is the last word.
 * T5. What is said to be committed is in the file that the path names: one that was deleted or replaced while it was open
 *     still takes writes, which nobody would ever find.
 * T6. The log is emptied in a pause: what waits for a commit does not wait for that as well.
 */

export interface JournalWriterOptions {
  readonly port: MessagePort;
  readonly file: string;
  /** `full` survives a power cut, `normal` a process crash (SPEC J3). */
  readonly sync: 'full' | 'normal';
  /** Pages that the file may grow to; `null` = what the disk holds. */
  readonly pagesMax: number | null;
}

export type ToWriter =
  | {
      readonly kind: 'rows';
      readonly firstSeq: number;
      readonly cells: PackedCells;
    }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready'; readonly lastSeq: number }
  | { readonly kind: 'committed'; readonly seq: number }
  | { readonly kind: 'failed'; readonly fault: FaultWire }
  | { readonly kind: 'closed' };

type Rows = Extract<ToWriter, { kind: 'rows' }>;

/** Bounds one transaction, so that its first event is not acknowledged after a million others. */
const TRANSACTION_CELLS_MAX = COLUMNS.length * 20_000;

/** The write-ahead log is cut back to this after a large record: 64 MiB. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;

/** Pages in the write-ahead log at which a commit moves them to the table itself, whoever waits for it: 64 MB. */
const WAL_PAGES_MAX = 16_000;

/** So many events are moved there as soon as nothing was committed for `PAUSE_MS`. */
const MOVE_EVENTS_MIN = 2000;
const PAUSE_MS = 50;

/** Runs until it is told to close, or until the file cannot be written. Never throws: it says `failed`. */
export function startJournalWriter(options: JournalWriterOptions): void {
  const { port, file } = options;
  const say = (message: FromWriter): void => port.postMessage(message);
  let db: SqliteDatabase | null = null;
  let stopped = false;
  const stop = (last: FromWriter): void => {
    stopped = true;
    closeQuietly(db);
    say(last);
    port.close();
  };
  try {
    db = openForWriting(options);
    const store = new EventTable(db, file);
    const opened = identityOf(file);
    const emptied = emptyInPauses(db);
    port.on('message', (first: ToWriter) => {
      if (stopped) return; // T4
      try {
        const { rows, closing } = drain(port, first);
        if (rows.length > 0) {
          const seq = store.commit(rows);
          if (identityOf(file) !== opened) throw gone(file); // T5
          say({ kind: 'committed', seq }); // T2
          emptied(seq);
        }
        if (closing) stop({ kind: 'closed' });
      } catch (error) {
        stop({ kind: 'failed', fault: toWire(writeFault(file, error)) }); // T4
      }
    });
    say({ kind: 'ready', lastSeq: store.lastSeq });
  } catch (error) {
    stop({ kind: 'failed', fault: toWire(openFault(file, error)) });
  }
}

/** T6. To be told the last position of each commit. */
function emptyInPauses(db: SqliteDatabase): (seq: number) => void {
  let done: number | null = null;
  let last = 0;
  let lastMs = 0;
  let timer: NodeJS.Timeout | null = null;
  const wait = () => {
    timer = setTimeout(empty, PAUSE_MS).unref();
  };
  const empty = () => {
    timer = null;
    if (performance.now() - lastMs < PAUSE_MS) {
      wait();
      return;
    }
    done = last;
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // What it could not move is in the log, which is as good; a commit that fails says so.
    }
  };
  return (seq) => {
    done ??= seq;
    last = seq;
    lastMs = performance.now();
    if (timer === null && last - done >= MOVE_EVENTS_MIN) wait();
  };
}

/** T1 */
function drain(port: MessagePort, first: ToWriter): { rows: Rows[]; closing: boolean } {
  const rows: Rows[] = [];
  let cells = 0;
  for (let next: ToWriter | undefined = first; next !== undefined; ) {
    if (next.kind === 'close') return { rows, closing: true };
    rows.push(next);
    cells += next.cells.shape.length;
    if (cells >= TRANSACTION_CELLS_MAX) break;
    next = receiveMessageOnPort(port)?.message as ToWriter | undefined;
  }
  return { rows, closing: false };
}

class EventTable {
  readonly #db: SqliteDatabase;
  readonly #file: string;
  readonly #insert: SqliteStatement;
  #lastSeq: number;

  constructor(db: SqliteDatabase, file: string) {
    this.#db = db;
    this.#file = file;
    this.#lastSeq = readLastSeq(db);
    const columns = ['seq', ...COLUMNS, SUM];
    const marks = columns.map(() => '?').join(', ');
    this.#insert = db.prepare(`INSERT INTO events (${columns.join(', ')}) VALUES (${marks})`);
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  commit(batches: readonly Rows[]): number {
    const last = this.#db.transaction(() => {
      let seq = this.#lastSeq;
      this.#expect(readLastSeq(this.#db), seq); // T3
      for (const { firstSeq, cells } of batches) {
        this.#expect(firstSeq - 1, seq);
        for (const row of unpackRows(cells, seq)) {
          this.#insert.run(...row);
          seq += 1;
        }
      }
      return seq;
    });
    this.#lastSeq = last;
    return last;
  }

  #expect(found: number, seq: number): void {
    if (found === seq) return;
    throw unwritable(
      this.#file,
      `it should go on after seq ${seq} but stands at ${found}, so another writer was at it`,
    );
  }
}

/** Which file the path names now; `null` = none. */
function identityOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function openForWriting(options: JournalWriterOptions): SqliteDatabase {
  const { file, sync, pagesMax } = options;
  const db = openSqlite(file);
  try {
    const mode = db.pragma('journal_mode = WAL')[0]?.['journal_mode'];
    if (mode !== 'wal') {
      throw unwritable(file, `its file system gives no write-ahead log (journal mode ${mode})`);
    }
    db.exec(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`);
    // Where fsync stops at the drive's cache (macOS), `full` asks for the barrier as well.
    if (sync === 'full') db.exec('PRAGMA fullfsync = ON');
    db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_MAX}`);
    db.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`);
    migrate(db, file);
    if (pagesMax !== null) db.exec(`PRAGMA max_page_count = ${pagesMax}`);
    return db;
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
}

function openFault(file: string, thrown: unknown): Fault {
  if (isDamage(thrown)) return corrupt(file, `it cannot be opened (${messageOf(thrown)})`);
  return thrown instanceof Fault ? thrown : unwritable(file, 'it cannot be opened', thrown);
}

function writeFault(file: string, thrown: unknown): Fault {
  return thrown instanceof Fault ? thrown : unwritable(file, 'a commit failed', thrown);
}

function closeQuietly(db: SqliteDatabase | null): void {
  try {
    db?.close();
  } catch {
    // The fault that is on its way says more.
  }
}
