import { Fault, messageOf } from '../base/fault.ts';
import { type SqliteFailure, sqliteFailure } from './sqlite.ts';

const NEXT_STEP: Record<SqliteFailure, string> = {
  busy: 'another process holds it open for writing; end that process and start again',
  'cannot-open': 'check that its directory exists and is writable, or choose another --state',
  corrupt: 'run "troupe log" to read what precedes the damage, then move the file away',
  full: 'the disk that holds it is full; free some space and start again',
  io: 'the disk reported an error; check it, then start again',
  'not-a-database': 'move the file away to begin a new journal, or choose another --state',
  other: 'start again; if it happens again, move the file away to begin a new journal',
  readonly: 'check owner, mode and mount of the file and its directory, or choose another --state',
};

/**
 * Why the journal takes nothing more. Never holds anything of an event (SPEC C6): `thrown` is SQLite's own, and its
 * texts name tables and pages, not values.
 */
export function unwritable(file: string, what: string, thrown?: unknown): Fault {
  const failure = thrown === undefined ? null : (sqliteFailure(thrown) ?? 'other');
  const why = thrown === undefined ? '' : ` (${messageOf(thrown)})`;
  const next = NEXT_STEP[failure ?? 'other'];
  return new Fault(
    'journal.unwritable',
    `journal ${file} cannot be written: ${what}${why}; ${next}. Everything acknowledged so far is kept.`,
    { detail: { file, sqlite: failure } },
  );
}

/** The file was taken away under the journal, and all that it held with it. */
export function gone(file: string): Fault {
  return new Fault(
    'journal.unwritable',
    `journal ${file} was deleted or replaced while it was open; what it held is gone with it. Put it back, or start again with a new one.`,
    { detail: { file, sqlite: null } },
  );
}

/** Damage and where it is. `readableTo` = the last event known to be readable, `null` where nobody looked. */
export function corrupt(file: string, place: string, readableTo: number | null = null): Fault {
  const readable =
    readableTo === null
      ? 'what precedes it can still be read with "troupe log"'
      : `events up to seq ${readableTo} can still be read`;
  return new Fault(
    'journal.corrupt',
    `journal ${file} is damaged: ${place}; ${readable}. Restore a copy, or move the file away to begin a new journal.`,
    { detail: { file, place, readableTo } },
  );
}

/** A failed look at the file, as the fault that a reader throws. */
export function unreadable(
  file: string,
  place: string,
  thrown: unknown,
  readableTo: number | null,
): Fault {
  if (thrown instanceof Fault) return thrown;
  const failure = sqliteFailure(thrown);
  if (failure === 'cannot-open' || failure === 'readonly' || failure === 'busy') {
    return new Fault(
      'argument.invalid',
      `journal ${file} cannot be opened (${messageOf(thrown)}); ${NEXT_STEP[failure]}`,
      { detail: { file } },
    );
  }
  if (failure === null) return new Fault('defect', messageOf(thrown), { cause: thrown });
  return corrupt(file, `${place} (${messageOf(thrown)})`, readableTo);
}
