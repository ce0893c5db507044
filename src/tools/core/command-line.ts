import type { CommandScope } from '../../runtime/core/tool.ts';
import type { JudgedRisk } from './command-risk.ts';
import { unwrap } from './command-wrappers.ts';
import { riskier, riskOf } from './risk-of.ts';
import type { ShellRedirect } from './shell-lexer.ts';
import { parseCommandLine, RESERVED, type SimpleCommand } from './shell-syntax.ts';
import type { ShellWord } from './shell-word.ts';

export type CommandVerdict =
  | {
      readonly ok: true;
      /** The riskiest command's. */
      readonly risk: JudgedRisk;
      /** To be judged by the file scope: the shell opens them itself. */
      readonly redirects: readonly ShellRedirect[];
      /** Every program with its literal arguments, those inside wrappers too. */
      readonly commands: readonly (readonly string[])[];
      /** The same, with what the shell would still do to each argument. */
      readonly calls: readonly ProgramCall[];
      /** `NAME=value` before a program, or alone. */
      readonly assignments: readonly ShellWord[];
    }
  | { readonly ok: false; readonly words: string };

export interface ProgramCall {
  readonly name: string;
  readonly args: readonly ShellWord[];
}

/** Wrappers in wrappers, at most. */
const DEPTH_MAX = 5;

/** Builtins that change what a later word means, or run text: with them a line cannot be judged before it runs. */
const REFUSED_BUILTINS = new Set([
  ...[
    'eval',
    'alias',
    'unalias',
    'trap',
    'hash',
    'enable',
    'fc',
    'history',
    'bind',
    'complete',
    'compgen',
  ],
  ...['jobs', 'shopt'],
]);

/** Builtins whose arguments are names of variables to be set. */
const NAMING_BUILTINS = new Set([
  ...['export', 'readonly', 'declare', 'typeset', 'local', 'read', 'unset', 'mapfile', 'readarray'],
  ...['getopts', 'let', 'wait'],
]);

/** Builtins whose arguments may be assignments, or hold subscripts that `bash` evaluates. */
const VARIABLE_BUILTINS = new Set([...NAMING_BUILTINS, 'printf', 'test', '[', 'env']);

/** Variables that decide which program a name means, or make programs run others. */
const REFUSED_VARIABLES =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|GLOBIGNORE|HOME|SHELL|ZDOTDIR|LD_.*|DYLD_.*|BASH_FUNC.*|GCONV_PATH|LOCPATH|NODE_(?:OPTIONS|PATH|REPL.*|EXTRA_CA_CERTS)|PYTHON.*|PERL.*|RUBY.*|LUA_.*|PHPRC|PHP_INI.*|AWK(?:LIB)?PATH|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|GIT_.*|SSH_.*|SUDO_ASKPASS|RSYNC_.*|TAR_OPTIONS|CURL_HOME|WGETRC|RIPGREP_CONFIG_PATH|XDG_CONFIG.*|OPENSSL_CONF|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|(?:.*_)?PAGER|(?:GNU)?MAKEFLAGS|MAKEFILES|MAKE|CC|CXX|RUSTC_WRAPPER|CARGO_(?:BUILD|TARGET|HOME).*|GOFLAGS|PIP_.*|UV_.*|npm_.*|TROUPE_.*)$/i;

/**
 * May a shell start what this line asks for (SPEC X1)? The line is parsed; every program in it, whatever operator or
 * wrapper leads to it, must be in `allowed` by exactly the name it is called by, and with `blockHighRisk` none may be
 * of high risk. This decides which programs start, not what they do: a program that is allowed can read and write
 * whatever its user can, so that the list of allowed programs is the wall.
 */
export function judgeCommand(scope: CommandScope, line: string): CommandVerdict {
  try {
    const judge = new Judge(scope);
    judge.line(line, 0);
    if (judge.calls.length === 0 && judge.redirects.length === 0) return refused('it is empty');
    if (judge.movesOthers) return refused(MOVES_OTHERS);
    const { risk, redirects, calls, assignments } = judge;
    const commands = calls.map(({ name, args }) => [name, ...args.map(({ text }) => text)]);
    return { ok: true, risk, redirects, commands, calls, assignments };
  } catch (thrown) {
    if (thrown instanceof Refused) return refused(thrown.message);
    throw thrown;
  }
}

/** Paths are judged as named from the workspace, so nothing may stand elsewhere when it opens them. */
const MOVES_OTHERS =
  'it changes the directory for other commands; commands start in the workspace: leave cd out and name paths from there';

class Refused extends Error {}

class Judge {
  risk: JudgedRisk = { risk: 'low', why: '' };
  readonly redirects: ShellRedirect[] = [];
  readonly calls: ProgramCall[] = [];
  readonly assignments: ShellWord[] = [];
  readonly #scope: CommandScope;
  #changesDirectory = false;

  constructor(scope: CommandScope) {
    this.#scope = scope;
  }

  get movesOthers(): boolean {
    return this.#changesDirectory && this.calls.length > 1;
  }

