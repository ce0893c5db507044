import type { JudgedRisk } from './command-risk.ts';
import type { ShellWord } from './shell-word.ts';

interface Interpreter {
  readonly programs: readonly string[];
  /** Options without a value that change nothing about what runs. */
  readonly plain: string;
  /** Options with a value that change nothing about what runs. */
  readonly valued: string;
  readonly long: readonly string[];
  /** Options after which everything belongs to a module or file that is installed: no text of the caller's. */
  readonly installed: readonly string[];
}

export const SHELLS: readonly string[] = ['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh'];
/** Options of shells that change nothing about what runs. Not `-i` and `-l`: with them a shell reads start files. */
export const SHELL_PLAIN = 'euxvnfabhkmtBCEHPT';
export const SHELL_LONG: readonly string[] = [
  '--version',
  '--help',
  '--norc',
  '--noprofile',
  '--posix',
];

const VERSION = ['--version', '--help'];

const INTERPRETERS: readonly Interpreter[] = [
  {
    programs: ['python', 'pypy'],
    plain: 'bBdEIOqsSuvVhP',
    valued: 'WX',
    long: VERSION,
    installed: ['-m'],
  },
  {
    programs: ['node', 'nodejs', 'bun', 'deno', 'tsx', 'ts-node'],
    plain: 'vh',
    valued: '',
    long: [...VERSION, '--no-warnings', '--enable-source-maps', '--trace-warnings', '--watch'],
    installed: ['--run', '--check', '-c', '--test'],
  },
  { programs: ['perl'], plain: 'vwWTtUXcV', valued: '', long: VERSION, installed: [] },
  { programs: ['ruby'], plain: 'vwWcd', valued: '', long: VERSION, installed: [] },
  { programs: ['php'], plain: 'vhimnq', valued: '', long: VERSION, installed: ['-l'] },
  { programs: ['lua', 'luajit', 'Rscript'], plain: 'v', valued: '', long: VERSION, installed: [] },
  { programs: SHELLS, plain: SHELL_PLAIN, valued: 'oO', long: SHELL_LONG, installed: [] },
];

/** Modules of Python that take program text as an argument or from standard input. */
const INLINE_MODULES = ['timeit', 'code', 'pdb', 'idlelib', 'asyncio'];

const INLINE: JudgedRisk = { risk: 'high', why: 'runs program text that nobody has read' };
const FILE: JudgedRisk = { risk: 'medium', why: '' };

/**
 * Interpreters that are given a file run it like any other program; given text, standard input or an option that is
 * not known to be harmless, they run what nobody has read. `null`: the program is none of them.
 */
export function interpreterRisk(name: string, args: readonly ShellWord[]): JudgedRisk | null {
  if (['awk', 'gawk', 'mawk', 'nawk'].includes(name)) return awkRisk(args);
  if (name === 'sed' || name === 'gsed') return sedRisk(args);
  const base = /^(?:python|pypy|perl|ruby|php|lua|node)[0-9.]+$/.test(name)
    ? name.replace(/[0-9.]+$/, '')
    : name;
  const interpreter = INTERPRETERS.find(({ programs }) => programs.includes(base));
  return interpreter === undefined ? null : fileRisk(interpreter, args);
}

function fileRisk(interpreter: Interpreter, args: readonly ShellWord[]): JudgedRisk {
  for (let i = 0; i < args.length; i += 1) {
    const judged = judgedBy(interpreter, args[i], args[i + 1]?.text);
    if (typeof judged !== 'number') return judged;
    i += judged;
  }
  return INLINE;
}

/** What one argument before the program file decides, or how many words of value follow it. */
function judgedBy(
  interpreter: Interpreter,
  word: ShellWord | undefined,
  next = '',
): JudgedRisk | number {
  if (word === undefined || word.isDynamic || word.isGlob) return INLINE;
  const { text } = word;
  if (VERSION.includes(text)) return { risk: 'low', why: '' };
  if (interpreter.installed.includes(text)) return INLINE_MODULES.includes(next) ? INLINE : FILE;
  if (interpreter.long.includes(text)) return 0;
  if (!text.startsWith('-')) return text === 'eval' || text === 'repl' ? INLINE : FILE;
  const kind = optionKind(interpreter, text);
  if (kind === 'unknown') return INLINE;
  return kind === 'valued' ? 1 : 0;
}

/** `-uB` is plain, `-W` waits for a value, `-Wignore` has it; `-`, `-c` and everything else is unknown. */
function optionKind({ plain, valued }: Interpreter, text: string): 'plain' | 'valued' | 'unknown' {
  const letters = Array.from(text.slice(1));
  if (letters.length === 0 || text.startsWith('--')) return 'unknown';
  for (const [i, letter] of letters.entries()) {
    if (valued.includes(letter)) return i === letters.length - 1 ? 'valued' : 'plain';
    if (!plain.includes(letter)) return 'unknown';
  }
  return 'plain';
}

/** awk can start programs, write files, and name files to read (`ARGV`), from its program text. */
function awkRisk(args: readonly ShellWord[]): JudgedRisk {
  const isOpaque = args.some(
    ({ text, isDynamic }) =>
      isDynamic || /system|getline|ARG[VC]|[|>@]|^-[a-zA-Z]*[fiElL]|^--/.test(text),
  );
  return isOpaque ? INLINE : { risk: 'low', why: '' };
}

const ADDRESS = String.raw`(?:\d+|\$|/(?:\\.|[^\\/\n])*/)`;
const SED_COMMAND = new RegExp(
  String.raw`\s*(?:${ADDRESS}(?:\s*,\s*${ADDRESS})?)?\s*!?\s*(?:[pdqQhHgGxnNDPlz=]|[sy]([^\\\s\w])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpIiMm0-9]*)?\s*(?:;|\n|$)`,
  'y',
);

/** sed can start programs (`e`) and write files (`w`) from its script: only scripts that plainly do not are taken. */
function sedRisk(args: readonly ShellWord[]): JudgedRisk {
  const kinds = args.map(({ text }) => sedArgument(text));
  const hasExpression = kinds.includes('expression');
  const scripts = hasExpression
    ? args.filter((_, i) => kinds[i - 1] === 'expression')
    : args.filter((_, i) => kinds[i] === 'operand').slice(0, 1);
  const isKnown = !kinds.includes('unknown') && !args.some((word) => word.isDynamic);
  if (!isKnown || scripts.length === 0 || !scripts.every(isPlainSed)) return INLINE;
  if (kinds.includes('in-place')) return { risk: 'medium', why: 'changes files in place' };
  return { risk: 'low', why: '' };
}

function sedArgument(text: string): 'plain' | 'in-place' | 'expression' | 'operand' | 'unknown' {
  if (!text.startsWith('-')) return 'operand';
  if (/^-(?:[nErsuz]+|-quiet|-regexp-extended)$/.test(text)) return 'plain';
  if (/^(?:-[nErsuz]*i[^ef]*|--in-place(?:=.*)?)$/.test(text)) return 'in-place';
  return /^(?:-[nErsuz]*e|--expression)$/.test(text) ? 'expression' : 'unknown';
}

function isPlainSed(word: ShellWord): boolean {
  if (word.isDynamic || word.text.length > 2000) return false;
  SED_COMMAND.lastIndex = 0;
  while (SED_COMMAND.lastIndex < word.text.length) {
    if (!SED_COMMAND.test(word.text)) return false;
  }
  return true;
}
