import { type ShellWord, WordBuilder } from './shell-word.ts';

/** Something in a command line that is refused, in words. */
export class Unsupported extends Error {}

/** Where the shell opens a file by itself, before any program runs. */
export interface ShellRedirect {
  readonly mode: 'read' | 'write';
  /** As written, quotes removed: absolute, or relative to where the shell stands. */
  readonly target: string;
}

export type ShellToken =
  | { readonly kind: 'word'; readonly word: ShellWord }
  | { readonly kind: 'operator'; readonly text: string }
  | { readonly kind: 'redirect'; readonly redirect: ShellRedirect };

const SUBSTITUTION =
  'command substitution is not supported; run the inner command in a call of its own';
/** What `$` may be followed by: a name, a digit, a special parameter, or a plain `{name}`. */
const PARAMETER =
  /(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])\})/y;
const REFUSED_OPERATORS: readonly (readonly [string, string])[] = [
  ['&>', '"&>" means different things to different shells; write "> file 2>&1"'],
  ['|&', '"|&" means different things to different shells; write "2>&1 |"'],
  [';;', '";;" is not supported'],
  [';&', '";&" is not supported'],
  ['<<', 'here-documents are not supported; write the text to a file first'],
  ['<(', 'process substitution is not supported'],
  ['>(', 'process substitution is not supported'],
];
const OPERATORS = ['&&', '||', ';', '&', '|', '\n', '(', ')'];
const REDIRECTS = ['>>', '>|', '<>', '>', '<'];

/** Cuts a command line into words, operators and redirects. Throws `Unsupported`. */
export class ShellLexer {
  readonly #line: string;
  #at = 0;

  constructor(line: string) {
    if (line.includes('\0')) throw new Unsupported('it holds a NUL character');
    this.#line = line;
  }

  next(): ShellToken | null {
    this.#skipBlank();
    if (this.#at >= this.#line.length) return null;
    this.#refuse();
    const redirect = this.#redirect();
    if (redirect !== 'none')
      return redirect === null ? this.next() : { kind: 'redirect', redirect };
    const text = OPERATORS.find((operator) => this.#line.startsWith(operator, this.#at));
    if (text !== undefined) {
      this.#at += text.length;
      return { kind: 'operator', text };
    }
    return { kind: 'word', word: this.#word() };
  }

  #refuse(): void {
    for (const [operator, why] of REFUSED_OPERATORS) {
      if (this.#line.startsWith(operator, this.#at)) throw new Unsupported(why);
    }
  }

  #skipBlank(): void {
    const blank = /(?:[ \t]|\\\n)*(?:#[^\n]*)?/y;
    blank.lastIndex = this.#at;
    this.#at += blank.exec(this.#line)?.[0].length ?? 0;
  }

  /** A redirect that starts here; `null` for one that only duplicates or closes a descriptor. */
  #redirect(): ShellRedirect | null | 'none' {
    const digits = /[0-9]*(?=[<>])/y;
    digits.lastIndex = this.#at;
    const match = digits.exec(this.#line);
    if (match === null) return 'none';
    this.#at += match[0].length;
    this.#refuse();
    const duplicate = /[<>]&[ \t]*(?:[0-9]+-?|-)(?=[\s;&|()<>]|$)/y;
    duplicate.lastIndex = this.#at;
    const duplicated = duplicate.exec(this.#line);
    if (duplicated !== null) {
      this.#at += duplicated[0].length;
      return null;
    }
    const operator = REDIRECTS.find((each) => this.#line.startsWith(each, this.#at)) ?? '>';
    this.#at += operator.length;
    if (this.#line[this.#at] === '&') throw new Unsupported('">&" to a file; write "> file 2>&1"');
    return { mode: operator === '<' ? 'read' : 'write', target: this.#target() };
  }

  #target(): string {
    this.#skipBlank();
    const word = this.#word();
    if (word.text === '') throw new Unsupported('a redirect without a file');
    if (word.isDynamic || word.isGlob || word.text.startsWith('~')) {
      throw new Unsupported(
        `the redirect to ${word.text} is decided only when it runs; name the file`,
      );
    }
    return word.text;
  }

  #word(): ShellWord {
    const builder = new WordBuilder();
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      if (' \t\n;&|()<>'.includes(char)) break;
      this.#at += 1;
      if (char === "'") this.#singleQuoted(builder);
      else if (char === '"') this.#doubleQuoted(builder);
      else if (char === '\\') this.#escaped(builder);
      else if (char === '$' || char === '`') this.#dollar(builder, char, false);
      else builder.plain(char);
    }
    return builder.word();
  }

  #singleQuoted(builder: WordBuilder): void {
    const end = this.#line.indexOf("'", this.#at);
    if (end < 0) throw new Unsupported('a single quote is never closed');
    builder.quoted(this.#line.slice(this.#at, end));
    this.#at = end + 1;
  }

  #doubleQuoted(builder: WordBuilder): void {
    builder.quoted('');
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      this.#at += 1;
      if (char === '"') return;
      const next = this.#line[this.#at];
      if (char === '$' || char === '`') this.#dollar(builder, char, true);
      else if (char === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
        if (next !== '\n') builder.quoted(next);
        this.#at += 1;
      } else builder.quoted(char);
    }
    throw new Unsupported('a double quote is never closed');
  }

  #escaped(builder: WordBuilder): void {
    const char = this.#line[this.#at];
    if (char === undefined) throw new Unsupported('it ends in a backslash');
    this.#at += 1;
    if (char !== '\n') builder.quoted(char);
  }

  #dollar(builder: WordBuilder, char: string, isQuoted: boolean): void {
    if (char === '`') throw new Unsupported(SUBSTITUTION);
    const next = this.#line[this.#at] ?? '';
    // A line continuation after "$" is removed before some shells look at what follows.
    if (next === '(' || this.#line.startsWith('\\\n', this.#at))
      throw new Unsupported(SUBSTITUTION);
    if (!isQuoted && (next === "'" || next === '"')) {
      throw new Unsupported(`"$${next}" means different things to different shells`);
    }
    PARAMETER.lastIndex = this.#at;
    const parameter = PARAMETER.exec(this.#line)?.[0];
    if (parameter === undefined && (next === '{' || next === '[')) {
      throw new Unsupported(`"$${next}…" is not supported; only plain $NAME is`);
    }
    this.#at += parameter?.length ?? 0;
    if (parameter === undefined) builder.quoted('$');
    else builder.expansion(parameter, isQuoted);
  }
}
