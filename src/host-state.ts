import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Journal } from './runtime/journal.ts';
import { openSqliteJournal } from './runtime/sqlite-journal.ts';
import { openStateDir, type StateDir } from './runtime/state-dir.ts';
import { walFault } from './runtime/wal-fault.ts';
import { threadEntry } from './thread-entry.ts';

/** A state directory that this process owns now, and its journal, which opens meanwhile. @throws Fault `state.locked`, `journal.corrupt`. */
export function openHostState(
  stateDir: string,
  sync: 'full' | 'normal',
): { readonly state: StateDir; readonly journal: Promise<Journal> } {
  const path = resolve(stateDir);
  mkdirSync(dirname(path), { recursive: true });
  const state = openStateDir(path);
  const damage = state.wasLeft ? walFault(state.journalFile) : null;
  if (damage !== null) {
    state.lock.abandon();
    throw damage;
  }
  const journal = openSqliteJournal({
    file: state.journalFile,
    entry: threadEntry('journal'),
    sync,
  });
  return { state, journal };
}
