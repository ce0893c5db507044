import type { Json, JsonObject } from '../base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { cutMiddle } from './core/cut-text.ts';
import { failed } from './core/failure.ts';
import { type SharedRun, sharedRuns } from './core/shared-runs.ts';
import { SOURCE_ENDINGS } from './core/source-endings.ts';
import { TokenClasses } from './core/token-classes.ts';
import { stretchesOf, type TokenStretch } from './core/token-runs.ts';
import { parseSource } from './parse-source.ts';
import {
  type FoundSources,
  findSources,
  locateSources,
  readSources,
  type Source,
} from './source-files.ts';

interface FindDuplicatesArgs {
  readonly path?: string;
  readonly min_tokens?: number;
  readonly limit?: number;
}

const minTokensDefault = 60;
const limitDefault = 20;
const limitMax = 200;
/** Places listed of a group; the others are counted. */
const placesMax = 4;
const pathCharsMax = 120;

/** Tokens that are compared at most; some 800,000 lines, some 500 MB of memory at the peak. */
const TOKENS_MAX = 8_000_000;

/** Copied code in TypeScript and JavaScript sources, by their tokens. See `sharedRuns` for what a run is. */
export const findDuplicates: Tool = duplicateFinder(TOKENS_MAX);

/** The tool with another bound. Files that would pass it are skipped (`over_token_limit`), smaller ones still taken. */
export function duplicateFinder(tokensMax: number): Tool {
  return {
    name: 'find_duplicates',
    description:
      'Finds copied code in TypeScript and JavaScript source, within and across files, by comparing tokens. Names ' +
      'count as equal, and so do strings, numbers and other literals of one kind, so that copies with renamed ' +
      'variables or other values are found; comments, white space and imports do not count. Each group is as long ' +
      'as it can be, its occurrences never overlap, and groups that would save most tokens come first. A list of ' +
      'short like entries (a table) does not count as copies of itself. Skips node_modules, .git, dist, build, ' +
      'coverage, minified files and files over 1 MiB. Returns a JSON object; paths are relative to the workspace.',
    parameters: {
      type: 'object',
      additionalProperties: false,
      properties: {
        path: {
          type: 'string',
          description:
            'File or folder, absolute or relative to the workspace. Default: the workspace.',
        },
        min_tokens: {
          type: 'integer',
          minimum: 20,
          maximum: 1000,
          description: `Shortest copy that counts, in tokens (a line has about 10). Default: ${minTokensDefault}.`,
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: limitMax,
          description: `Groups in the answer. Default: ${limitDefault}.`,
        },
      },
    },
    effect: 'read',
    place: 'compute',
    timeoutMs: 300_000,
    async run(args: FindDuplicatesArgs, context: ToolContext): Promise<ToolOutcome> {
      const root = await locateSources(args.path, context);
      if (!root.ok) return root;
      const found = await findSources(root.value, SOURCE_ENDINGS, context);
      const pile = new Pile(tokensMax);
      for await (const source of readSources('find_duplicates', found, context)) pile.add(source);
      if (context.signal.aborted) {
        return failed('cancelled', `find_duplicates was cancelled after ${pile.fileCount} files`);
      }
      context.progress(`find_duplicates: comparing ${pile.tokenCount} tokens`);
      const data = pile.report(
        args.min_tokens ?? minTokensDefault,
        args.limit ?? limitDefault,
        found,
      );
      return { ok: true, text: JSON.stringify(data), data };
    },
  };
}

type StretchInFile = TokenStretch & { readonly file: string };

/** The tokens of all files. */
class Pile {
  fileCount = 0;
  tokenCount = 0;
  readonly #tokensMax: number;
  readonly #classes = new TokenClasses();
  readonly #stretches: StretchInFile[] = [];
  readonly #skipped = { unparsable: 0, over_token_limit: 0 };

  constructor(tokensMax: number) {
    this.#tokensMax = tokensMax;
  }

  add({ path: file, text }: Source): void {
    const { program, tokens } = parseSource(file, text, true);
    if (program === undefined) {
      this.#skipped.unparsable += 1;
      return;
    }
    const stretches = stretchesOf(program, tokens, this.#classes);
    const count = stretches.reduce((sum, stretch) => sum + stretch.classes.length, 0);
    if (this.tokenCount + count > this.#tokensMax) {
      this.#skipped.over_token_limit += 1;
      return;
    }
    this.fileCount += 1;
    this.tokenCount += count;
    for (const stretch of stretches) this.#stretches.push({ file, ...stretch });
  }

  report(minTokens: number, limit: number, found: FoundSources): JsonObject {
    const { runs, coveredTokens, complete } = sharedRuns(
      this.#stretches.map((stretch) => stretch.classes),
      minTokens,
    );
    return {
      totals: {
        files: this.fileCount,
        tokens: this.tokenCount,
        duplicated_tokens: coveredTokens,
        duplicated_percent: percent(coveredTokens, this.tokenCount),
        groups: runs.length,
      },
      min_tokens: minTokens,
      complete,
      skipped: { ...found.skipped, ...this.#skipped },
      groups: runs.slice(0, limit).map((run) => this.#group(run)),
    };
  }

  #group({ tokens, places }: SharedRun): Json {
    const occurrences = places.map(({ sequence, offset }) => {
      const stretch = this.#stretches[sequence];
      return {
        file: cutMiddle(stretch?.file ?? '', pathCharsMax),
        start_line: stretch?.startLines[offset] ?? 0,
        end_line: stretch?.endLines[offset + tokens - 1] ?? 0,
      };
    });
    const lines = occurrences.map((one) => one.end_line - one.start_line + 1);
    const hidden = occurrences.length - placesMax;
    return {
      tokens,
      lines: lines.reduce((most, count) => Math.max(most, count), 0),
      occurrences: occurrences.slice(0, placesMax),
      ...(hidden > 0 ? { more_occurrences: hidden } : {}),
    };
  }
}

/** With one digit after the point. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10;
}
