import fs from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileScope, ToolContext } from '../runtime/core/tool.ts';
import { failed, type Step, step } from './core/failure.ts';
import { judgeAll } from './core/path-scope.ts';
import { isSourceName, SOURCE_ENDINGS } from './core/source-endings.ts';
import { ForbiddenNames } from './hard-links.ts';
import { openRealFile } from './open-real.ts';
import { resolveInScope, workspaceOf } from './resolve-path.ts';

/** Larger files are skipped. Bytes. */
export const SOURCE_BYTES_MAX = 1_048_576;

/** Never gone into, unless it is the asked folder itself. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  'build',
  'coverage',
  'dist',
  'node_modules',
]);

/** Text of at least so many characters with lines of more than `minifiedLineChars` on average is taken as minified. */
const minifiedTextChars = 2000;
const minifiedLineChars = 200;

/** Files between two reports of progress. */
const filesPerReport = 100;

/** What was left out, by the reason: folders by name, the rest by file. */
interface Skipped {
  folders: number;
  minified: number;
  too_large: number;
  binary: number;
  unreadable: number;
  outside_scope: number;
}

export interface FoundSources {
  /** Real absolute paths in the order of their code units. */
  readonly files: readonly string[];
  /** Goes on counting while the files are read. */
  readonly skipped: Skipped;
}

export interface Source {
  /** Relative to the workspace with `/`; absolute where it lies outside. */
  readonly path: string;
  readonly text: string;
}

/** The source files at or below `root`, a real path. Links are followed inside the scope, each target once. */
export async function findSources(
  root: string,
  endings: readonly string[],
  { scope, signal }: Pick<ToolContext, 'scope' | 'signal'>,
): Promise<FoundSources> {
  const walk = new Walk(root, endings, scope.files);
  while (!signal.aborted && walk.next()) await nextTurn();
  return { files: walk.files(), skipped: walk.skipped };
}

/** Reads file by file, with room for a message of cancellation in between, and ends early once it came. */
export async function* readSources(
  tool: string,
  found: FoundSources,
  context: ToolContext,
): AsyncGenerator<Source> {
  const names = new ForbiddenNames(context.scope.files);
  for (const [index, file] of found.files.entries()) {
    if (context.signal.aborted) return;
    if (index > 0 && index % filesPerReport === 0) {
      context.progress(`${tool}: ${index} of ${found.files.length} files`);
    }
    const text = await readText(file, names);
    if (typeof text !== 'string') found.skipped[text.skip] += 1;
    else yield { path: shownPath(file, context), text };
  }
}

/** Where the asked file or folder really is; the workspace if none was asked for. */
export async function locateSources(
  asked: string | undefined,
  { scope }: ToolContext,
): Promise<Step<string>> {
  const name = asked ?? '.';
  const located = await resolveInScope(scope.files, workspaceOf(scope), name, 'read');
  if (!located.ok) return located;
  const { real, exists } = located.value;
  if (!exists) return failed('not_found', `${JSON.stringify(name)} does not exist`);
  if (isFile(real) && !isSourceName(real)) {
    const known = SOURCE_ENDINGS.join(' ');
    return failed('not_source', `${JSON.stringify(name)} ends with none of ${known}`);
  }
  return step(real);
}

type SkipReason = keyof Skipped;

class Walk {
  readonly skipped: Skipped = {
    folders: 0,
    minified: 0,
    too_large: 0,
    binary: 0,
    unreadable: 0,
    outside_scope: 0,
  };
  readonly #endings: readonly string[];
  readonly #scopes: readonly FileScope[];
  readonly #root: string;
  readonly #found = new Set<string>();
  readonly #seenFolders = new Set<string>();
  readonly #folders: string[] = [];
  readonly #links: string[] = [];

  constructor(root: string, endings: readonly string[], scopes: readonly FileScope[]) {
    this.#root = root;
    this.#endings = endings;
    this.#scopes = scopes;
    if (isFile(root)) this.#found.add(root);
    else this.#folders.push(root);
  }

  files(): readonly string[] {
    return [...this.#found].sort();
  }

  /** Lists one more folder or follows one more link; false when there is none. */
  next(): boolean {
    const folder = this.#folders.pop();
    if (folder !== undefined) {
      this.#list(folder);
      return true;
    }
    const link = this.#links.pop();
    if (link !== undefined) this.#follow(link);
    return link !== undefined;
  }

  #list(folder: string): void {
    if (this.#seenFolders.has(folder)) return;
    this.#seenFolders.add(folder);
    let entries: readonly fs.Dirent[];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
      // Judged under this name, so it must still be there; files are opened with the same demand.
      if (fs.realpathSync(folder) !== folder) throw new Error('replaced');
    } catch {
      this.skipped.unreadable += 1;
      return;
    }
    for (const entry of entries) {
      const full = path.join(folder, entry.name);
      if (entry.isSymbolicLink()) this.#links.push(full);
      else if (entry.isDirectory()) this.#addFolder(full);
      else if (entry.isFile()) this.#addFile(full);
    }
  }

  #addFolder(folder: string): void {
    if (SKIPPED_FOLDERS.has(path.basename(folder))) this.skipped.folders += 1;
    else if (judgeAll(this.#scopes, folder, 'read').ok) this.#folders.push(folder);
    else this.skipped.outside_scope += 1;
  }

  #addFile(file: string): void {
    if (!this.#endings.some((ending) => file.endsWith(ending)) || this.#found.has(file)) return;
    if (path.basename(file).includes('.min.')) this.skipped.minified += 1;
    else if (judgeAll(this.#scopes, file, 'read').ok) this.#found.add(file);
    else this.skipped.outside_scope += 1;
  }

  #follow(link: string): void {
    try {
      const real = fs.realpathSync(link);
      const stats = fs.statSync(real);
      const names = path.relative(this.#root, real).split(path.sep);
      if (stats.isDirectory() && names.some((name) => SKIPPED_FOLDERS.has(name))) {
        this.skipped.folders += 1;
      } else if (stats.isDirectory()) this.#addFolder(real);
      else if (stats.isFile()) this.#addFile(real);
    } catch {
      this.skipped.unreadable += 1;
    }
  }
}

async function readText(
  file: string,
  names: ForbiddenNames,
): Promise<string | { readonly skip: SkipReason }> {
  const opened = await openRealFile(file, file, names);
  if (!opened.ok) return { skip: 'unreadable' };
  const { handle, stats } = opened.value;
  try {
    if (stats.size > SOURCE_BYTES_MAX) return { skip: 'too_large' };
    const text = (await handle.readFile('utf8')).replace(/^\uFEFF/, '');
    if (text.includes('\0')) return { skip: 'binary' };
    return isMinified(text) ? { skip: 'minified' } : text;
  } catch {
    return { skip: 'unreadable' };
  } finally {
    await handle.close();
  }
}

function isMinified(text: string): boolean {
  if (text.length < minifiedTextChars) return false;
  const breaks = text.match(/\n|\r(?!\n)/g)?.length ?? 0;
  return text.length / (breaks + 1) > minifiedLineChars;
}

function isFile(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function shownPath(file: string, context: ToolContext): string {
  const relative = path.relative(workspaceOf(context.scope), file);
  return relative.startsWith('..') ? file : relative.split(path.sep).join('/');
}
