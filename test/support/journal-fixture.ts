import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type EventType, eventId, type JournalEvent } from '../../src/runtime/core/event.ts';
import type { Journal, NewEvent } from '../../src/runtime/journal.ts';
import { openSqliteJournal, type SqliteJournalOptions } from '../../src/runtime/sqlite-journal.ts';
import { threadEntry } from '../../src/thread-entry.ts';

/** A directory that is gone when the test is over. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-journal-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function newEvent(
  runId: string,
  n: number,
  data: JsonObject = { n },
  type: EventType = 'turn.completed',
): NewEvent {
  return {
    event_id: eventId(runId, n),
    run_id: runId,
    parent_run_id: null,
    parent_event_id: n === 1 ? null : eventId(runId, n - 1),
    frame_id: n === 1 ? null : `turn-${n}`,
    ts: '2024-01-02T03:04:05.678Z',
    type,
    v: 1,
    data,
  };
}

/** `count` events of one run, from `n = first`. */
export function newEvents(runId: string, count: number, first = 1): NewEvent[] {
  return Array.from({ length: count }, (_, at) => newEvent(runId, first + at));
}

/** The journal of a file, with its real thread; closed when the test is over. */
export async function openJournal(
  file: string,
  options: Partial<SqliteJournalOptions> = {},
): Promise<Journal> {
  const journal = await openSqliteJournal({ file, entry: threadEntry('journal'), ...options });
  onTestFinished(() => journal.close().catch(() => {}));
  return journal;
}

export async function readAll(
  journal: Journal,
  filter?: Parameters<Journal['read']>[0],
): Promise<JournalEvent[]> {
  const events: JournalEvent[] = [];
  for await (const event of journal.read(filter)) events.push(event);
  return events;
}

export function seqsOf(events: readonly JournalEvent[]): number[] {
  return events.map((event) => event.seq);
}

/** 1, 2, … `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

export function testThread(name: string): URL {
  return new URL(`../../build/test-threads/${name}.js`, import.meta.url);
}
