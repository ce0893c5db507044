import { foldedName } from './path-names.ts';
import { componentsOf } from './path-scope.ts';
import { ANY_TEXT } from './word-forms.ts';

/** A character of a pattern: itself, any one (`?`, a set in brackets), any number (`*`), or text that nobody can tell. */
type Token = { readonly char: string } | 'one' | 'many' | 'any';

export type Component = readonly Token[];

/** What a form of a word says of a path, component by component from the root. */
export interface PathPattern {
  /** Up to where text begins that nobody can tell; each `..` has taken away what stands before it. */
  readonly components: readonly Component[];
  /** The same with each `..` as it is: behind a symlink it leads elsewhere. */
  readonly steps: readonly Component[];
  /** Goes on with text that nobody can tell. */
  readonly isOpen: boolean;
}

/** Between these, an argument may hold a path: `--file=x`, `HEAD:x`, `-d @x`, `a,b`, `<x`. */
const DELIMITERS = '=:,@<';
/** So many letters of options may stand before a value: `-xvfFILE`. */
const LETTERS_MAX = 6;
/** Parts of one argument that are looked at. */
const PARTS_MAX = 40;

/** Every path that one form of an argument may mean to its program, seen from each of `bases`. */
export function pathPatterns(
  form: string,
  bases: readonly string[],
  home: string,
): readonly PathPattern[] {
  const tokens = tokensOf(form);
  return partsOf(tokens)
    .slice(0, PARTS_MAX)
    .flatMap((part) => patternsOf(part, bases, home));
}

/** May the path be the directory or below it? Text that nobody can tell may climb anywhere. */
export function mayReach({ components, isOpen }: PathPattern, dir: string): boolean {
  const outer = componentsOf(dir) ?? [];
  return isOpen || (components.length >= outer.length && startsAlike(components, outer));
}

/** Is the path plainly below the directory, whatever else it is? */
export function isBelow({ components, isOpen }: PathPattern, dir: string): boolean {
  const outer = componentsOf(dir) ?? [];
  const deeper = components.length + (isOpen ? 1 : 0);
  return (
    deeper > outer.length && components.length >= outer.length && startsAlike(components, outer)
  );
}

/** May the path be a directory that holds `dir`? */
export function mayHold({ components }: PathPattern, dir: string): boolean {
  const outer = componentsOf(dir) ?? [];
  return components.length < outer.length && startsAlike(components, outer);
}

function startsAlike(components: readonly Component[], outer: readonly string[]): boolean {
  return components.every((part, i) => i >= outer.length || matches(part, outer[i]));
}

/** The name of a component that is no pattern. */
export function plainName(component: Component): string | null {
  let name = '';
  for (const token of component) {
    if (typeof token === 'string') return null;
    name += token.char;
  }
  return name;
}

/** Does a name match, told apart no better than the most forgiving file system does? Takes time of pattern times name. */
export function matches(component: Component, name = ''): boolean {
  const plain = plainName(component);
  if (plain !== null) return foldedName(plain) === foldedName(name);
  // A leading dot is matched by a dot alone; what would change that, `shopt` and GLOBIGNORE, is refused.
  if (name.startsWith('.') && (component[0] === 'one' || component[0] === 'many')) return false;
  const chars = Array.from(name.toLowerCase());
  const least = component.filter((token) => token !== 'many' && token !== 'any').length;
  if (least > chars.length) return false;
  let reached: readonly number[] = [0];
  for (const token of component) reached = stepsAfter(token, reached, chars);
  return reached.includes(chars.length);
}

/** Where in the name a match may stand after one more token, in rising order. */
function stepsAfter(
  token: Token,
  reached: readonly number[],
  chars: readonly string[],
): readonly number[] {
  const first = reached[0];
  if (first === undefined) return [];
  if (token !== 'many' && token !== 'any') {
    return reached.filter((at) => at < chars.length && fits(token, chars[at])).map((at) => at + 1);
  }
  return Array.from({ length: chars.length + 1 - first }, (_, i) => first + i);
}

