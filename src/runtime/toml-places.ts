import { formatPath, type KeyPath, type TextPlace } from './core/key-path.ts';

/**
 * Where each key, table header and list item of a TOML text stands, by key path. The parser gives values without places;
 * this reads the same text again for the places alone. The text must be valid TOML: of an invalid one it returns
 * places that mean nothing, but it always ends.
 */
export function tomlPlaces(text: string): ReadonlyMap<string, TextPlace> {
  const scan = new TomlScan(text);
  scan.document();
  return scan.places;
}

class TomlScan {
  readonly places = new Map<string, TextPlace>();
  readonly #text: string;
  readonly #listLengths = new Map<string, number>();
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #counted = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    let table: KeyPath = [];
    for (this.#skipBlank(); this.#at < this.#text.length; this.#skipBlank()) {
      const before = this.#at;
      if (this.#peek() === '[') table = this.#header();
      else this.#pair(table);
      if (this.#at === before) this.#at += 1;
    }
  }

  #header(): KeyPath {
    const start = this.#at;
    const isList = this.#text.startsWith('[[', this.#at);
    this.#at += isList ? 2 : 1;
    const keys = this.#keys();
    this.#at += isList ? 2 : 1;
    const path: (string | number)[] = [];
    keys.forEach((key, index) => {
      path.push(key);
      const name = formatPath(path);
      if (isList && index === keys.length - 1) {
        this.#listLengths.set(name, (this.#listLengths.get(name) ?? 0) + 1);
      }
      this.#record(path, start);
      const length = this.#listLengths.get(name);
      if (length !== undefined) path.push(length - 1);
    });
    this.#record(path, start);
    return path;
  }

  #pair(table: KeyPath): void {
    const start = this.#at;
    const path: (string | number)[] = [...table];
    for (const key of this.#keys()) {
      path.push(key);
      this.#record(path, start);
    }
    if (this.#peek() !== '=') return;
    this.#at += 1;
    this.#skipSpaces();
    this.#value(path);
  }

  #value(path: KeyPath): void {
    const first = this.#peek();
    if (first === '"' || first === "'") this.#string();
    else if (first === '[') this.#list(path);
    else if (first === '{') this.#inlineTable(path);
    else this.#match(/[^,\]}\n#]*/y);
  }

  #list(path: KeyPath): void {
    this.#at += 1;
    let index = 0;
    for (this.#skipBlank(); this.#within(']'); this.#skipBlank()) {
      const before = this.#at;
      if (this.#peek() === ',') {
        this.#at += 1;
        index += 1;
        continue;
      }
      this.#record([...path, index], this.#at);
      this.#value([...path, index]);
      if (this.#at === before) this.#at += 1;
    }
    this.#at += 1;
  }

  #inlineTable(path: KeyPath): void {
    this.#at += 1;
    for (this.#skipBlank(); this.#within('}'); this.#skipBlank()) {
      const before = this.#at;
      if (this.#peek() === ',') this.#at += 1;
      else this.#pair(path);
      if (this.#at === before) this.#at += 1;
    }
    this.#at += 1;
  }

  /** `a."b c".d`, up to the `=` or `]` after it. */
  #keys(): readonly string[] {
    const keys: string[] = [];
    for (;;) {
      this.#skipSpaces();
      const quote = this.#peek();
      if (quote === '"' || quote === "'") keys.push(unquote(this.#string()));
      else keys.push(this.#match(/[A-Za-z0-9_-]*/y));
      this.#skipSpaces();
      if (this.#peek() !== '.') return keys;
      this.#at += 1;
    }
  }

  #string(): string {
    return this.#match(STRING) || this.#match(/[^\n]*/y);
  }

  #skipSpaces(): void {
    this.#match(/[ \t]*/y);
  }

  #skipBlank(): void {
    this.#match(/(?:[\s\uFEFF]|#[^\n]*)*/y);
  }

  #within(close: string): boolean {
    return this.#at < this.#text.length && this.#peek() !== close;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #match(sticky: RegExp): string {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  /** The first place wins: a table that is named again keeps the line where it began. */
  #record(path: KeyPath, at: number): void {
    const name = formatPath(path);
    if (this.places.has(name)) return;
    while (this.#counted < at) {
      if (this.#text.charAt(this.#counted) === '\n') {
        this.#line += 1;
        this.#lineStart = this.#counted + 1;
      }
      this.#counted += 1;
    }
    this.places.set(name, { line: this.#line, column: at - this.#lineStart + 1 });
  }
}

/** The four forms of a TOML string; a multi-line one may end in up to two quotes of its own. */
const STRING =
  /"""(?:\\[\s\S]|[^\\])*?"{3,5}(?!")|'''[\s\S]*?'{3,5}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/y;

function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith("'") || !inner.includes('\\')) return inner;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return inner;
  }
}
