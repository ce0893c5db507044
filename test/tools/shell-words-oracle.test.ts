import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, realpathSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ToolScope } from '../../src/runtime/core/tool.ts';
import { isWithin } from '../../src/tools/core/path-scope.ts';
import { shellLineFault } from '../../src/tools/shell-gate.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type Scratch, scratch } from '../support/tool-scratch.ts';

const LINES = Number(process.env['SHELL_ORACLE_LINES'] ?? 150);
const SHELLS = ['dash', 'bash'].filter((name) => existsSync(`/bin/${name}`));
const NAMES = ['sub', 'su', 'b', 's', 'open', 'key', 'alias', 'deep', '.', '..', 'ws', 'S', ''];
const PIECES = [
  ...['*', '?', '[s]', '[!x]', '[a-z]', '{sub,open}', '{u,v}', '{a..c}', '~', '/', '/', '/', '.*'],
  ...[
    "'sub'",
    '"sub"',
    '"$X"',
    "'s'",
    '\\s',
    '$X',
    '$Y',
    '$Z',
    '"$HOME"',
    '$PWD',
    '$1',
    '$#',
    "''",
    '""',
  ],
  ...['=', '--f=', '-f', ':', ',', '\u0024{X}', 'ub', 'ey', 'k'],
];

let box: Scratch;
let secret = '';

beforeAll(() => {
  box = scratch();
  secret = join(box.ws, 'sub');
  box.file('ws/sub/key', 'x');
  box.file('ws/sub/deep/key', 'x');
  box.file('ws/open/key', 'x');
  symlinkSync('sub', join(box.ws, 'alias'));
  symlinkSync('../sub', join(box.ws, 'open/b'));
  chmodSync(box.file('bin/probe', '#!/bin/sh\nprintf "%s\\n" "$@" >> "$LOG"\n'), 0o755);
});

afterAll(() => box.remove());

function scope(): ToolScope {
  return {
    files: [{ ...box.scope, forbidden: [secret] }],
    commands: { allowed: ['probe'], envPassthrough: [], timeoutMs: 1, blockHighRisk: false },
  };
}

/** What `probe` was given, by every shell. */
function given(line: string, env: Record<string, string>): string[] {
  const log = join(box.dir, 'log');
  return SHELLS.flatMap((shell) => {
    const result = spawnSync(`/bin/${shell}`, ['-c', `: > ${log}; ${line}\ncat ${log}`], {
      cwd: box.ws,
      env: { ...env, PATH: `${join(box.dir, 'bin')}:/usr/bin:/bin`, LOG: log },
      encoding: 'utf8',
      timeout: 10_000,
    });
    return result.stdout.split('\n').filter((word) => word !== '');
  });
}

/** The argument itself, and what follows where programs take a path out of it. */
function leadsIn(word: string): boolean {
  const parts = [word, ...[...word.matchAll(/[=:,]/g)].map(({ index }) => word.slice(index + 1))];
  return parts.some((part) => {
    const path = resolve(box.ws, part);
    return part !== '' && existsSync(path) && isWithin(realpathSync(path), secret);
  });
}

test('X1: no argument of an accepted line becomes, in dash or in bash, a path that leads to what is forbidden', async () => {
  const next = seededRandom(Number(process.env['SHELL_ORACLE_SEED'] ?? 20_261_201)).unit;
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  const env = { HOME: box.ws, PATH: '/bin' };
  let accepted = 0;
  let seen = 0;
  let refused = 0;
  while (accepted < LINES) {
    const word = (): string =>
      Array.from({ length: 1 + Math.floor(next() * 5) }, () =>
        next() < 0.5 ? pick(NAMES) : pick(PIECES),
      ).join('');
    const line = `X=${pick(NAMES)} Y='${pick(NAMES)}*'; Z=${word()}; probe ${word()} ${word()}`;
    if ((await shellLineFault(scope(), line, env)) !== null) {
      refused += 1;
      continue;
    }
    accepted += 1;
    const words = given(line, env);
    seen += words.length;
    expect({ line, leads: words.filter(leadsIn) }).toEqual({ line, leads: [] });
  }
  expect(seen).toBeGreaterThan(accepted);
  expect(refused).toBeGreaterThan(LINES / 10);
}, 600_000);
