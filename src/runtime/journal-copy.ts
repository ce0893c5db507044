import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of a journal in a folder of this process alone. */
export interface JournalCopy {
  readonly file: string;
  /** Deletes it. */
  drop(): void;
}

/**
 * SQLite reads a journal in WAL mode only where it may also make a file beside it. On a medium that takes none, a copy is
 * read in place of it. `null` = that cannot be had either.
 */
export function copyJournal(file: string): JournalCopy | null {
  let folder: string | null = null;
  const drop = (): void => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = mkdtempSync(join(tmpdir(), 'troupe-copy-'));
    const copy = join(folder, 'journal.db');
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    return { file: copy, drop };
  } catch {
    drop();
    return null;
  }
}