  line(text: string, depth: number): void {
    const parsed = parseCommandLine(text);
    if (!parsed.ok) throw new Refused(parsed.why);
    for (const command of parsed.commands) this.#simple(command, depth);
    for (const redirect of parsed.redirects) this.#redirect(redirect, depth);
  }

  /** Where the shell stands by then is known only while no command has moved it. */
  #redirect(redirect: ShellRedirect, depth: number): void {
    const mayHaveMoved = this.#changesDirectory || depth > 0;
    if (mayHaveMoved && !redirect.target.startsWith('/')) {
      const target = quoted(redirect.target);
      throw new Refused(
        `the redirect to ${target} may start in another directory; name its absolute path`,
      );
    }
    this.redirects.push(redirect);
    const writes = redirect.mode === 'write' && !redirect.target.startsWith('/dev/');
    if (writes) this.risk = riskier(this.risk, { risk: 'medium', why: 'writes a file' });
  }

  #simple({ assignments, words }: SimpleCommand, depth: number): void {
    for (const { text } of assignments) this.#assignment(text);
    this.assignments.push(...assignments);
    const [program, ...args] = words;
    if (program !== undefined) this.#command(program, args, depth);
  }

  #assignment(text: string): void {
    const name = /^[A-Za-z_][A-Za-z0-9_]*/.exec(text)?.[0] ?? '';
    if (REFUSED_VARIABLES.test(name)) {
      throw new Refused(`the variable ${name} decides what programs run and cannot be set`);
    }
    if (/\$\(|`/.test(text)) throw new Refused(`the value of ${name} holds a command substitution`);
  }

  #command(program: ShellWord, args: readonly ShellWord[], depth: number): void {
    const name = program.text;
    if (program.isDynamic || program.isGlob || name === '') {
      throw new Refused(`which program ${quoted(name)} is would be decided only when it runs`);
    }
    if (depth > DEPTH_MAX) throw new Refused(`more than ${DEPTH_MAX} commands run each other`);
    if (RESERVED.has(name) || /^(?:[!{}]|\d+|[A-Za-z_][A-Za-z0-9_]*\+?=.*)$/s.test(name)) {
      throw new Refused(`${quoted(name)} is no program`);
    }
    if (REFUSED_BUILTINS.has(name)) {
      throw new Refused(
        `${quoted(name)} changes what other words mean, or runs text, and is not supported`,
      );
    }
    this.#allowed(name);
    if (VARIABLE_BUILTINS.has(name)) this.#variables(name, args);
    if (changesDirectory(name, args)) this.#changesDirectory = true;
    this.calls.push({ name, args });
    this.#inner(name, args, depth);
  }

  #inner(name: string, args: readonly ShellWord[], depth: number): void {
    const inner = unwrap(name, args);
    if (inner.kind === 'unknown') throw new Refused(inner.why);
    if (inner.kind === 'line') {
      this.line(inner.line, depth + 1);
      return;
    }
    this.#risk(name, riskOf(name, args));
    if (inner.kind === 'none') return;
    for (const [program, ...rest] of inner.commands) {
      if (program !== undefined) this.#command(program, rest, depth + 1);
    }
  }

  #risk(name: string, judged: JudgedRisk): void {
    this.risk = riskier(this.risk, judged);
    if (judged.risk !== 'high' || !this.#scope.blockHighRisk) return;
    throw new Refused(
      `${quoted(name)} is of high risk here: it ${judged.why} (block_high_risk_commands)`,
    );
  }

  #allowed(name: string): void {
    const { allowed } = this.#scope;
    if (allowed.includes(name)) return;
    if (allowed.length === 0)
      throw new Refused('no program is allowed (allowed_commands is empty)');
    const list = allowed.slice(0, 30).join(', ');
    throw new Refused(
      `${quoted(name)} is not among the allowed programs (${list}${allowed.length > 30 ? ', …' : ''})`,
    );
  }

  #variables(name: string, args: readonly ShellWord[]): void {
    for (const { text } of args) {
      if (/\$\(|`/.test(text))
        throw new Refused(`an argument of ${name} holds a command substitution`);
      if (/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(text)) this.#assignment(text);
      else if (NAMING_BUILTINS.has(name)) this.#assignment(text);
    }
    const setsByOption = name === 'printf' && args[0]?.text.startsWith('-v');
    if (setsByOption) throw new Refused('printf -v is not supported');
    const isNameReference = args.some(({ text }) => /^-[a-zA-Z]*n/.test(text));
    if (['declare', 'typeset', 'local'].includes(name) && isNameReference) {
      throw new Refused(`${name} -n makes a name mean another variable and is not supported`);
    }
  }
}

/** `find -execdir` runs its commands wherever it finds something. */
function changesDirectory(name: string, args: readonly ShellWord[]): boolean {
  if (['cd', 'pushd', 'popd'].includes(name)) return true;
  const program = name.slice(name.lastIndexOf('/') + 1);
  return program === 'find' && args.some(({ text }) => ['-execdir', '-okdir'].includes(text));
}

function refused(why: string): CommandVerdict {
  return { ok: false, words: `The command was not run: ${why}` };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
