import { SHELL_LONG, SHELL_PLAIN, SHELLS } from './interpreters.ts';
import type { ShellWord } from './shell-word.ts';

/** What a program that starts other programs would start. */
export type Unwrapped =
  | { readonly kind: 'none' }
  | { readonly kind: 'commands'; readonly commands: readonly (readonly ShellWord[])[] }
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'unknown'; readonly why: string };

interface Wrapper {
  readonly programs: readonly string[];
  readonly plain?: string;
  readonly valued?: string;
  readonly plainLong?: readonly string[];
  readonly valuedLong?: readonly string[];
  /** Operands before the program: the duration of `timeout`. */
  readonly operands?: number;
  readonly takesAssignments?: boolean;
  /** Appends arguments that it reads when it runs. */
  readonly appends?: boolean;
  /** Options with which it starts nothing. */
  readonly queries?: readonly string[];
}

const WRAPPERS: readonly Wrapper[] = [
  { programs: ['nohup', 'setsid', 'chronic', 'builtin', 'busybox', 'toybox'] },
  { programs: ['command'], plain: 'p', queries: ['-v', '-V'] },
  { programs: ['exec'], plain: 'cl', valued: 'a' },
  {
    programs: ['env'],
    plain: 'i0v',
    valued: 'uC',
    plainLong: ['--ignore-environment', '--null', '--debug'],
    valuedLong: ['--unset', '--chdir'],
    takesAssignments: true,
  },
  { programs: ['nice'], plain: '0123456789', valued: 'n', valuedLong: ['--adjustment'] },
  {
    programs: ['ionice'],
    plain: 't',
    valued: 'cn',
    plainLong: ['--ignore'],
    valuedLong: ['--class', '--classdata'],
  },
  {
    programs: ['timeout'],
    plain: 'v',
    valued: 'sk',
    plainLong: ['--foreground', '--preserve-status', '--verbose'],
    valuedLong: ['--signal', '--kill-after'],
    operands: 1,
  },
  { programs: ['stdbuf'], valued: 'ioe', valuedLong: ['--input', '--output', '--error'] },
  { programs: ['time'], plain: 'pv' },
  {
    programs: ['xargs'],
    plain: '0rtx',
    valued: 'nLPIsdE',
    plainLong: ['--null', '--no-run-if-empty', '--verbose', '--exit'],
    valuedLong: ['--max-args', '--max-procs', '--delimiter', '--max-chars'],
    appends: true,
  },
  { programs: ['sudo', 'doas'], plain: 'EHnkA', valued: 'ugp' },
];

/** Stands for arguments that come from standard input. */
const APPENDED: ShellWord = {
  text: '<standard input>',
  plain: 0,
  isDynamic: true,
  isGlob: false,
  startsWithGlob: false,
  parts: [{ kind: 'unknown' }],
};

/** What `program` with these arguments would start itself; options that are not known make that unknown. */
export function unwrap(program: string, args: readonly ShellWord[]): Unwrapped {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (name === 'find') return unwrapFind(args);
  if (SHELLS.includes(name)) return unwrapShell(args);
  const wrapper = WRAPPERS.find(({ programs }) => programs.includes(name));
  return wrapper === undefined ? { kind: 'none' } : unwrapOptions(wrapper, name, args);
}

function unwrapOptions(wrapper: Wrapper, name: string, args: readonly ShellWord[]): Unwrapped {
  let i = 0;
  for (let word = args[0]; word !== undefined; word = args[i]) {
    if (word.text === '--') {
      i += 1;
      break;
    }
    const taken = takenBy(wrapper, word);
    if (taken === 'unknown') return unknown(name, word.text);
    if (taken === 'query') return { kind: 'none' };
    if (taken === 0) break;
    i += taken;
  }
  const start = i + (wrapper.operands ?? 0);
  const open = args.slice(i, start).find((word) => word.isDynamic || word.isGlob);
  if (open !== undefined) return unknown(name, open.text);
  const rest = args.slice(start);
  return rest.length === 0 ? { kind: 'none' } : started(wrapper, args.slice(0, i), rest);
}

function started(
  wrapper: Wrapper,
  options: readonly ShellWord[],
  rest: readonly ShellWord[],
): Unwrapped {
  if (wrapper.appends !== true) return { kind: 'commands', commands: [rest] };
  const mark = replaceMark(options);
  const words = mark === null ? [...rest, APPENDED] : rest.map((word) => filledIn(word, mark));
  return { kind: 'commands', commands: [words] };
}

