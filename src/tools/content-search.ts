import { basename } from 'node:path';
import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { compilePattern } from './bounded-regex.ts';
import { type Failure, failed, type Step, step } from './core/failure.ts';
import { type Glob, parseGlob } from './core/glob.ts';
import { ForbiddenNames } from './hard-links.ts';
import { openRealFile } from './open-real.ts';
import { resolveInScope, workspaceOf } from './resolve-path.ts';
import { type FileMatches, type LineTest, searchText } from './search-text.ts';
import {
  leftOutWords,
  nothingLeftOut,
  SKIPPED_DIRS,
  WALK_DEPTH_MAX,
  type WalkEntry,
  type WalkLeftOut,
  walkDir,
} from './walk-dir.ts';

/** Matching lines in one answer where the call does not say. */
export const SEARCH_LIMIT_DEFAULT = 200;
/** Most matching lines in one answer. */
export const SEARCH_LIMIT_MAX = 5000;
/** Larger files are not searched, in bytes (8 MiB); they are counted. */
export const SEARCH_FILE_BYTES_MAX = 8_388_608;

interface ContentSearchArgs {
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignore_case?: boolean;
  readonly path?: string;
  readonly glob?: string;
  readonly limit?: number;
  readonly context?: number;
}

export const contentSearchTool: Tool<ContentSearchArgs, AbortSignal> = {
  name: 'content_search',
  description:
    'Searches text files line by line for a JavaScript regular expression (or plain text with `literal`). Gives "file:line: text", sorted by file. Skips binary files, files above 8 MiB, symlinks, and .git and node_modules unless `path` or `glob` names them.',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1, maxLength: 1000 },
      literal: { type: 'boolean', description: 'Take the pattern as plain text; default false.' },
      ignore_case: { type: 'boolean', description: 'Default false.' },
      path: { type: 'string', description: 'File or directory; default: the workspace.' },
      glob: {
        type: 'string',
        minLength: 1,
        description: 'Only files that match, e.g. "*.ts" (any directory) or "src/**/*.ts".',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: SEARCH_LIMIT_MAX,
        description: 'Default 200.',
      },
      context: {
        type: 'integer',
        minimum: 0,
        maximum: 20,
        description: 'Lines around; default 0.',
      },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  effect: 'read',
  place: 'actor',
  timeoutMs: 120_000,
  async run(args, context): Promise<ToolOutcome> {
    const query = parseQuery(args);
    if (!query.ok) return query;
    const { scope } = context;
    const asked = args.path ?? '.';
    const start = await resolveInScope(scope.files, workspaceOf(scope), asked, 'read');
    if (!start.ok) return start;
    const search = new Search(query.value, context);
    const failure = await search.start(start.value.real, asked);
    return failure ?? search.answer();
  },
};

interface Query {
  readonly test: LineTest;
  readonly glob: Glob | null;
  /** A pattern without "/" is about the name alone, in whatever directory. */
  readonly isNameGlob: boolean;
  readonly limit: number;
  readonly context: number;
}

function parseQuery(args: ContentSearchArgs): Step<Query> {
  const source =
    args.literal === true ? args.pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : args.pattern;
  const compiled = compilePattern(source, args.ignore_case === true ? 'i' : '');
  if (!compiled.ok)
    return failed('invalid_pattern', `the pattern: ${compiled.why}; for plain text set literal`);
  const glob = args.glob === undefined ? null : parseGlob(args.glob);
  if (glob !== null && !glob.ok) {
    return failed('invalid_pattern', `the glob ${JSON.stringify(args.glob)}: ${glob.why}`);
  }
  const isPlain = args.literal === true && args.ignore_case !== true;
  return step({
    test: isPlain ? { literal: args.pattern } : { regex: compiled.regex },
    glob: glob?.glob ?? null,
    isNameGlob: args.glob?.includes('/') === false,
    limit: args.limit ?? SEARCH_LIMIT_DEFAULT,
    context: args.context ?? 0,
  });
}

