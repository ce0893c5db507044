import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import type { ToolScope } from '../runtime/core/tool.ts';
import { BASES_MAX, basesOf } from './command-bases.ts';
import type { CommandVerdict, ProgramCall } from './core/command-line.ts';
import { type Failure, failed } from './core/failure.ts';
import {
  type Component,
  isBelow,
  matches,
  mayHold,
  mayReach,
  type PathPattern,
  pathPatterns,
  plainName,
} from './core/path-pattern.ts';
import { isWithin, KERNEL_DIRS, mayBeWithin, PATH_CHARS_MAX } from './core/path-scope.ts';
import { readsBelow, startsHere } from './core/reads-below.ts';
import type { ShellWord } from './core/shell-word.ts';
import { formsOf, type Values, valuesOf } from './core/word-forms.ts';
import { ForbiddenNames } from './hard-links.ts';
import { realPathOf, stepInto, workspaceOf } from './resolve-path.ts';

/** Paths of one line that are looked up on disk, patterns' matches included; ten names that are compared count as one. */
const LOOKUPS_MAX = 2000;
/** Paths of one line that are compared, in whatever form. */
const PATTERNS_MAX = 20_000;

/** Files of the kernel that give away nothing. */
const HARMLESS =
  /^\/(?:dev\/(?:null|zero|random|urandom|tty|stdin|stdout|stderr|fd\/[0-9]+)|proc\/(?:cpuinfo|meminfo|loadavg|uptime|version))$/;

/** Programs that open no file they are given by name. */
const TEXT_ONLY = new Set([
  'echo',
  'printf',
  'exit',
  'test',
  '[',
  'kill',
  'wait',
  'sleep',
  'true',
  'false',
  ':',
  'seq',
  'expr',
]);

type Accepted = Extract<CommandVerdict, { readonly ok: true }>;

/**
 * Why a command whose programs are allowed is not run for its arguments' sake: one may name a forbidden path, a file in
 * which the kernel shows other processes or, where something may be written, one of troupe's own. Judged is what the
 * shell will make of an argument: patterns, braces, `~` and variables in place, symlinks and hard links followed. With
 * `forbidden_paths` set, what nobody can tell before it runs is refused; without, it passes.
 */
export async function argumentFault(
  scope: ToolScope,
  verdict: Accepted,
  environment: Readonly<Record<string, string>>,
): Promise<Failure | null> {
  const bases = basesOf(workspaceOf(scope), verdict.calls);
  if (bases.length > BASES_MAX) {
    const most = `at most ${BASES_MAX} directories`;
    return failed('command_refused', `The command was not run: it stands in more than ${most}`);
  }
  const known = { ...environment, PWD: workspaceOf(scope) };
  const values = valuesOf(known, verdict.calls, verdict.assignments);
  const judge = new ArgumentJudge(scope, verdict, {
    values,
    bases,
    home: environment['HOME'] ?? '/',
  });
  for (const call of verdict.calls) {
    for (const word of call.args) {
      const fault = await judge.word(call, word);
      if (fault !== null) return fault;
    }
    const fault = judge.place(call);
    if (fault !== null) return fault;
  }
  return null;
}

/** From where the words of a line are read. */
interface Standing {
  readonly values: Values;
  readonly bases: readonly string[];
  readonly home: string;
}

class ArgumentJudge {
  readonly #forbidden: readonly string[];
  /** Without those that are closed because they are troupe's own: these are refused by name only. */
  readonly #kept: readonly string[];
  readonly #own: readonly string[];
  readonly #roots: readonly string[];
  readonly #names: ForbiddenNames;
  readonly #values: Values;
  readonly #home: string;
  readonly #bases: readonly string[];
  #lookups = 0;
  #patterns = 0;

