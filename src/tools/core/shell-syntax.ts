import { ShellLexer, type ShellRedirect, Unsupported } from './shell-lexer.ts';
import type { ShellWord } from './shell-word.ts';

/** One program with its arguments; no words where a line only assigns or redirects. */
export interface SimpleCommand {
  /** `NAME=value` before the program. */
  readonly assignments: readonly ShellWord[];
  readonly words: readonly ShellWord[];
}

export type ParsedLine =
  | {
      readonly ok: true;
      readonly commands: readonly SimpleCommand[];
      readonly redirects: readonly ShellRedirect[];
    }
  | { readonly ok: false; readonly why: string };

/** Longest line that is looked at, in characters. */
export const COMMAND_CHARS_MAX = 32_768;
/** Most simple commands in a line. */
export const COMMANDS_MAX = 200;

/** Words that the shell takes as syntax where a command starts, and that this parser does not take. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...['if', 'then', 'else', 'elif', 'fi', 'for', 'while', 'until', 'do', 'done', 'case', 'esac'],
  ...['select', 'function', '[[', ']]', 'in', 'coproc'],
]);

/**
 * Every program that a command line would start, whatever the operators between them, or why nobody can say. It reads
 * what POSIX `sh` and `bash` read in the same way: `;`, `&`, `&&`, `||`, `|`, newlines, `( )`, `{ }`, `!`, quotes,
 * escapes, assignments, redirects, plain `$NAME`. Where the two differ, and where text becomes program only when it
 * runs (substitutions, here-documents, loops, functions), it refuses in words.
 */
export function parseCommandLine(line: string): ParsedLine {
  if (line.length > COMMAND_CHARS_MAX) {
    return {
      ok: false,
      why: `it is ${line.length} characters long (at most ${COMMAND_CHARS_MAX})`,
    };
  }
  try {
    return new Parser(line).parse();
  } catch (thrown) {
    if (thrown instanceof Unsupported) return { ok: false, why: thrown.message };
    throw thrown;
  }
}

class Parser {
  readonly #lexer: ShellLexer;
  readonly #commands: SimpleCommand[] = [];
  readonly #redirects: ShellRedirect[] = [];
  readonly #open: ('(' | '{')[] = [];
  /** Words of the command that is being read; `null` after a group, where only redirects may follow. */
  #words: ShellWord[] | null = [];
  #assignments: ShellWord[] = [];

  constructor(line: string) {
    this.#lexer = new ShellLexer(line);
  }

  parse(): ParsedLine {
    for (let token = this.#lexer.next(); token !== null; token = this.#lexer.next()) {
      if (token.kind === 'redirect') this.#redirects.push(token.redirect);
      else if (token.kind === 'word') this.#word(token.word);
      else this.#operator(token.text);
    }
    this.#end();
    if (this.#open.length > 0) throw new Unsupported(`"${this.#open.at(-1)}" is never closed`);
    return { ok: true, commands: this.#commands, redirects: this.#redirects };
  }

  #word(word: ShellWord): void {
    if (this.#words === null) throw new Unsupported('a word after ")" or "}"');
    const isFirst = this.#words.length === 0;
    const isPlain = word.plain === word.text.length && !word.isDynamic;
    if (isFirst && this.#assignments.length === 0 && isPlain && this.#syntax(word.text)) return;
    if (isFirst && isAssignment(word)) this.#assignments.push(word);
    else this.#words.push(word);
  }

  /** Is the word syntax here rather than a program? */
  #syntax(text: string): boolean {
    if (RESERVED.has(text)) {
      throw new Unsupported(
        `"${text}": loops, conditions and functions are not supported; make several calls`,
      );
    }
    if (text === '{') this.#open.push('{');
    else if (text === '}') this.#close('{');
    else return text === '!';
    return true;
  }

  #operator(text: string): void {
    if (text === '(') {
      const isStart = this.#words?.length === 0 && this.#assignments.length === 0;
      if (!isStart)
        throw new Unsupported('"(" after a word: functions and arrays are not supported');
      this.#open.push('(');
    } else if (text === ')') {
      this.#end();
      this.#close('(');
    } else this.#end();
  }

  #close(open: '(' | '{'): void {
    if (this.#open.pop() !== open)
      throw new Unsupported(`"${open === '(' ? ')' : '}'}" closes nothing`);
    this.#words = null;
  }

  #end(): void {
    const words = this.#words ?? [];
    if (words.length > 0 || this.#assignments.length > 0) {
      this.#commands.push({ assignments: this.#assignments, words });
    }
    if (this.#commands.length > COMMANDS_MAX) {
      throw new Unsupported(`it has more than ${COMMANDS_MAX} commands`);
    }
    this.#words = [];
    this.#assignments = [];
  }
}

function isAssignment(word: ShellWord): boolean {
  const name = /^[A-Za-z_][A-Za-z0-9_]*=/.exec(word.text)?.[0];
  return name !== undefined && name.length <= word.plain;
}
