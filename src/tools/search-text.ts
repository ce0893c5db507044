import { matchingLines, REGEX_BUDGET_MS } from './bounded-regex.ts';

export type LineTest = { readonly literal: string } | { readonly regex: RegExp };

export interface FileMatches {
  /** `:12: text` for a match, `-11- text` for context, `null` between two groups that do not touch. */
  readonly lines: readonly (string | null)[];
  readonly matches: number;
  readonly isCut: boolean;
}

/** A line is matched in, and shown up to, its first so many characters. */
const LINE_CHARS_MATCHED = 20_000;
const LINE_CHARS_SHOWN = 500;
/** Lines are matched in batches of about this many characters, each within the time budget. */
const BATCH_CHARS = 65_536;

/** The lines of a text that match, at most `limit`; `null` where the pattern used up its time. */
export function searchText(
  text: string,
  test: LineTest,
  limit: number,
  context: number,
): FileMatches | null {
  if ('literal' in test && !text.includes(test.literal)) return NOTHING;
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  const hits = 'literal' in test ? literalHits(lines, test.literal) : regexHits(lines, test.regex);
  if (hits === null) return null;
  const kept = hits.slice(0, Math.max(0, limit));
  return {
    lines: shown(lines, kept, context),
    matches: kept.length,
    isCut: kept.length < hits.length,
  };
}

const NOTHING: FileMatches = { lines: [], matches: 0, isCut: false };

function literalHits(lines: readonly string[], literal: string): readonly number[] {
  return lines.flatMap((line, i) => (line.includes(literal) ? [i] : []));
}

function regexHits(lines: readonly string[], regex: RegExp): readonly number[] | null {
  const hits: number[] = [];
  let batch: string[] = [];
  let chars = 0;
  let first = 0;
  for (let i = 0; i < lines.length; i += 1) {
    const line = (lines[i] ?? '').slice(0, LINE_CHARS_MATCHED);
    batch.push(line);
    chars += line.length + 1;
    if (chars < BATCH_CHARS && i < lines.length - 1) continue;
    const found = matchingLines(regex, batch, REGEX_BUDGET_MS);
    if (found === null) return null;
    for (const index of found) hits.push(first + index);
    first = i + 1;
    batch = [];
    chars = 0;
  }
  return hits;
}

function shown(
  lines: readonly string[],
  hits: readonly number[],
  context: number,
): (string | null)[] {
  const out: (string | null)[] = [];
  const isHit = new Set(hits);
  let next = 0;
  for (const hit of hits) {
    const from = Math.max(next, hit - context);
    if (context > 0 && next > 0 && from > next) out.push(null);
    const to = Math.min(lines.length - 1, hit + context);
    for (let i = from; i <= to; i += 1) {
      const mark = isHit.has(i) ? ':' : '-';
      out.push(`${mark}${i + 1}${mark} ${clipped(lines[i] ?? '')}`);
    }
    next = Math.max(next, to + 1);
  }
  return out;
}

function clipped(line: string): string {
  if (line.length <= LINE_CHARS_SHOWN) return line;
  return `${line.slice(0, LINE_CHARS_SHOWN)}… [${line.length - LINE_CHARS_SHOWN} more characters]`;
}
