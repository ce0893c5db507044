/** A piece of a word, by what the shell still does with it. */
export type WordPart =
  /** As written: patterns, braces and a leading `~` mean something. */
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'quoted'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly isQuoted: boolean }
  /** Comes from somewhere that cannot be read here: standard input. */
  | { readonly kind: 'unknown' };

export interface ShellWord {
  /** Without its quotes and escapes; expansions as written. */
  readonly text: string;
  /** So many characters at the start were written as they are: no quote, escape or expansion before. */
  readonly plain: number;
  /** Holds a `$NAME` or an unquoted `{a,b}`: what it becomes is decided when it runs. */
  readonly isDynamic: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  readonly isGlob: boolean;
  /** Starts with an unquoted `*`, `?` or `[`, so that it may become an option. */
  readonly startsWithGlob: boolean;
  readonly parts: readonly WordPart[];
}

/** Puts a word together from its pieces. */
export class WordBuilder {
  #text = '';
  #plain: number | null = null;
  #hasExpansion = false;
  #isGlob = false;
  #startsWithGlob = false;
  /** The unquoted characters, each quoted one as a NUL. */
  #mask = '';
  readonly #parts: WordPart[] = [];

  plain(char: string): void {
    if ('*?['.includes(char)) {
      this.#isGlob = true;
      if (this.#text === '') this.#startsWithGlob = true;
    }
    this.#add('plain', char);
    this.#text += char;
    this.#mask += char;
  }

  quoted(text: string): void {
    this.#add('quoted', text);
    this.#takenAs(text);
  }

  /** `parameter` is what follows `$`: a name, or one in braces. */
  expansion(parameter: string, isQuoted: boolean): void {
    const name = parameter.replace(/^\{(.*)\}$/s, '$1');
    this.#parts.push({ kind: 'variable', name, isQuoted });
    this.#takenAs(`$${parameter}`);
    this.#hasExpansion = true;
  }

  word(): ShellWord {
    return {
      text: this.#text,
      plain: this.#plain ?? this.#text.length,
      isDynamic: this.#hasExpansion || this.#hasBraces(),
      isGlob: this.#isGlob,
      startsWithGlob: this.#startsWithGlob,
      parts: this.#parts,
    };
  }

  #takenAs(text: string): void {
    this.#plain ??= this.#text.length;
    this.#text += text;
    this.#mask += '\0';
  }

  #add(kind: 'plain' | 'quoted', text: string): void {
    const last = this.#parts.at(-1);
    if (last?.kind !== kind) this.#parts.push({ kind, text });
    else this.#parts.splice(-1, 1, { kind, text: last.text + text });
  }

  #hasBraces(): boolean {
    const open = this.#mask.indexOf('{');
    const close = this.#mask.lastIndexOf('}');
    const inner = open < 0 ? '' : this.#mask.slice(open + 1, Math.max(open + 1, close));
    return inner.includes(',') || inner.includes('..');
  }
}
