import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { Shells } from '../../src/tools/shell.ts';
import { ALLOWED, runShell, type ShellOptions } from '../support/shell-run.ts';
import { type Scratch, scratch } from '../support/tool-scratch.ts';

let box: Scratch;
let shells: Shells;

beforeEach(() => {
  box = scratch();
  shells = new Shells('test');
});

afterEach(async () => {
  await shells.endAll();
  expect(process.listeners('exit').length).toBeLessThan(20);
  box.remove();
});

const run = (command: string, options?: ShellOptions): Promise<ToolOutcome> =>
  runShell(shells, box, command, options);

describe('a command that ends by itself', () => {
  test('gives exit code, stdout and stderr', async () => {
    expect(await run('echo out; echo err >&2')).toEqual({
      ok: true,
      text: 'exit code: 0\nstdout:\nout\n\nstderr:\nerr\n',
      data: { exit_code: 0, stdout_bytes: 4, stderr_bytes: 4 },
    });
    expect(await run('true')).toMatchObject({ ok: true, text: 'exit code: 0\n(no output)' });
  });

  test('a code other than 0 is a failure with its output, effect uncertain', async () => {
    expect(await run('echo half; exit 3')).toEqual({
      ok: false,
      errorType: 'nonzero_exit',
      error: 'The command exited with code 3',
      effect: 'uncertain',
      text: 'exit code: 3\nstdout:\nhalf\n',
    });
    box.file('ws/suicide.sh', 'kill -SEGV $$');
    expect(
      await run('exec sh suicide.sh', { commands: { allowed: [...ALLOWED, 'exec'] } }),
    ).toMatchObject({
      errorType: 'killed_by_signal',
      error: 'The command was ended by SIGSEGV',
    });
  });

  test('runs in the workspace, without input, in an emptied environment', async () => {
    process.env['TROUPE_TEST_SECRET'] = 'hidden';
    process.env['TROUPE_TEST_OPEN'] = 'shown';
    try {
      const outcome = await run('pwd; env; cat', {
        commands: { envPassthrough: ['TROUPE_TEST_OPEN', 'NOT_SET'] },
      });
      const lines = outcome.text?.split('\n') ?? [];
      expect(lines).toEqual(
        expect.arrayContaining([
          box.ws,
          `HOME=${box.ws}`,
          'TERM=dumb',
          'LANG=C.UTF-8',
          'TROUPE_TEST_OPEN=shown',
        ]),
      );
      const names = lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split('=')[0]);
      expect(names.sort()).toEqual([
        'GIT_CONFIG_COUNT',
        'GIT_CONFIG_GLOBAL',
        'GIT_CONFIG_KEY_0',
        'GIT_CONFIG_VALUE_0',
        'HOME',
        'LANG',
        'PATH',
        'PWD',
        'TERM',
        'TROUPE_SHELL_CALL',
        'TROUPE_TEST_OPEN',
      ]);
      expect(outcome.text).not.toContain('hidden');
    } finally {
      delete process.env['TROUPE_TEST_SECRET'];
      delete process.env['TROUPE_TEST_OPEN'];
    }
  });

  test('no file of the workspace can pass for an allowed program', async () => {
    box.file('ws/bin/ls', '#!/bin/sh\necho planted\n');
    const before = process.env['PATH'];
    process.env['PATH'] = `${box.ws}/bin:.:bin:${before}`;
    try {
      expect((await run('env')).text).not.toContain(box.ws.concat('/bin'));
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('output of 10 MB is kept at both ends, with a mark of what is missing', async () => {
    const outcome = await run('seq 1 1500000');
    expect(outcome.text?.length).toBeLessThan(1_100_000);
    expect(outcome.text).toMatch(/^exit code: 0\nstdout:\n1\n2\n3\n/);
    expect(outcome.text).toMatch(/\n\[9840320 bytes left out\]\n/);
    expect(outcome.text).toMatch(/1499999\n1500000\n$/);
  });

  test('a cut through a character of several bytes leaves no broken one', async () => {
    box.file('ws/big', 'é文😀'.repeat(300_000));
    const outcome = await run('cat big');
    expect(outcome.text).toContain('bytes left out');
    expect(outcome.text).not.toContain('\ufffd');
  });

  test('a workspace that is not there is a failure without effect', async () => {
    const files = { workspaceDir: join(box.dir, 'none') };
    expect(await run('ls', { files })).toMatchObject({
      ok: false,
      errorType: 'not_started',
      effect: 'none',
    });
    expect(shells.running).toBe(0);
  });
});

describe('X1: what is refused before anything starts', () => {
  test.each([
    ['vim', 'command_refused'],
    ['echo a > ../out', 'outside_scope'],
    ['echo a > /etc/passwd', 'outside_scope'],
    ['echo a > link/x', 'outside_scope'],
    ['echo a >> secret/x', 'forbidden_path'],
    ['cat < secret/x', 'forbidden_path'],
    ['echo a > .troupe/x', 'protected_path'],
    ['echo a 2> ro/x', 'read_only_path'],
    ['cat < /proc/self/environ', 'outside_scope'],
    ['cat secret/key', 'forbidden_path'],
    ['cat sub/../secret/key', 'forbidden_path'],
    ['cat alias/key', 'forbidden_path'],
    ['grep --file=secret/key x', 'forbidden_path'],
    ['cp a .troupe/journal.db', 'protected_path'],
    ['touch ./.troupe/x', 'protected_path'],
    ["sh -c 'touch .troupe/x'", 'protected_path'],
  ])('%s is %s', async (command, errorType) => {
    mkdirSync(join(box.ws, 'secret'));
    symlinkSync('../', join(box.ws, 'link'));
    symlinkSync('secret', join(box.ws, 'alias'));
    const files = {
      forbidden: [join(box.ws, 'secret')],
      protected: [join(box.ws, '.troupe')],
      readRoots: [join(box.ws, 'ro')],
    };
    const outcome = await run(command, { files });
    expect(outcome).toMatchObject({ ok: false, errorType, effect: 'none' });
    expect(outcome.ok ? '' : outcome.error).toContain('The command was not run');
    expect(existsSync(join(box.dir, 'out'))).toBe(false);
  });

  test('redirects to files inside and to /dev/null run', async () => {
    expect(await run('echo a > x; cat < x > y 2> /dev/null')).toMatchObject({ ok: true });
    expect(readFileSync(join(box.ws, 'y'), 'utf8')).toBe('a\n');
  });
});