/** One search: what it has found so far and what it left out. */
class Search {
  readonly #query: Query;
  readonly #context: ToolContext<AbortSignal>;
  readonly #names: ForbiddenNames;
  readonly #lines: string[] = [];
  readonly #leftOut: WalkLeftOut = nothingLeftOut();
  #matches = 0;
  #files = 0;
  #tooLarge = 0;
  #isCut = false;

  constructor(query: Query, context: ToolContext<AbortSignal>) {
    this.#query = query;
    this.#context = context;
    this.#names = new ForbiddenNames(context.scope.files);
  }

  async start(real: string, asked: string): Promise<Failure | null> {
    const { glob } = this.#query;
    const { scope, signal } = this.#context;
    const skip = new Set(SKIPPED_DIRS.filter((name) => glob?.names(name) !== true));
    const options = { scopes: scope.files, signal, depthMax: WALK_DEPTH_MAX, skip };
    const walk = walkDir(real, asked, options, this.#leftOut);
    for (let next = await walk.next(); ; next = await walk.next()) {
      if (next.done === true) {
        if (next.value?.errorType !== 'not_a_directory') return next.value;
        return this.#file({ path: asked, real, kind: 'file' }, true);
      }
      if (next.value.kind !== 'file' || !this.#wants(next.value.path)) continue;
      const failure = await this.#file(next.value, false);
      if (failure !== null) return failure;
      if (this.#isCut) return null;
    }
  }

  answer(): ToolOutcome {
    const notes = [...leftOutWords(this.#leftOut)];
    if (this.#isCut)
      notes.unshift(`cut after ${this.#query.limit} matching lines, there may be more`);
    if (this.#tooLarge > 0) {
      notes.push(`${this.#tooLarge} larger than ${SEARCH_FILE_BYTES_MAX} bytes not searched`);
    }
    if (this.#matches === 0) notes.unshift(`no line matches in ${this.#files} files`);
    const lines = notes.length === 0 ? this.#lines : [...this.#lines, `[${notes.join('; ')}]`];
    const data = { matches: this.#matches, files_searched: this.#files, cut: this.#isCut };
    return { ok: true, text: lines.join('\n'), data };
  }

  #wants(path: string): boolean {
    const { glob, isNameGlob } = this.#query;
    return glob === null || glob.matches(isNameGlob ? basename(path) : path);
  }

  /** `isAsked`: the call names this very file, so that what is wrong with it is the call's failure. */
  async #file(entry: WalkEntry, isAsked: boolean): Promise<Failure | null> {
    const opened = await openRealFile(entry.real, entry.path, this.#names);
    if (!opened.ok) {
      if (isAsked) return opened;
      this.#leftOut.unreadable += 1;
      return null;
    }
    const { handle, stats } = opened.value;
    try {
      if (stats.size > SEARCH_FILE_BYTES_MAX) {
        this.#tooLarge += 1;
        return null;
      }
      const bytes = await handle.readFile({ signal: this.#context.signal });
      if (bytes.subarray(0, 8192).includes(0)) return null;
      this.#files += 1;
      const { test, limit, context } = this.#query;
      return this.#keep(
        entry,
        searchText(bytes.toString('utf8'), test, limit - this.#matches, context),
      );
    } catch {
      this.#context.signal.throwIfAborted();
      this.#leftOut.unreadable += 1;
      return null;
    } finally {
      await handle.close();
    }
  }

  #keep({ path }: WalkEntry, found: FileMatches | null): Failure | null {
    if (found === null) {
      const text = this.#lines.join('\n');
      const advice =
        'write it without nested or overlapping repetitions, or narrow it with path or glob';
      return failed('pattern_too_slow', `the pattern takes too long on ${path}: ${advice}`, {
        text,
      });
    }
    for (const line of found.lines) this.#lines.push(line === null ? '--' : `${path}${line}`);
    this.#matches += found.matches;
    this.#isCut = found.isCut || (found.matches > 0 && this.#matches >= this.#query.limit);
    return null;
  }
}
