import { expandBraces } from './braces.ts';
import type { ProgramCall } from './command-line.ts';
import type { ShellWord, WordPart } from './shell-word.ts';

/** What a variable may hold when a word is expanded; `null`: nobody can tell before it runs. */
export type Values = (name: string) => readonly string[] | null;

/** Stands in a form for text that nobody can tell. It may be empty, and hold slashes. */
export const ANY_TEXT = '\0';

/** Most forms of one word; a word with more is taken as text that nobody can tell. */
export const FORMS_MAX = 64;

/** Set by shells themselves. */
const SHELL_SET =
  /^(?:[0-9@*#?$!-]|_|BASH.*|COMP_.*|EPOCH.*|OPT(?:ARG|ERR|IND)|P?PID|PS[0-9]|E?UID|S?RANDOM|SECONDS|LINENO|REPLY|IFS|OLDPWD|SHLVL|SHELL|HOST.*|MACHTYPE|OSTYPE|DIRSTACK|FUNCNAME|GROUPS|PIPESTATUS|COLUMNS|LINES|MAPFILE|COPROC)$/;

/** Builtins that fill variables with what they read or compute. */
const FILLING = new Set(['read', 'mapfile', 'readarray', 'getopts', 'let', 'declare', 'typeset']);

/**
 * What the variables of a line may hold: what its environment has (it is emptied, so all of it is known), and whatever
 * the line assigns, before or after.
 */
export function valuesOf(
  environment: Readonly<Record<string, string>>,
  calls: readonly ProgramCall[],
  assignments: readonly ShellWord[],
): Values {
  const assigned = new Map<string, readonly string[] | null>();
  const words = [...assignments, ...calls.flatMap(({ args }) => args)];
  for (const word of words) {
    const [whole, name = '', sign] = /^([A-Za-z_][A-Za-z0-9_]*)(\+?=)/.exec(word.text) ?? [];
    if (whole === undefined) continue;
    const isKnown = sign === '=' && !word.isDynamic;
    const before = assigned.get(name) ?? (assigned.has(name) ? null : []);
    const value = word.text.slice(whole.length);
    assigned.set(name, isKnown && before !== null ? [...before, value] : null);
  }
  const filled = calls.filter(({ name }) => FILLING.has(name)).flatMap(({ args }) => args);
  for (const { text } of filled) assigned.set(text, null);
  return (name) => {
    const own = assigned.get(name);
    if (own === null || (own === undefined && SHELL_SET.test(name))) return null;
    return [...new Set([environment[name] ?? '', ...(own ?? [])])];
  };
}

/**
 * All that a word may become before its patterns are looked up: variables in place, braces spread (and as they are, for
 * a shell that does not spread them). In a form `*`, `?` and `[` mean patterns and `\` takes that from the next character.
 */
export function formsOf(word: ShellWord, values: Values): readonly string[] {
  // Braces are spread first, so that `$X{a,b}` asks for the variables Xa and Xb.
  const hasVariable = word.parts.some(({ kind }) => kind === 'variable');
  const hasBrace = word.parts.some((part) => part.kind === 'plain' && part.text.includes('{'));
  if (hasVariable && hasBrace) return [ANY_TEXT];
  let forms: readonly string[] = [''];
  for (const part of word.parts) {
    const texts = textsOf(part, values);
    forms = forms.flatMap((form) => texts.map((text) => form + text));
    if (forms.length > FORMS_MAX) return [ANY_TEXT];
  }
  const out = new Set(forms);
  for (const form of forms) {
    if (/(?<!\\)\{[^{}]*\.\.[^{}]*\}/.test(form)) return [ANY_TEXT];
    for (const each of expandBraces(form, FORMS_MAX) ?? [ANY_TEXT]) out.add(each);
  }
  return out.size > 2 * FORMS_MAX ? [ANY_TEXT] : [...out];
}

function textsOf(part: WordPart, values: Values): readonly string[] {
  if (part.kind === 'unknown') return [ANY_TEXT];
  if (part.kind === 'plain') return [part.text];
  if (part.kind === 'quoted') return [literal(part.text)];
  const found = values(part.name);
  if (found === null) return [ANY_TEXT];
  if (part.isQuoted) return found.map(literal);
  // A value with blanks would become several words.
  return found.map((text) => (/\s/.test(text) ? ANY_TEXT : text.replace(/[\\{},~]/g, '\\$&')));
}

/** A text in which nothing is a pattern. */
export function literal(text: string): string {
  return text.replace(/[\\*?[\]{},~]/g, '\\$&');
}
