import { expandBraces } from './braces.ts';

/** Longest pattern, in characters. */
export const GLOB_CHARS_MAX = 1000;
/** Most alternatives that braces may expand to. */
export const GLOB_ALTERNATIVES_MAX = 256;

export interface Glob {
  /** Does a relative path with `/` between its components match? */
  matches(path: string): boolean;
  /** Does the pattern name this directory literally, as in `node_modules/*.js`? */
  names(directory: string): boolean;
}

export type ParsedGlob =
  | { readonly ok: true; readonly glob: Glob }
  | { readonly ok: false; readonly why: string };

/**
 * `*` and `?` within a component, `**` for any number of components, `[a-z]` and `[!a-z]`, `{a,b}`, `\` before a
 * character to take it as it is. A leading dot is nothing special. Matching takes time proportional to pattern times
 * path: no pattern is slow.
 */
export function parseGlob(pattern: string): ParsedGlob {
  const why = patternFault(pattern);
  if (why !== null) return { ok: false, why };
  const expanded = expandBraces(pattern, GLOB_ALTERNATIVES_MAX);
  if (expanded === null) {
    return {
      ok: false,
      why: `its braces expand to more than ${GLOB_ALTERNATIVES_MAX} alternatives`,
    };
  }
  const alternatives: Part[][] = [];
  for (const text of expanded) {
    const parts = splitComponents(text).map(parsePart);
    alternatives.push(
      parts.filter((part, i) => !(part === ANY_DEPTH && parts[i - 1] === ANY_DEPTH)),
    );
  }
  return {
    ok: true,
    glob: {
      matches(path) {
        const components = path.split('/').map((name) => Array.from(name));
        return alternatives.some((parts) => matchesPath(parts, components));
      },
      names: (directory) =>
        alternatives.some((parts) => parts.some((part) => isLiteral(part, directory))),
    },
  };
}

type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'set';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

const ANY_DEPTH = Symbol('**');
type Part = readonly Token[] | typeof ANY_DEPTH;

function patternFault(pattern: string): string | null {
  if (pattern === '') return 'it is empty';
  if (pattern.length > GLOB_CHARS_MAX) return `it is longer than ${GLOB_CHARS_MAX} characters`;
  if (pattern.includes('\0')) return 'it holds a NUL character';
  if (pattern.startsWith('/'))
    return 'it is absolute; name the directory in "path" and match below it';
  const components = pattern.split('/');
  if (components.includes('..')) return 'it leads upwards with ".."; name the directory in "path"';
  if (components.includes('') && !pattern.endsWith('/')) return 'it holds an empty component "//"';
  if (/(?:^|[^\\])[@+!?*]\([^)]*\|/.test(pattern)) {
    return 'extended patterns such as @(a|b) are not supported; write {a,b}';
  }
  return null;
}

/** At `/`, dropping `.` components and a trailing slash. */
function splitComponents(text: string): readonly string[] {
  return text.split('/').filter((part) => part !== '.' && part !== '');
}

function parsePart(text: string): Part {
  if (text === '**') return ANY_DEPTH;
  const chars = Array.from(text);
  const tokens: Token[] = [];
  let i = 0;
  while (i < chars.length) {
    const { token, end } = parseToken(chars, i);
    if (token.kind !== 'star' || tokens.at(-1)?.kind !== 'star') tokens.push(token);
    i = end;
  }
  return tokens;
}

interface Parsed {
  readonly token: Token;
  /** Index of the first character after it. */
  readonly end: number;
}

function parseToken(chars: readonly string[], at: number): Parsed {
  const char = chars[at] ?? '';
  const end = at + 1;
  if (char === '*') return { token: { kind: 'star' }, end };
  if (char === '?') return { token: { kind: 'one' }, end };
  if (char === '[') return parseSet(chars, at) ?? { token: { kind: 'char', char }, end };
  const escaped = char === '\\' ? chars[end] : undefined;
  if (escaped !== undefined) return { token: { kind: 'char', char: escaped }, end: end + 1 };
  return { token: { kind: 'char', char }, end };
}

/** The set that opens at `start`; `null` where it is never closed. */
function parseSet(chars: readonly string[], start: number): Parsed | null {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const close = chars.indexOf(']', first + 1);
  if (close < 0) return null;
  const ranges: [string, string][] = [];
  for (let i = first; i < close; i += 1) {
    const low = chars[i] ?? '';
    const isRange = chars[i + 1] === '-' && i + 2 < close;
    ranges.push([low, (isRange ? chars[i + 2] : low) ?? low]);
    if (isRange) i += 2;
  }
  return { token: { kind: 'set', negated, ranges }, end: close + 1 };
}

/** Greedy with one point to come back to, at both levels: the last `**`, and in a component the last `*`. */
function matchesPath(parts: readonly Part[], components: readonly (readonly string[])[]): boolean {
  return matchesGreedy(
    parts,
    components,
    (part) => part === ANY_DEPTH,
    (part, component) => part !== ANY_DEPTH && matchesName(part, component),
  );
}

function matchesName(tokens: readonly Token[], chars: readonly string[]): boolean {
  return matchesGreedy(tokens, chars, (token) => token.kind === 'star', matchesChar);
}

function matchesGreedy<Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  isAny: (piece: Pattern) => boolean,
  fits: (piece: Pattern, item: Item) => boolean,
): boolean {
  let p = 0;
  let i = 0;
  let anyAt = -1;
  let anyEnd = 0;
  while (i < items.length) {
    const piece = pattern[p];
    if (piece !== undefined && isAny(piece)) {
      anyAt = p;
      anyEnd = i;
      p += 1;
    } else if (piece !== undefined && fits(piece, items[i] as Item)) {
      p += 1;
      i += 1;
    } else if (anyAt >= 0) {
      anyEnd += 1;
      i = anyEnd;
      p = anyAt + 1;
    } else return false;
  }
  return pattern.slice(p).every(isAny);
}

function matchesChar(token: Token, char: string): boolean {
  if (token.kind === 'char') return token.char === char;
  if (token.kind !== 'set') return token.kind === 'one';
  return token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated;
}

function isLiteral(part: Part, name: string): boolean {
  if (part === ANY_DEPTH) return false;
  return (
    part.every((token) => token.kind === 'char') &&
    part.map((token) => (token.kind === 'char' ? token.char : '')).join('') === name
  );
}
