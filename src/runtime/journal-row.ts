import type { JsonObject } from '../base/json.ts';
import { type EventType, eventId, type JournalEvent } from './core/event.ts';
import { type Cell, COLUMNS, SUM } from './journal-schema.ts';
import { sumOf } from './journal-sum.ts';
import type { SqliteRow } from './sqlite.ts';

interface Cells extends SqliteRow {
  readonly seq: unknown;
  readonly run_id: unknown;
  readonly n: unknown;
  readonly parent_run_id: unknown;
  readonly parent_event_id: unknown;
  readonly frame_id: unknown;
  readonly ts: unknown;
  readonly type: unknown;
  readonly v: unknown;
  readonly data: unknown;
}

/** The event in a row of the table; `null` = that is not what the writer wrote. */
export function eventOf(row: SqliteRow): JournalEvent | null {
  const { seq, run_id, n, parent_run_id, parent_event_id, frame_id, ts, type, v } = row as Cells;
  if (typeof seq !== 'number' || typeof n !== 'number' || typeof v !== 'number') return null;
  if (typeof run_id !== 'string' || typeof ts !== 'string' || typeof type !== 'string') return null;
  if (!isText(parent_run_id) || !isText(parent_event_id) || !isText(frame_id)) return null;
  if (!isAsWritten(row)) return null;
  const data = parseObject((row as Cells).data);
  if (data === null) return null;
  return {
    seq,
    event_id: eventId(run_id, n),
    run_id,
    parent_run_id,
    parent_event_id,
    frame_id,
    ts,
    type: type as EventType,
    v,
    data,
  };
}

/** Does a row still have its sum? One that never had any is taken as it is. */
export function isAsWritten(row: SqliteRow): boolean {
  const sum = row[SUM] ?? null;
  return (
    sum === null ||
    sum ===
      sumOf(
        Number(row['seq']),
        COLUMNS.map((name) => row[name] as Cell),
      )
  );
}

function isText(cell: unknown): cell is string | null {
  return cell === null || typeof cell === 'string';
}

/** The parser's own words would quote the data (SPEC C6), so they are dropped. */
function parseObject(cell: unknown): JsonObject | null {
  if (typeof cell !== 'string') return null;
  try {
    const value: unknown = JSON.parse(cell);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return value as JsonObject;
  } catch {
    return null;
  }
}
