import {
  COMMAND_RISKS,
  type CommandRisk,
  DEFAULT_RISK,
  type JudgedRisk,
  type Risk,
  type RiskRule,
} from './command-risk.ts';
import { interpreterRisk } from './interpreters.ts';
import type { ShellWord } from './shell-word.ts';

const ORDER: Record<Risk, number> = { low: 0, medium: 1, high: 2 };

export function riskier(a: JudgedRisk, b: JudgedRisk): JudgedRisk {
  return ORDER[b.risk] > ORDER[a.risk] ? b : a;
}

/**
 * The risk of one program with these arguments, by `COMMAND_RISKS` and what is known of interpreters. Where an option
 * would raise it and an argument is decided only when it runs, it counts as raised.
 */
export function riskOf(program: string, args: readonly ShellWord[]): JudgedRisk {
  const name = program.slice(program.lastIndexOf('/') + 1);
  const interpreted = interpreterRisk(name, args);
  if (interpreted !== null) return interpreted;
  const entry = ENTRIES.get(name) ?? (name.startsWith('mkfs.') ? ENTRIES.get('mkfs') : undefined);
  if (entry === undefined) return { risk: DEFAULT_RISK, why: '' };
  return judged(entry, args);
}

const ENTRIES = new Map<string, CommandRisk>(
  COMMAND_RISKS.flatMap((entry) => entry.programs.map((name) => [name, entry] as const)),
);

function judged(entry: CommandRisk, args: readonly ShellWord[]): JudgedRisk {
  const rules = entry.rules ?? [];
  const options = optionsOf(entry, args);
  const open = openRisk(entry, args, options);
  if (open !== null) return open;
  const at = subcommandAt(entry, args);
  const subcommand = args[at]?.text ?? null;
  if (subcommand !== null && entry.subcommands?.includes(subcommand) === false) {
    return { risk: 'high', why: 'has no such subcommand of its own, so that it may be an alias' };
  }
  // The word after an option may be its value, and the one after that the subcommand.
  const isAfterOption =
    args[at - 1]?.text.startsWith('-') === true && entry.subcommands === undefined;
  const names = [subcommand, isAfterOption ? args[at + 1]?.text : subcommand];
  const about = rules.filter(
    (rule) => rule.subcommand === undefined || names.includes(rule.subcommand),
  );
  const base = about.find((rule) => rule.risk === 'low') ?? entry;
  let worst: JudgedRisk = { risk: base.risk, why: base.why ?? '' };
  for (const rule of about) {
    const looked = rule.isGlobal === true ? options.slice(0, at) : options;
    if (rule.risk !== 'low' && fits(rule, looked, args)) worst = riskier(worst, rule);
  }
  return { risk: worst.risk, why: worst.why };
}

/** The risk of arguments that are not known yet, or could turn into options; `null` where there are none. */
function openRisk(
  entry: CommandRisk,
  args: readonly ShellWord[],
  options: readonly ShellWord[],
): JudgedRisk | null {
  const isRaisable = entry.rules?.some((rule) => rule.risk === 'high') ?? false;
  if (isRaisable && args.some((word) => word.isDynamic)) {
    return { risk: 'high', why: 'takes an argument that is decided only when it runs' };
  }
  const hasGlob = options.some((word) => word.startsWithGlob || isFlagGlob(word));
  if (entry.fearsGlobs !== true || !hasGlob) return null;
  return {
    risk: 'high',
    why: 'takes a pattern that a file name could turn into an option; put "--" before it',
  };
}

function fits(rule: RiskRule, options: readonly ShellWord[], args: readonly ShellWord[]): boolean {
  const { letters, long, words, matches, operands } = rule;
  if ([letters, long, words, matches, operands].every((each) => each === undefined)) return true;
  const whole = matches === undefined ? null : new RegExp(`^(?:${matches})$`);
  const isOption = ({ text }: ShellWord): boolean =>
    (letters !== undefined && hasLetter(text, letters)) ||
    (long ?? []).some((flag) => isLong(text, flag));
  const isArgument = ({ text }: ShellWord): boolean =>
    (words ?? []).some((word) => isWord(text, word)) || whole?.test(text) === true;
  const given = args.filter(({ text }) => !text.startsWith('-')).length;
  if (operands !== undefined && given >= operands) return true;
  return options.some(isOption) || args.some(isArgument);
}

function hasLetter(text: string, letters: string): boolean {
  if (!text.startsWith('-') || text.startsWith('--')) return false;
  return Array.from(text.slice(1)).some((letter) => letters.includes(letter));
}

/** GNU programs take any beginning of a long option, so three characters are enough to be feared. */
function isLong(text: string, flag: string): boolean {
  const name = text.split('=', 1)[0] ?? '';
  return name.length >= 3 && name.startsWith('--') && flag.startsWith(name);
}

function isWord(text: string, pattern: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

function isFlagGlob(word: ShellWord): boolean {
  return word.isGlob && word.text.startsWith('-');
}

function optionsOf(entry: CommandRisk, args: readonly ShellWord[]): readonly ShellWord[] {
  const options = beforeDoubleDash(args);
  const [first, ...rest] = options;
  const isBare = entry.takesBareLetters === true && first?.text.startsWith('-') === false;
  return isBare ? [{ ...first, text: `-${first.text}` }, ...rest] : options;
}

function beforeDoubleDash(args: readonly ShellWord[]): readonly ShellWord[] {
  const end = args.findIndex((word) => word.text === '--');
  return end < 0 ? args : args.slice(0, end);
}

/** Index of the first argument that is no option (`-C dir` of git takes a value); their number where there is none. */
function subcommandAt(entry: CommandRisk, args: readonly ShellWord[]): number {
  const isGit = entry.programs.includes('git');
  for (let i = 0; i < args.length; i += 1) {
    const text = args[i]?.text ?? '';
    if (isGit && ['-C', '-c', '--git-dir', '--work-tree', '--namespace'].includes(text)) i += 1;
    else if (!text.startsWith('-')) return i;
  }
  return args.length;
}
