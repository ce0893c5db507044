import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandVerdict, judgeCommand } from '../../../src/tools/core/command-line.ts';
import { parseCommandLine } from '../../../src/tools/core/shell-syntax.ts';

const LINES = Number(process.env['SHELL_ORACLE_LINES'] ?? 120);
const PROGRAMS = ['aa', 'bb', 'cc', 'dd'];
const PIECES = [
  ...[
    'aa',
    'bb',
    'cc',
    'dd',
    ' aa ',
    ' bb ',
    ' ',
    ' ',
    ';',
    '&&',
    '||',
    '|',
    '&',
    '\n',
    '(',
    ')',
    '{ ',
    ' }',
    '! ',
  ],
  ...[
    "'",
    '"',
    '\\',
    '\\\n',
    '$',
    '$x',
    '#',
    '>',
    '>>',
    '<',
    '2>',
    '>&',
    '1',
    '-',
    '=',
    'x=',
    '~',
    '*',
    '{',
    '}',
    ',',
  ],
  ...[
    '>f ',
    '2>&1',
    '&>',
    '|&',
    '\t',
    ' # ',
    '!',
    '\u0024{x}',
    '[',
    ']',
    'f',
    ' time ',
    '$#',
    ';;',
    '<<',
  ],
];
const BEFORE = ['', '', '', 'x=1 ', '! ', '( ', '{ ', '>f ', 'time ', "y='a b' ", '2>f '];
const AFTER = [
  ...[
    '',
    '',
    ' 1',
    " 'a b'",
    ' "x $x"',
    ' >f',
    ' 2>&1',
    ' )',
    ' ; }',
    ' <f',
    ' #',
    ' a\\ b',
    ' {}',
  ],
  // What the parser must not take, since one of the shells would run dd.
  ...[' &>f dd', ' "$\\\n(dd)"', ' $(dd)', ' `dd`', ' >$(dd)', " $'\\'' dd '", ' <(dd)'],
];
const OPERATORS = [';', ' && ', ' || ', '|', ' & ', '\n', ' ;'];
const SHELLS = ['dash', 'bash'].filter((name) => existsSync(`/bin/${name}`));

let dir = '';
let logs = 0;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'troupe-oracle-'));
  for (const name of ['bin', 'work']) mkdirSync(join(dir, name));
  for (const name of PROGRAMS) {
    writeFileSync(join(dir, 'bin', name), `#!/bin/sh\necho ${name} >> "$LOG"\n`);
    chmodSync(join(dir, 'bin', name), 0o755);
  }
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A small fixed generator (mulberry32): the same lines on every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Something that a shell would run, with up to three pieces of noise thrown in anywhere. */
function randomLine(next: () => number): string {
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  let line = '';
  for (let i = Math.floor(next() * 3); i >= 0; i -= 1) {
    line += `${pick(BEFORE)}${pick(PROGRAMS)}${pick(AFTER)}${i === 0 ? '' : pick(OPERATORS)}`;
  }
  for (let i = Math.floor(next() * 4); i > 0; i -= 1) {
    const at = Math.floor(next() * (line.length + 1));
    line = line.slice(0, at) + pick(PIECES) + line.slice(at);
  }
  return line;
}

/** As if every program that the line names in so many words were allowed. */
function judged(line: string): CommandVerdict {
  const parsed = parseCommandLine(line);
  if (!parsed.ok) return { ok: false, words: parsed.why };
  const allowed = parsed.commands.flatMap(({ words }) => words.map(({ text }) => text));
  return judgeCommand({ allowed, envPassthrough: [], timeoutMs: 1, blockHighRisk: false }, line);
}

function programsRun(shell: string, line: string): readonly string[] {
  logs += 1;
  const log = join(dir, `log-${logs}`);
  // What runs in the background is waited for, so that it is on the log.
  spawnSync(`/bin/${shell}`, ['-c', `${line}\nwait`], {
    cwd: join(dir, 'work'),
    env: { PATH: join(dir, 'bin'), LOG: log },
    stdio: 'ignore',
    timeout: 10_000,
  });
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}

test('X1: no program runs, in dash or in bash, that the judge of an accepted line did not see', () => {
  const next = generator(Number(process.env['SHELL_ORACLE_SEED'] ?? 20_260_101));
  let accepted = 0;
  let ran = 0;
  while (accepted < LINES) {
    const line = randomLine(next);
    const verdict = judged(line);
    if (!verdict.ok || verdict.commands.length === 0) continue;
    accepted += 1;
    const seen = new Set(verdict.commands.map(([program]) => program));
    for (const shell of SHELLS) {
      const programs = programsRun(shell, line);
      ran += programs.length;
      const unseen = programs.filter((program) => !seen.has(program));
      expect({ shell, line, unseen }).toEqual({ shell, line, unseen: [] });
    }
  }
  expect(ran).toBeGreaterThan(accepted);
}, 600_000);