/** How many words an option takes, itself included; 0: it is no option. */
function takenBy(wrapper: Wrapper, word: ShellWord): number | 'unknown' | 'query' {
  const { text } = word;
  if (wrapper.queries?.includes(text)) return 'query';
  const isAssignment = /^[A-Za-z_][A-Za-z0-9_]*=/.test(text) || text === '-';
  if (wrapper.takesAssignments === true && isAssignment) return 1;
  if (!text.startsWith('-')) return 0;
  if (word.isDynamic || word.isGlob || text === '-') return 'unknown';
  return text.startsWith('--') ? takenByLong(wrapper, text) : takenByLetters(wrapper, text);
}

function takenByLetters(wrapper: Wrapper, text: string): number | 'unknown' {
  for (let i = 1; i < text.length; i += 1) {
    const letter = text[i] ?? '';
    if (wrapper.valued?.includes(letter)) return i === text.length - 1 ? 2 : 1;
    if (!wrapper.plain?.includes(letter)) return 'unknown';
  }
  return 1;
}

function takenByLong(wrapper: Wrapper, text: string): number | 'unknown' {
  const [flag = '', value] = text.split('=', 2);
  if (wrapper.plainLong?.includes(flag) && value === undefined) return 1;
  if (!wrapper.valuedLong?.includes(flag)) return 'unknown';
  return value === undefined ? 2 : 1;
}

/** What `xargs -I` puts its input in place of. */
function replaceMark(options: readonly ShellWord[]): string | null {
  for (const [i, { text }] of options.entries()) {
    const at = /^-[0rtx]*I/.exec(text)?.[0].length;
    if (at !== undefined) return text.slice(at) || (options[i + 1]?.text ?? '');
  }
  return null;
}

function filledIn(word: ShellWord, mark: string): ShellWord {
  return word.text.includes(mark)
    ? { ...word, isDynamic: true, parts: [{ kind: 'unknown' }] }
    : word;
}

const FIND_RUNS = ['-exec', '-execdir', '-ok', '-okdir'];

function unwrapFind(args: readonly ShellWord[]): Unwrapped {
  const commands: (readonly ShellWord[])[] = [];
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i];
    const isOpen =
      word?.isDynamic || word?.startsWithGlob || (word?.isGlob && word.text.startsWith('-'));
    if (word !== undefined && isOpen) return unknown('find', `${word.text} (put it in quotes)`);
    if (word === undefined || !FIND_RUNS.includes(word.text)) continue;
    const end = args.findIndex(
      ({ text }, j) => j > i && (text === ';' || (text === '+' && args[j - 1]?.text === '{}')),
    );
    if (end < 0) return unknown('find', `${word.text} without an end`);
    // A lone {} is a path that starts with where find started; inside a text it may become anything.
    commands.push(
      args.slice(i + 1, end).map((each) => (each.text === '{}' ? each : filledIn(each, '{}'))),
    );
    i = end;
  }
  return commands.length === 0 ? { kind: 'none' } : { kind: 'commands', commands };
}

/** `sh -c 'line'`. A script file and standard input are a matter of risk, not of this. */
function unwrapShell(args: readonly ShellWord[]): Unwrapped {
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i];
    if (word === undefined || word.isDynamic || word.isGlob) {
      return unknown('the shell', word?.text ?? '');
    }
    const { text } = word;
    if (!/^[-+]./.test(text)) return { kind: 'none' };
    if (SHELL_LONG.includes(text)) continue;
    const letters = Array.from(text.slice(1));
    const values = letters.filter((letter) => letter === 'o' || letter === 'O').length;
    const isKnown = letters.every((letter) => `${SHELL_PLAIN}scoO`.includes(letter));
    if (!isKnown || values > 1) return unknown('the shell', text);
    i += values;
    if (letters.includes('c')) return inlineLine(args.slice(i + 1));
  }
  return { kind: 'none' };
}

function inlineLine(rest: readonly ShellWord[]): Unwrapped {
  const line = rest[0];
  if (line === undefined) return { kind: 'none' };
  if (line.isDynamic || line.isGlob || /^[-+]/.test(line.text))
    return unknown('the shell', line.text);
  return { kind: 'line', line: line.text };
}

function unknown(name: string, text: string): Unwrapped {
  return {
    kind: 'unknown',
    why: `nobody can tell what ${name} would run with ${JSON.stringify(text.slice(0, 100))}`,
  };
}
