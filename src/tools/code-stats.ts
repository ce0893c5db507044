import type { Json, JsonObject } from '../base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { CODE_STATS_DEFINITION, CODE_STATS_LIMIT } from './compute-definitions.ts';
import { cutEnd, cutMiddle } from './core/cut-text.ts';
import { failed } from './core/failure.ts';
import { lineKinds } from './core/line-kinds.ts';
import { openEnds } from './core/open-ends.ts';
import { endingsOf, SOURCE_ENDINGS } from './core/source-endings.ts';
import { spreadOf } from './core/spread.ts';
import { type FunctionMeasures, measureSyntax } from './core/syntax-measures.ts';
import { parseSource } from './parse-source.ts';
import {
  type FoundSources,
  findSources,
  locateSources,
  readSources,
  type Source,
} from './source-files.ts';

interface CodeStatsArgs {
  readonly path?: string;
  readonly limit?: number;
  readonly include?: readonly string[];
}

const pathCharsMax = 120;
const textCharsMax = 120;
const nameCharsMax = 80;

/**
 * Measures of TypeScript and JavaScript sources, from their syntax trees. What counts as a line of code is said at
 * `LineKinds`, what as a decision at `FunctionMeasures`, what as an import or export at `SyntaxMeasures`. A file that
 * does not parse counts its lines (all that are not blank as code) and is listed under `parse_errors`.
 */
export const codeStats: Tool = {
  ...CODE_STATS_DEFINITION,
  async run(args: CodeStatsArgs, context: ToolContext): Promise<ToolOutcome> {
    const wanted = endingsOf(args.include ?? SOURCE_ENDINGS);
    if (!wanted.ok) {
      const known = SOURCE_ENDINGS.join(' ');
      return failed(
        'invalid_arguments',
        `include ${JSON.stringify(wanted.refused)} names no source file; endings are ${known}`,
      );
    }
    const root = await locateSources(args.path, context);
    if (!root.ok) return root;
    const found = await findSources(root.value, wanted.endings, context);
    const tally = new Tally();
    for await (const source of readSources('code_stats', found, context)) tally.add(source);
    if (context.signal.aborted) {
      return failed('cancelled', `code_stats was cancelled after ${tally.fileCount} files`);
    }
    const data = tally.report(args.limit ?? CODE_STATS_LIMIT, found);
    return { ok: true, text: JSON.stringify(data), data };
  },
};

interface InFile {
  readonly file: string;
}

interface Remark extends InFile {
  readonly line: number;
  readonly text: string;
}

type FunctionInFile = FunctionMeasures & InFile;

/** What the files add up to. */
class Tally {
  readonly #files: { readonly file: string; readonly lines: number; readonly codeLines: number }[] =
    [];
  readonly #functions: FunctionInFile[] = [];
  readonly #openEnds: Remark[] = [];
  readonly #parseErrors: Remark[] = [];
  readonly #totals = { code_lines: 0, comment_lines: 0, blank_lines: 0 };
  readonly #syntax = { classes: 0, exports: 0, imports: 0 };

  get fileCount(): number {
    return this.#files.length;
  }

  add({ path: file, text }: Source): void {
    const parsed = parseSource(file, text, false);
    const lines = lineKinds(text, parsed.comments);
    this.#files.push({ file, lines: lines.lines, codeLines: lines.codeLines });
    this.#totals.code_lines += lines.codeLines;
    this.#totals.comment_lines += lines.commentLines;
    this.#totals.blank_lines += lines.blankLines;
    for (const end of openEnds(parsed.comments)) this.#openEnds.push({ file, ...end });
    for (const { line, message } of parsed.problems) {
      this.#parseErrors.push({ file, line, text: message });
    }
    if (parsed.program === undefined) return;
    const syntax = measureSyntax(parsed.program);
    for (const measures of syntax.functions) this.#functions.push({ file, ...measures });
    this.#syntax.classes += syntax.classes;
    this.#syntax.exports += syntax.exports;
    this.#syntax.imports += syntax.imports;
  }

  report(limit: number, found: FoundSources): JsonObject {
    const lines = this.#files.map((file) => file.lines);
    const spread = spreadOf(lines);
    return {
      totals: {
        files: this.#files.length,
        lines: lines.reduce((sum, count) => sum + count, 0),
        ...this.#totals,
        functions: this.#functions.length,
        ...this.#syntax,
        open_ends: this.#openEnds.length,
        parse_errors: this.#parseErrors.length,
      },
      file_lines: { ...spread },
      skipped: { ...found.skipped },
      largest_files: this.#files
        .sort((a, b) => b.lines - a.lines || byPath(a, b))
        .slice(0, limit)
        .map(({ file, lines, codeLines }) => ({
          file: cutMiddle(file, pathCharsMax),
          lines,
          code_lines: codeLines,
        })),
      longest_functions: this.#topFunctions(limit, (one) => one.lines),
      most_complex_functions: this.#topFunctions(limit, (one) => one.complexity),
      open_ends: this.#openEnds.sort(byPlace).slice(0, limit).map(remarkJson('text')),
      parse_errors: this.#parseErrors.sort(byPlace).slice(0, limit).map(remarkJson('message')),
    };
  }

  #topFunctions(limit: number, measure: (one: FunctionInFile) => number): readonly Json[] {
    return this.#functions
      .sort((a, b) => measure(b) - measure(a) || byPath(a, b) || a.startLine - b.startLine)
      .slice(0, limit)
      .map((one) => ({
        name: cutEnd(one.name, nameCharsMax),
        file: cutMiddle(one.file, pathCharsMax),
        start_line: one.startLine,
        lines: one.lines,
        parameters: one.parameters,
        complexity: one.complexity,
        max_nesting: one.maxNesting,
      }));
  }
}

function remarkJson(key: 'text' | 'message'): (remark: Remark) => Json {
  return ({ file, line, text }) => ({
    file: cutMiddle(file, pathCharsMax),
    line,
    [key]: cutEnd(text, textCharsMax),
  });
}

function byPath(a: InFile, b: InFile): number {
  if (a.file === b.file) return 0;
  return a.file < b.file ? -1 : 1;
}

function byPlace(a: Remark, b: Remark): number {
  return byPath(a, b) || a.line - b.line;
}
