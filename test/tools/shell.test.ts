import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
import { Shells } from '../../src/tools/shell.ts';
import { type ContextOptions, type Scratch, scratch } from '../support/tool-scratch.ts';

const ALLOWED = [
  ...[
    'echo',
    'cat',
    'ls',
    'sh',
    'sleep',
    'head',
    'seq',
    'env',
    'pwd',
    'exit',
    'kill',
    'node',
    'setsid',
    'touch',
  ],
  ...['python3', 'true', 'false', 'yes', 'printf', 'rm', 'cp', 'grep'],
];

let box: Scratch;
let shells: Shells;

beforeEach(() => {
  box = scratch();
  shells = new Shells();
});

afterEach(async () => {
  await shells.endAll();
  expect(process.listeners('exit').length).toBeLessThan(20);
  box.remove();
});

interface Options extends ContextOptions {
  readonly timeoutSecs?: number;
}

function run(command: string, { timeoutSecs, ...more }: Options = {}): Promise<ToolOutcome> {
  const args = timeoutSecs === undefined ? { command } : { command, timeout_secs: timeoutSecs };
  const commands = { allowed: ALLOWED, blockHighRisk: false, ...more.commands };
  return invokeTool(shells.tool, args, box.context({ ...more, commands }));
}

/** The process ids that scripts wrote into files of the workspace, once all of them are there. */
async function pidsIn(...names: readonly string[]): Promise<readonly number[]> {
  const read = (): readonly number[] =>
    names.map((name) => Number(readFileSync(join(box.ws, name), 'utf8').trim() || 'NaN'));
  await vi.waitFor(() => expect(read().every(Number.isInteger)).toBe(true), {
    timeout: 10_000,
    interval: 10,
  });
  return read();
}

/** Is the process running? A zombie is not. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

/** A script that notes its id in `<name>` and lives on, deaf to SIGTERM. */
const deaf = (name: string): string =>
  `trap '' TERM; echo $$ > ${name}; while true; do sleep 0.05; done`;

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

describe('N2: no process outlives its call', () => {
  test('what a command leaves in the background ends with it', async () => {
    box.file('ws/deaf.sh', deaf('pid'));
    box.file(
      'ws/leave.sh',
      'sh deaf.sh > /dev/null 2>&1 &\nwhile ! test -s pid; do sleep 0.01; done\necho left',
    );
    const outcome = await run('sh leave.sh');
    const [pid = 0] = await pidsIn('pid');
    expect(outcome).toMatchObject({ ok: true, text: expect.stringContaining('left') });
    expect(isRunning(pid)).toBe(false);
  });

  test('a cancelled call resolves only when its deaf grandchild is gone', async () => {
    box.file('ws/deaf.sh', deaf('grandchild'));
    box.file('ws/parent.sh', `echo started; sh deaf.sh & ${deaf('parent')}`);
    const cancel = new AbortController();
    const call = run('sh parent.sh', { signal: cancel.signal });
    const pids = await pidsIn('parent', 'grandchild');
    expect(pids.map(isRunning)).toEqual([true, true]);
    cancel.abort(new Error('changed my mind'));
    const outcome = await call;
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(outcome).toMatchObject({
      ok: false,
      errorType: 'cancelled',
      effect: 'uncertain',
      text: expect.stringContaining('started'),
    });
    expect(shells.running).toBe(0);
  });

  test('a call that takes longer than it may ends with everything it started', async () => {
    box.file('ws/deaf.sh', deaf('pid'));
    const outcome = await run('echo partial; sh deaf.sh', { timeoutSecs: 1 });
    const [pid = 0] = await pidsIn('pid');
    expect(isRunning(pid)).toBe(false);
    expect(outcome).toMatchObject({
      ok: false,
      errorType: 'timeout',
      error: 'The command was ended: it took longer than 1 s',
      effect: 'uncertain',
      text: expect.stringContaining('partial'),
    });
  });

  test("the scope's time limit beats a longer one that the model asks for", async () => {
    const outcome = await run('sleep 600', { timeoutSecs: 500, commands: { timeoutMs: 100 } });
    expect(outcome).toMatchObject({
      errorType: 'timeout',
      error: expect.stringContaining('0.1 s'),
    });
  });

  test.runIf(process.platform === 'linux')(
    'what leaves the process group is found by its mark',
    async () => {
      box.file('ws/deaf.sh', deaf('pid'));
      box.file(
        'ws/leave.sh',
        'setsid sh deaf.sh > /dev/null 2>&1 &\nwhile ! test -s pid; do sleep 0.01; done',
      );
      await run('sh leave.sh');
      const [pid = 0] = await pidsIn('pid');
      expect(isRunning(pid)).toBe(false);
    },
  );

  test('a process that escaped with the output pipe in its hands does not hold the call', async () => {
    box.file('ws/deaf.sh', deaf('pid'));
    box.file(
      'ws/leave.sh',
      'setsid env -i sh deaf.sh &\nwhile ! test -s pid; do sleep 0.01; done\necho left',
    );
    const outcome = await run('sh leave.sh');
    expect(outcome).toMatchObject({ ok: true, text: expect.stringContaining('left') });
    const [pid = 0] = await pidsIn('pid');
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });

  test('the close of the host ends all calls, of one run only its own, and starts no other', async () => {
    for (const name of ['a', 'b', 'c']) box.file(`ws/${name}.sh`, deaf(`pid-${name}`));
    const calls = ['a', 'b', 'c'].map((name) =>
      run(`sh ${name}.sh`, { runId: name === 'c' ? 'run_2' : 'run_1' }),
    );
    const pids = await pidsIn('pid-a', 'pid-b', 'pid-c');
    expect(shells.running).toBe(3);
    await shells.endRun('run_none');
    await shells.endRun('run_1');
    expect(pids.map(isRunning)).toEqual([false, false, true]);
    await Promise.all([shells.endAll(), shells.endAll()]);
    expect(pids.map(isRunning)).toEqual([false, false, false]);
    expect(shells.running).toBe(0);
    for (const outcome of await Promise.all(calls))
      expect(outcome).toMatchObject({ ok: false, errorType: 'cancelled' });
    expect(await run('echo late')).toMatchObject({
      ok: false,
      errorType: 'host_closed',
      effect: 'none',
    });
  });

  test('the end of this process would end what runs, and nothing listens for it afterwards', async () => {
    box.file('ws/deaf.sh', deaf('pid'));
    const before = process.listeners('exit');
    const call = run('sh deaf.sh');
    const [pid = 0] = await pidsIn('pid');
    const added = process.listeners('exit').filter((listener) => !before.includes(listener));
    expect(added).toHaveLength(1);
    (added[0] as () => void)();
    expect(await call).toMatchObject({ errorType: 'killed_by_signal' });
    expect(isRunning(pid)).toBe(false);
    expect(process.listeners('exit')).toEqual(before);
  });

  test('fifty calls at once each get their own output, and none is left', async () => {
    const calls = Array.from({ length: 50 }, (_, i) => run(`echo call ${i}`));
    for (const [i, outcome] of (await Promise.all(calls)).entries()) {
      expect(outcome.text).toBe(`exit code: 0\nstdout:\ncall ${i}\n`);
    }
    expect(shells.running).toBe(0);
  });
});