  constructor(scope: ToolScope, { risk }: Accepted, { values, bases, home }: Standing) {
    const { files } = scope;
    this.#forbidden = [...new Set(files.flatMap(({ forbidden }) => forbidden))];
    const own = files.flatMap((each) => each.protected);
    this.#kept = this.#forbidden.filter((path) => !own.some((dir) => isWithin(path, dir)));
    this.#own = risk.risk === 'low' ? [] : [...new Set(own)];
    this.#roots = files.flatMap((each) => [
      each.workspaceDir,
      ...each.roots,
      ...each.readRoots,
      ...each.writeRoots,
    ]);
    this.#names = new ForbiddenNames(files);
    this.#values = values;
    this.#home = home;
    this.#bases = bases;
  }

  async word(call: ProgramCall, word: ShellWord): Promise<Failure | null> {
    if (word.text.length > PATH_CHARS_MAX || word.text.includes('\0')) return null;
    if (this.#own.length > 0 && isOtherHome(word)) {
      return refusal(
        'protected_path',
        word,
        'is in a home that only the shell knows; write it out',
      );
    }
    for (const form of formsOf(word, this.#values)) {
      for (const pattern of pathPatterns(form, this.#bases, this.#home)) {
        this.#patterns += 1;
        if (this.#patterns > PATTERNS_MAX) {
          return refusal('command_refused', word, 'is one of too many that the line may stand for');
        }
        const fault = this.#named(call, word, pattern) ?? (await this.#onDisk(word, pattern));
        if (fault !== null) return fault;
      }
    }
    return this.#writtenFault(word);
  }

  /** What is refused for the way it is written. */
  #writtenFault(word: ShellWord): Failure | null {
    if (this.#own.length > 0 && isOtherHome(word)) {
      return refusal(
        'protected_path',
        word,
        'is in a home that only the shell knows; write it out',
      );
    }
    if (this.#kept.length === 0 || !/file:\//i.test(word.text)) return null;
    return refusal('forbidden_path', word, 'names a file by its URL, which cannot be judged here');
  }

  /** A program that reads all below a directory, and is given none, starts where the line does. */
  place(call: ProgramCall): Failure | null {
    if (this.#kept.length === 0 || !readsBelow(call) || !startsHere(call)) return null;
    const held = this.#kept.find((dir) => this.#bases.some((base) => isWithin(dir, base)));
    return held === undefined ? null : below(call, 'the workspace');
  }

  #named(call: ProgramCall, word: ShellWord, pattern: PathPattern): Failure | null {
    if (this.#isKernel(pattern)) return kernel(word);
    if (pattern.isOpen) {
      if (this.#kept.length === 0 || TEXT_ONLY.has(call.name)) return null;
      const why = 'is decided only when it runs, and paths are forbidden here; write it out';
      return refusal('forbidden_path', word, why);
    }
    if (this.#forbidden.some((dir) => mayReach(pattern, dir))) return forbidden(word);
    if (this.#own.some((dir) => mayReach(pattern, dir))) return own(word);
    if (!readsBelow(call)) return null;
    const isOver = [...this.#kept, ...KERNEL_DIRS].some((dir) => mayHold(pattern, dir));
    const isAt = KERNEL_DIRS.some((dir) => mayReach(pattern, dir));
    return isOver || isAt ? below(call, JSON.stringify(word.text)) : null;
  }

  #isKernel(pattern: PathPattern): boolean {
    if (!KERNEL_DIRS.some((dir) => isBelow(pattern, dir))) return false;
    if (this.#roots.some((root) => root !== '/' && mayReach(pattern, root))) return pattern.isOpen;
    const names = pattern.components.map(plainName);
    return pattern.isOpen || names.includes(null) || !HARMLESS.test(`/${names.join('/')}`);
  }

  /** Where a link leads that does not look like it. */
  #isKernelFile(real: string): boolean {
    const isIn = (dirs: readonly string[]): boolean => dirs.some((dir) => isWithin(real, dir));
    return (
      isIn(KERNEL_DIRS) && !HARMLESS.test(real) && !isIn(this.#roots.filter((root) => root !== '/'))
    );
  }

  /** What is found where the pattern leads, links followed. */
  async #onDisk(word: ShellWord, pattern: PathPattern): Promise<Failure | null> {
    if (pattern.isOpen) return null;
    const isNamedKernel = KERNEL_DIRS.some((dir) => mayReach(pattern, dir));
    for await (const real of this.#found(pattern.steps)) {
      if (this.#lookups > LOOKUPS_MAX) {
        if (this.#kept.length === 0) return null;
        const why = `is one path too many: at most ${LOOKUPS_MAX} are looked up in one line`;
        return refusal('forbidden_path', word, why);
      }
      const fault = await this.#realFault(word, real, isNamedKernel);
      if (fault !== null) return fault;
    }
    return null;
  }

  async #realFault(word: ShellWord, real: string, isNamedKernel: boolean): Promise<Failure | null> {
    if (this.#forbidden.some((dir) => mayBeWithin(real, dir))) return forbidden(word);
    if (this.#own.some((dir) => mayBeWithin(real, dir))) return own(word);
    if (!isNamedKernel && this.#isKernelFile(real)) return kernel(word);
    return this.#linked(word, real);
  }

  async #linked(word: ShellWord, real: string): Promise<Failure | null> {
    if (this.#forbidden.length === 0) return null;
    const stats = await lstat(real).catch(() => null);
    const fault = stats?.isFile() ? await this.#names.fault(stats, word.text) : null;
    return fault === null ? null : { ...fault, error: `The command was not run: ${fault.error}` };
  }

  /** The real paths of all that matches; of what does not exist, where it would be. */
  async *#found(steps: readonly Component[]): AsyncGenerator<string> {
    let folders: readonly string[] = ['/'];
    for (const component of steps) {
      const name = plainName(component);
      const next: string[] = [];
      for (const folder of folders) {
        const names = name === null ? await this.#matching(folder, component) : [name];
        for (const each of names) next.push(await stepInto(folder, each));
      }
      folders = next;
    }
    for (const path of folders) {
      this.#lookups += 1;
      yield await realPathOf(path).catch(() => path);
    }
  }

  async #matching(folder: string, component: Component): Promise<readonly string[]> {
    if (this.#lookups > LOOKUPS_MAX) return [];
    const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
    // Some shells let `.*` stand for these two as well.
    const all = ['.', '..', ...entries.map(({ name }) => name)];
    const names = all.filter((name) => matches(component, name));
    this.#lookups += names.length + Math.ceil(all.length / 10);
    return names.slice(0, LOOKUPS_MAX);
  }
}

/** `~name`, `~+`: what the shell puts there is not known here. */
function isOtherHome({ text, plain }: ShellWord): boolean {
  return plain > 1 && /^(?:\w+=)?~[^/]/.test(text);
}

function forbidden(word: ShellWord): Failure {
  return refusal('forbidden_path', word, 'is forbidden (forbidden_paths)');
}

function kernel(word: ShellWord): Failure {
  return refusal('outside_scope', word, 'is in a directory of the kernel');
}

function own(word: ShellWord): Failure {
  return refusal('protected_path', word, 'belongs to troupe itself');
}

function below({ name }: ProgramCall, place: string): Failure {
  return failed(
    'forbidden_path',
    `The command was not run: ${name} reads all that is below ${place}, and there is something forbidden; name what it may read, or use content_search`,
  );
}

function refusal(errorType: string, word: ShellWord, why: string): Failure {
  const shown = word.text.length > 300 ? `${word.text.slice(0, 300)}…` : word.text;
  return failed(errorType, `The command was not run: ${JSON.stringify(shown)} ${why}`);
}