function fits(token: Token, char: string | undefined): boolean {
  return typeof token === 'string' || token.char.toLowerCase() === char;
}

function tokensOf(form: string): Component {
  const tokens: Token[] = [];
  const chars = Array.from(form);
  for (let i = 0; i < chars.length; i += 1) {
    const close = chars[i] === '[' ? closingAt(chars, i) : -1;
    const isEscaped = chars[i] === '\\' && i + 1 < chars.length;
    if (isEscaped) i += 1;
    const char = chars[i] ?? '';
    tokens.push((isEscaped ? null : ACTIVE.get(char)) ?? (close > 0 ? 'one' : { char }));
    if (close > 0) i = close;
  }
  return tokens;
}

const ACTIVE = new Map<string, Token>([
  ['*', 'many'],
  ['?', 'one'],
  [ANY_TEXT, 'any'],
]);

/** Where a set in brackets ends, or -1: a `]` right at its start, or after `!`, belongs to it. */
function closingAt(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === '!' || chars[open + 1] === '^' ? open + 3 : open + 2;
  const slash = chars.indexOf('/', open);
  const close = chars.indexOf(']', first);
  return close > 0 && (slash < 0 || close < slash) ? close : -1;
}

function charOf(token: Token | undefined): string | null {
  return typeof token === 'object' ? token.char : null;
}

function partsOf(tokens: Component): Component[] {
  const isOption = charOf(tokens[0]) === '-';
  const parts: Component[] = isOption ? [] : [tokens];
  if (isOption) {
    for (let i = 2; i <= LETTERS_MAX && i < tokens.length; i += 1) parts.push(tokens.slice(i));
    const slash = tokens.findIndex((token) => charOf(token) === '/');
    if (slash > LETTERS_MAX) parts.push(tokens.slice(slash));
  }
  const at = (i: number): boolean => DELIMITERS.includes(charOf(tokens[i]) ?? '-');
  let start = 0;
  for (let i = 0; i < tokens.length; i += 1) {
    if (!at(i)) continue;
    if (start > 0) parts.push(tokens.slice(start, i));
    start = i + 1;
    parts.push(tokens.slice(start));
  }
  return parts;
}

function patternsOf(
  part: Component,
  bases: readonly string[],
  home: string,
): readonly PathPattern[] {
  const words = splitAtSlashes(part);
  const [first = [], ...rest] = words;
  if (words.length > 1 && first.length === 0) return [patternOf('/', rest)];
  const below = bases.map((base) => patternOf(base, words));
  if (charOf(first[0]) !== '~') return below;
  // Whether the shell takes the tilde for a home, or it stands for itself, both are looked at.
  if (first.length === 1) return [...below, patternOf(home, rest)];
  return [...below, { components: [], steps: [], isOpen: true }];
}

function patternOf(start: string, words: readonly Component[]): PathPattern {
  const components: Component[] = (componentsOf(start) ?? []).map(charsOf);
  const steps: Component[] = [...components];
  for (const [i, word] of words.entries()) {
    const name = plainName(word);
    if (word.includes('any') || (i < words.length - 1 && mayClimb(word))) {
      return { components, steps, isOpen: true };
    }
    if (name === '' || name === '.') continue;
    steps.push(word);
    if (name === '..') components.pop();
    else components.push(word);
  }
  return { components, steps, isOpen: false };
}

/** `.*` in the middle of a path may stand for `..`. */
function mayClimb(word: Component): boolean {
  return plainName(word) === null && charOf(word[0]) === '.' && matches(word, '..');
}

function splitAtSlashes(tokens: Component): readonly Component[] {
  const words: Token[][] = [[]];
  for (const token of tokens) {
    if (charOf(token) === '/') words.push([]);
    else words.at(-1)?.push(token);
  }
  return words;
}

function charsOf(name: string): Component {
  return Array.from(name, (char) => ({ char }));
}
