import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileScope } from '../runtime/core/tool.ts';
import { type Failure, failed } from './core/failure.ts';

/** Entries below forbidden paths that are looked at, at most; where there are more, files with several names are refused. */
const FORBIDDEN_ENTRIES_MAX = 5000;

/**
 * Files that have another name below a forbidden path. A hard link has no target to follow: only the file's identity
 * shows that it is forbidden. Collected once for a call, and only where a file with several names is met at all; a name
 * outside of every list cannot be seen (many package stores link their files), so reading is refused for forbidden ones alone.
 */
export class ForbiddenNames {
  readonly #forbidden: readonly string[];
  #found: Promise<ReadonlySet<string> | null> | null = null;

  constructor(scopes: readonly FileScope[]) {
    this.#forbidden = [...new Set(scopes.flatMap(({ forbidden }) => forbidden))];
  }

  /** Why an open file may not be read after all. */
  async fault(stats: Stats, asked: string): Promise<Failure | null> {
    if (stats.nlink < 2 || this.#forbidden.length === 0) return null;
    this.#found ??= collect(this.#forbidden);
    const found = await this.#found;
    const shown = JSON.stringify(asked);
    if (found === null) {
      const many = `below forbidden_paths are more than ${FORBIDDEN_ENTRIES_MAX} entries`;
      return failed('forbidden_path', `${shown} has ${stats.nlink} names, and ${many}`);
    }
    if (!found.has(identityOf(stats))) return null;
    return failed(
      'forbidden_path',
      `${shown} is a hard link of a forbidden file (forbidden_paths)`,
    );
  }
}

/** Why a file that is there is not written: another of its names may be anywhere, and belong to anybody. */
export function hardLinkFault(stats: Stats, asked: string): Failure | null {
  if (stats.nlink < 2) return null;
  return failed(
    'hard_link',
    `${JSON.stringify(asked)} has ${stats.nlink} names (hard links), and what the others are cannot be told; write a new file instead`,
  );
}

/** `null`: too many to look at. */
async function collect(paths: readonly string[]): Promise<ReadonlySet<string> | null> {
  const found = new Set<string>();
  const folders: string[] = [];
  let seen = 0;
  const take = async (path: string): Promise<void> => {
    seen += 1;
    const stats = await lstat(path).catch(() => null);
    if (stats?.isDirectory()) folders.push(path);
    else if (stats !== null && stats.nlink > 1) found.add(identityOf(stats));
  };
  for (const path of paths) await take(path);
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
    if (seen + entries.length > FORBIDDEN_ENTRIES_MAX) return null;
    for (const { name } of entries) await take(join(folder, name));
  }
  return found;
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
