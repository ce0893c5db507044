import { createContext, Script } from 'node:vm';

/** Longest time one bounded match may hold the thread, in milliseconds of wall-clock time. */
export const REGEX_BUDGET_MS = 250;

/** Longest pattern that is taken from a foreign schema, in characters. */
export const FOREIGN_PATTERN_CHARS_MAX = 200;

export type Compiled =
  | { readonly ok: true; readonly regex: RegExp }
  | { readonly ok: false; readonly why: string };

/** A pattern somebody else wrote: with Unicode rules, else (foreign patterns are full of `\-`) without. */
export function compilePattern(pattern: string, flags = ''): Compiled {
  try {
    return { ok: true, regex: new RegExp(pattern, `${flags}u`) };
  } catch {
    try {
      return { ok: true, regex: new RegExp(pattern, flags) };
    } catch (thrown) {
      return { ok: false, why: (thrown as Error).message };
    }
  }
}

/**
 * Why a pattern is not taken from a foreign schema, or `null`: more than 200 characters; or a repeated group that
 * holds a repetition itself, `(a+)+`, which makes a matcher take exponential time. The check is simple on purpose:
 * what it misses, `(a|a)*`, the time budget catches.
 */
export function foreignPatternFault(pattern: string): string | null {
  if (pattern.length > FOREIGN_PATTERN_CHARS_MAX) {
    return `a pattern of ${pattern.length} characters (at most ${FOREIGN_PATTERN_CHARS_MAX})`;
  }
  if (nestsQuantifiers(pattern)) {
    return `the pattern ${JSON.stringify(pattern)}, which repeats a group that repeats something itself`;
  }
  const compiled = compilePattern(pattern);
  return compiled.ok ? null : `the pattern ${JSON.stringify(pattern)}: ${compiled.why}`;
}

/** Indices of the lines that match, or `null` where the budget ran out: V8 gives up a match only for `node:vm`. */
export function matchingLines(
  regex: RegExp,
  lines: readonly string[],
  budgetMs: number = REGEX_BUDGET_MS,
): readonly number[] | null {
  prison ??= newPrison();
  const { sandbox, search } = prison;
  sandbox.regex = regex;
  sandbox.lines = lines;
  try {
    const hits: unknown = search.runInContext(sandbox, { timeout: budgetMs });
    return Array.from(hits as readonly number[]);
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw thrown;
  } finally {
    sandbox.regex = null;
    sandbox.lines = null;
  }
}

/** One text against one regex: at once where neither can take long, else within the budget (`null` = ran out). */
export function boundedTest(regex: RegExp, text: string): boolean | null {
  if (isHarmless(regex) && text.length <= 2000) return regex.test(text);
  const hits = matchingLines(regex, [text]);
  return hits === null ? null : hits.length > 0;
}

const SEARCH = `(() => {
  const hits = [];
  for (let i = 0; i < lines.length; i += 1) if (regex.test(lines[i])) hits.push(i);
  return hits;
})()`;

interface Prison {
  readonly sandbox: { regex: RegExp | null; lines: readonly string[] | null };
  readonly search: Script;
}

/** Made at the first match: a context costs a millisecond that no import should pay. */
let prison: Prison | null = null;

function newPrison(): Prison {
  const sandbox = Object.assign(Object.create(null), { regex: null, lines: null });
  createContext(sandbox);
  return { sandbox, search: new Script(SEARCH) };
}

/** No group and at most one unbounded repetition: quadratic at worst. */
function isHarmless(regex: RegExp): boolean {
  return !regex.source.includes('(') && (regex.source.match(/[*+]|\{\d+,/g)?.length ?? 0) <= 1;
}

/** `(…+…)+`: an unbounded quantifier on a group that holds an unbounded quantifier, at any depth. */
function nestsQuantifiers(pattern: string): boolean {
  const plain = pattern.replace(/\\./gsu, 'x').replace(/\[[^\]]*\]/g, 'x');
  const repeats: boolean[] = [false];
  for (const token of plain.match(/\)(?:[*+]|\{\d+,\d*\})|[()*+]|\{\d+,\d*\}/g) ?? []) {
    if (token === '(') {
      repeats.push(false);
      continue;
    }
    const inner = token.startsWith(')') && repeats.length > 1 && repeats.pop() === true;
    if (inner && token.length > 1) return true;
    if (inner || token !== ')') repeats[repeats.length - 1] = true;
  }
  return false;
}
