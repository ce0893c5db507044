import type { ProgramCall } from './command-line.ts';

interface Reader {
  readonly programs: readonly string[];
  /** Letters and long options with which it goes into directories; none: it always does. */
  readonly letters?: string;
  readonly long?: readonly string[];
  /** Only with one of these words. */
  readonly words?: readonly string[];
  /** Given no place, it starts where it stands: its first operand is a pattern, these letters take a value. */
  readonly searches?: { readonly valued: string };
}

/** Programs that hand out what is in the files below a directory. Those that only list names are not among them. */
const READERS: readonly Reader[] = [
  { programs: ['tar', 'bsdtar', 'rsync', 'zip', '7z'] },
  { programs: ['rg', 'ag', 'ack'], searches: { valued: 'ABCEefgGjmMrtT' } },
  {
    programs: ['grep', 'egrep', 'fgrep'],
    letters: 'rRd',
    long: ['--recursive', '--dereference-recursive', '--directories'],
    searches: { valued: 'ABCDdefm' },
  },
  { programs: ['cp', 'scp'], letters: 'rRa', long: ['--recursive', '--archive'] },
  { programs: ['diff'] },
  { programs: ['git'], words: ['--no-index'] },
  { programs: ['find'], words: ['-exec', '-execdir', '-ok', '-okdir'] },
  {
    programs: ['fd', 'fdfind'],
    letters: 'xX',
    long: ['--exec', '--exec-batch'],
    searches: { valued: 'deEtSxXj' },
  },
];

/** Does this call read whatever is below the directories it is given? */
export function readsBelow({ name, args }: ProgramCall): boolean {
  const reader = readerOf(name);
  if (reader === undefined) return false;
  const { letters, long = [], words = [] } = reader;
  if (letters === undefined && words.length === 0) return true;
  return args.some(({ text, isDynamic }) => {
    const [flag = ''] = text.split('=', 1);
    const isLetter =
      /^-[^-]/.test(text) && Array.from(text).some((each) => letters?.includes(each));
    const isLong =
      flag.length > 2 && flag.startsWith('--') && long.some((each) => each.startsWith(flag));
    return isDynamic || isLetter || isLong || words.includes(text);
  });
}

/** Given no directory, does it start where it stands? In doubt it does. */
export function startsHere({ name, args }: ProgramCall): boolean {
  if (name.slice(name.lastIndexOf('/') + 1) === 'find')
    return /^[-(!]|^$/.test(args[0]?.text ?? '');
  const searches = readerOf(name)?.searches;
  if (searches === undefined) return false;
  const texts = args.map(({ text }) => text);
  const isValue = (i: number): boolean => takesNext(texts[i - 1] ?? '', searches.valued);
  const operands = texts.filter((text, i) => !text.startsWith('-') && !isValue(i));
  const hasPattern = texts.some((text) => /^-[a-zA-Z]*[ef]|^--(?:regexp|file)\b/.test(text));
  return operands.length < (hasPattern ? 1 : 2);
}

function readerOf(name: string): Reader | undefined {
  const program = name.slice(name.lastIndexOf('/') + 1);
  return READERS.find(({ programs }) => programs.includes(program));
}

/** Does an option take the next word as its value? Of long ones nobody knows here. */
function takesNext(option: string, valued: string): boolean {
  if (option.startsWith('--')) return option.length > 2 && !option.includes('=');
  return /^-[a-zA-Z]+$/.test(option) && valued.includes(option.slice(-1));
}
