/** Where a text stops being JSON, and why. `line` and `column` count from 1, `position` from 0, in UTF-16 units. */
export interface JsonFault {
  readonly position: number;
  readonly line: number;
  readonly column: number;
  readonly words: string;
  /** The spot, 30 characters either side, control characters escaped, the fault between `>>>` and `<<<`. */
  readonly spot: string;
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const BLANK = /[ \t\n\r]*/y;

/** The first fault of a text that `JSON.parse` refused. Never recurses, so depth does not matter. */
export function locateJsonFault(text: string): JsonFault {
  const scan = new Scan(text);
  scan.run();
  return faultAt(text, scan.at, scan.words);
}

type Expect = 'value' | 'key' | 'colon' | 'after';

class Scan {
  at = 0;
  words = 'this is not JSON';
  readonly #text: string;
  readonly #open: ('{' | '[')[] = [];
  #expect: Expect = 'value';
  #afterComma = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (;;) {
      this.#take(BLANK);
      if (this.#open.length === 0 && this.#expect === 'after') {
        this.words = `text goes on after the JSON value ended: ${this.#found()}`;
        return;
      }
      if (!this.#step()) return;
    }
  }

  #step(): boolean {
    if (this.at >= this.#text.length) return this.#fail(this.#truncated());
    if (this.#expect === 'value') return this.#value();
    if (this.#expect === 'key') return this.#key();
    if (this.#expect === 'after') return this.#after();
    if (this.#text[this.at] !== ':') {
      return this.#fail(`expected ":" after a property name, found ${this.#found()}`);
    }
    this.at += 1;
    this.#expect = 'value';
    return true;
  }

  #value(): boolean {
    const char = this.#text[this.at];
    if (char === '{' || char === '[') {
      this.at += 1;
      this.#open.push(char);
      this.#expect = char === '{' ? 'key' : 'value';
      this.#afterComma = false;
      return true;
    }
    if (char === ']' && this.#open.at(-1) === '[') return this.#close(char);
    if (char === '"') return this.#string('after');
    if (!this.#take(SCALAR)) return this.#fail(`expected a value, found ${this.#found()}`);
    this.#afterComma = false;
    this.#expect = 'after';
    return true;
  }

  #key(): boolean {
    const char = this.#text[this.at];
    if (char === '}') return this.#close(char);
    if (char === '"') return this.#string('colon');
    return this.#fail(`expected a property name in double quotes or "}", found ${this.#found()}`);
  }

  #after(): boolean {
    const char = this.#text[this.at];
    const open = this.#open.at(-1);
    if (char === ',') {
      this.at += 1;
      this.#expect = open === '{' ? 'key' : 'value';
      this.#afterComma = true;
      return true;
    }
    const closer = open === '{' ? '}' : ']';
    if (char === closer) {
      this.#afterComma = false;
      return this.#close(char);
    }
    return this.#fail(`expected "," or "${closer}", found ${this.#found()}`);
  }

  #close(char: string): boolean {
    if (this.#afterComma) return this.#fail(`a comma right before "${char}"`);
    this.#open.pop();
    this.at += 1;
    this.#expect = 'after';
    return true;
  }

  #string(next: Expect): boolean {
    this.#afterComma = false;
    const start = this.at;
    this.at += 1;
    while (this.at < this.#text.length) {
      const char = this.#text[this.at] ?? '';
      if (char === '"') {
        this.at += 1;
        this.#expect = next;
        return true;
      }
      if (char < ' ') {
        return this.#fail(
          `${this.#found()} inside a string must be written as an escape such as \\n`,
        );
      }
      if (char !== '\\') this.at += 1;
      else if (!this.#take(ESCAPE)) return this.#fail('an escape that JSON does not know');
    }
    this.at = start;
    return this.#fail('a string that starts here is never closed (the text ends in it)');
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return false;
    this.at += match[0].length;
    return true;
  }

  #truncated(): string {
    if (this.#open.length === 0) return 'there is no value';
    const missing = this.#open.map((char) => (char === '{' ? '}' : ']')).reverse();
    const shown = missing.slice(0, 8).join('');
    return `the text ends too early: still open, to be closed by ${shown}${missing.length > 8 ? '…' : ''}`;
  }

  #found(): string {
    const char = this.#text[this.at];
    if (char === undefined) return 'the end of the text';
    if (char === "'") return 'a single quote (JSON wants double quotes)';
    if (this.#text.startsWith('```', this.at)) return 'a Markdown fence';
    const word = /[\p{L}\p{N}_$+-]{1,20}/uy;
    word.lastIndex = this.at;
    return JSON.stringify(word.exec(this.#text)?.[0] ?? char);
  }

  #fail(words: string): false {
    this.words = words;
    return false;
  }
}

function faultAt(text: string, position: number, words: string): JsonFault {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    position,
    line: before.split('\n').length,
    column: position - lineStart + 1,
    words,
    spot: spotAt(text, position),
  };
}

function spotAt(text: string, position: number): string {
  const from = Math.max(0, position - 30);
  const to = Math.min(text.length, position + 30);
  const escaped = (part: string): string =>
    JSON.stringify(part).slice(1, -1).replaceAll('\\"', '"');
  const head = `${from > 0 ? '…' : ''}${escaped(text.slice(from, position))}`;
  const tail = `${escaped(text.slice(position + 1, to))}${to < text.length ? '…' : ''}`;
  return `${head}>>>${escaped(text.slice(position, position + 1))}<<<${tail}`;
}
