import type { Json, JsonObject } from '../base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import {
  FIND_DUPLICATES_DEFINITION,
  FIND_DUPLICATES_LIMIT,
  FIND_DUPLICATES_MIN_TOKENS,
} from './compute-definitions.ts';
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
    ...FIND_DUPLICATES_DEFINITION,
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
        args.min_tokens ?? FIND_DUPLICATES_MIN_TOKENS,
        args.limit ?? FIND_DUPLICATES_LIMIT,
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
