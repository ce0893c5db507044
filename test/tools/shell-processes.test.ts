import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { Shells } from '../../src/tools/shell.ts';
import { runShell, type ShellOptions } from '../support/shell-run.ts';
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
