import type { ProgramCall } from './command-line.ts';

interface Reader {
  readonly programs: readonly string[];
  /** Letters and long options with which it goes into directories; none: it always does. */
  readonly letters?: string;
  readonly long?: readonly string[];
  /** Only with one of these words. */
  readonly words?: readonly string[];
}

/** Programs that hand out what is in the files below a directory. Those that only list names are not among them. */
const READERS: readonly Reader[] = [
  { programs: ['rg', 'ag', 'ack', 'tar', 'bsdtar', 'rsync', 'zip', '7z'] },
  {
    programs: ['grep', 'egrep', 'fgrep'],
    letters: 'rR',
    long: ['--recursive', '--dereference-recursive', '--directories'],
  },
  { programs: ['cp', 'scp'], letters: 'rRa', long: ['--recursive', '--archive'] },
  { programs: ['diff'], letters: 'r', long: ['--recursive'] },
  { programs: ['find'], words: ['-exec', '-execdir', '-ok', '-okdir'] },
  { programs: ['fd', 'fdfind'], letters: 'xX', long: ['--exec', '--exec-batch'] },
];

/** Does this call read whatever is below the directories it is given? */
export function readsBelow({ name, args }: ProgramCall): boolean {
  const program = name.slice(name.lastIndexOf('/') + 1);
  const reader = READERS.find(({ programs }) => programs.includes(program));
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
