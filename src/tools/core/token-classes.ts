/** Kinds of tokens (by the parser's label) whose text does not matter: renamed and re-valued copies stay equal. */
const oneClass: Readonly<Record<string, string>> = {
  bigint: 'a number',
  decimal: 'a number',
  false: 'a boolean',
  jsxName: 'a name',
  jsxText: 'a text',
  name: 'a name',
  num: 'a number',
  regexp: 'a pattern',
  string: 'a string',
  template: 'a text',
  true: 'a boolean',
};

const unseen: ReadonlySet<string> = new Set(['eof', '#!...']);

/**
 * Numbers token classes: all names are one class; strings, numbers, booleans, regular expressions and literal texts are
 * one each; every keyword, operator and punctuation mark is its own.
 */
export class TokenClasses {
  readonly #numbers = new Map<string, number>();

  /**
   * The class of a token, from 0 on in the order of first sight; undefined for what is no token of code (end of file,
   * interpreter line, white space between JSX elements).
   */
  classOf(label: string, value: unknown): number | undefined {
    if (unseen.has(label) || (label === 'jsxText' && isBlank(value))) return undefined;
    const key = oneClass[label] ?? (typeof value === 'string' ? value : label);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const fresh = this.#numbers.size;
    this.#numbers.set(key, fresh);
    return fresh;
  }
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
