import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FileScope, ToolOutcome } from '../../src/runtime/core/tool.ts';
import { Shells } from '../../src/tools/shell.ts';
import { ALLOWED, runShell } from '../support/shell-run.ts';
import { type Scratch, scratch } from '../support/tool-scratch.ts';

let box: Scratch;
let shells: Shells;

beforeEach(() => {
  box = scratch();
  shells = new Shells('test');
  box.file('ws/sub/key', 'SECRET');
  box.file('ws/sub/deep/key', 'SECRET');
  box.file('ws/open/notes', 'notes');
  box.file('ws/.troupe/journal.db', 'own');
  symlinkSync('sub', join(box.ws, 'alias'));
  symlinkSync('sub/deep', join(box.ws, 'inner'));
  linkSync(join(box.ws, 'sub/key'), join(box.ws, 'hard'));
});

afterEach(async () => {
  await shells.endAll();
  box.remove();
});

const MORE = [
  'find',
  'xargs',
  'git',
  'tar',
  'tee',
  'uniq',
  'rg',
  'curl',
  'dd',
  'read',
  'set',
  'bash',
  'awk',
  'sed',
  'wc',
];
const commands = { allowed: [...ALLOWED, ...MORE] };

function run(command: string, files: Partial<FileScope>): Promise<ToolOutcome> {
  return runShell(shells, box, command, { files, commands });
}

const fenced = (): Partial<FileScope> => ({
  forbidden: [join(box.ws, 'sub')],
  protected: [join(box.ws, '.troupe')],
});

describe('X1: an argument that the shell turns into a forbidden path', () => {
  test.each([
    'cat s*b/key',
    'cat s?b/key',
    'cat [s]ub/key',
    'cat [!x]ub/key',
    'cat */key',
    'cat */*/key',
    'cat SUB/key',
    'cat S*/key',
    'cat ali*/key',
    'cat a*/d*/key',
    'cat al[i]as/deep/*',
    'cat ~/sub/key',
    'cat "$HOME"/sub/key',
    'cat $PWD/s*/key',
    'X=sub; cat $X/key',
    "X=su Y=b sh -c 'cat $X$Y/key'",
    "X='s*'; cat $X/key",
    'env X=sub sh -c \'cat "$X"/key\'',
    'X=sub; X=open; cat $X/key',
    'bash -c "cat {open,sub}/key"',
    'bash -c "cat s{u,v}b/key"',
    'bash -c "cat su{a..c}/key"',
    'cat \'sub\'/"key"',
    'cat su\\b/key',
    'cat alias/.*',
    "bash -c 'X=open; cat sub$X{u,v}/key'",
    'cat inner/../key',
    'cat inn*/../key',
    'cat hard',
    'cat h*d',
    'cat ./open/../sub/key',
    'cat ~root/key',
    'grep -fsub/key x',
    'grep -nfsub/key x',
    'curl -d @sub/key http://127.0.0.1:9/',
    'curl -F f=@sub/key http://127.0.0.1:9/',
    'curl file:///x/sub/key',
    'dd if=sub/key',
    'git show HEAD:sub/key',
    'git -C sub show x',
    'git -Csub show x',
    'env -C sub cat key',
    'env --chdir=sub cat key',
    'tar -xvfsub/key',
    'read X; cat $X',
    'set -- su b; cat $1$2/key',
    'cat $?',
    'ls | xargs cat',
    'ls | xargs -I{} cat {}/key',
    "sh -c 'cat $0/key' sub",
    "sh -c 'cat $0$1/key' su b",
    'grep -r SECRET .',
    'grep -r SECRET',
    'touch SECRET; grep -r SECRET',
    'grep SECRET -r',
    'grep -r -m 5 SECRET',
    'grep -r --include x SECRET',
    'grep -r -e SECRET',
    'rg -g x SECRET',
    'grep -R SECRET *',
    'grep --recurs SECRET .',
    'rg SECRET',
    'rg SECRET .',
    'cp -r . copy',
    'tar cf x.tar .',
    'find . -type f -exec cat {} +',
    'find -exec cat {} \\;',
    `cat ${'open/notes '.repeat(2100)} alias/key`,
  ])('%s is refused, and shows nothing', async (command) => {
    const outcome = await run(command, fenced());
    expect(outcome).toMatchObject({ ok: false, errorType: 'forbidden_path', effect: 'none' });
    expect(outcome.ok ? '' : outcome.error).toMatch(/^The command was not run: /);
    expect(JSON.stringify(outcome)).not.toContain('SECRET\\n');
  });

  test.each([
    'cat o*n/notes',
    'cat open/*',
    'cat [o]pen/note?',
    'X=open; cat $X/notes',
    'X=open; cat "$HOME/$X/notes"',
    'bash -c "cat {open,open}/notes"',
    'cat ~/open/notes',
    'cat \'open\'/"notes"',
    'echo $?',
    'echo "done: $X $HOME"',
    'ls | wc -l',
    'grep -r notes open',
    'grep -rn -e notes open',
    'grep -r -m 5 notes open',
    'grep notes open/notes',
    'find . -name notes',
    'find open -type f -exec cat {} +',
    'ls substitute* || true',
    'cat subs || true',
    'echo https://example.org/sub/key',
    "awk '{ print $1 }' open/notes",
    'sed -n 1p open/notes',
    'tar cf x.tar open',
    'cp -r open copy',
    'git -C open status || true',
  ])('%s is none, and runs', async (command) => {
    expect(await run(command, fenced())).toMatchObject({ ok: true });
  });
});

describe('X1: where nothing is forbidden', () => {
  test.each([
    ['touch .tr*/x', 'protected_path'],
    ['touch .TROUPE/x', 'protected_path'],
    ['touch ~/.troupe/x', 'protected_path'],
    ['X=.troupe; touch $X/x', 'protected_path'],
    ['bash -c "touch ~+/.troupe/x"', 'protected_path'],
    ['touch ~root/x', 'protected_path'],
    ['bash -c "touch .{troupe,git}/x"', 'protected_path'],
    ['env -C open touch ../.troupe/x', 'protected_path'],
    ['git -C open init ../.troupe', 'protected_path'],
    ['uniq open/notes .troupe/journal.db', 'protected_path'],
    ['cat /proc/self/environ', 'outside_scope'],
    ['cat /proc/$PPID/environ', 'outside_scope'],
    ['cat /proc/*/environ', 'outside_scope'],
    ['cat /pro?/1/environ', 'outside_scope'],
    ['cat ../../../../../proc/1/environ', 'outside_scope'],
    ['X=/proc; cat $X/1/environ', 'outside_scope'],
    ['grep -r key /proc', 'forbidden_path'],
    ['grep -r key /', 'forbidden_path'],
    ['find / -name environ -exec cat {} +', 'forbidden_path'],
    ['cat /sys/kernel/notes', 'outside_scope'],
    ['cat /dev/sda', 'outside_scope'],
    ['env -C a -C b -C c -C d -C e touch x', 'command_refused'],
    [`echo ${'{a,b}{a,b}{a,b}{a,b}{a,b} '.repeat(1200)}`, 'command_refused'],
  ])('%s is %s', async (command, errorType) => {
    const outcome = await run(command, { protected: [join(box.ws, '.troupe')] });
    expect(outcome).toMatchObject({ ok: false, errorType, effect: 'none' });
    expect(readFileSync(join(box.ws, '.troupe/journal.db'), 'utf8')).toBe('own');
    expect(existsSync(join(box.ws, '.troupe/x'))).toBe(false);
  });

  test.each([
    'cat sub/key',
    'cat .troupe/journal.db',
    'ls | xargs cat; true',
    'grep -r SECRET .',
    'find . -type f -exec cat {} +',
    'cat /dev/null',
    'head -c 4 /dev/zero | wc -c',
    'cat /proc/cpuinfo > /dev/null',
    'ls /proc > /dev/null',
    'touch troupe.txt',
    'touch *',
    'touch */*',
  ])('%s runs', async (command) => {
    expect(await run(command, { protected: [join(box.ws, '.troupe')] })).toMatchObject({
      ok: true,
    });
  });
});

describe('X1: files that are closed because they are troupe’s own', () => {
  const closed = (): Partial<FileScope> => ({
    forbidden: [join(box.ws, '.troupe/journal.db')],
    protected: [join(box.ws, '.troupe')],
  });

  test.each([
    'cat .troupe/journal.db',
    'cat .tr*/*',
    'X=.troupe; cat $X/journal.db',
    'cat .TROUPE/JOURNAL.db',
  ])('%s is refused', async (command) => {
    expect(await run(command, closed())).toMatchObject({ errorType: 'forbidden_path' });
  });

  test.each([
    'ls | xargs cat; true',
    'grep -r notes .',
    "sh -c 'cat $0' open/notes",
    'find . -type f -exec wc -c {} +',
  ])('%s runs: only forbidden_paths refuse what cannot be told', async (command) => {
    expect(await run(command, closed())).toMatchObject({ ok: true });
  });
});

describe('X1: a redirect opens regular files only, and none with another name', () => {
  test.each([
    ['echo x > fifo', 'not_a_file', '"fifo" is a named pipe, not a regular file'],
    ['cat < fifo', 'not_a_file', '"fifo" is a named pipe, not a regular file'],
    ['echo x > open', 'not_a_file', '"open" is a directory'],
    ['echo x >> hard', 'hard_link', '"hard" has 2 names (hard links)'],
    ['cat < hard', 'forbidden_path', '"hard" is a hard link of a forbidden file'],
  ])('%s is %s', async (command, errorType, words) => {
    execFileSync('mkfifo', [join(box.ws, 'fifo')]);
    const outcome = await run(command, { forbidden: [join(box.ws, 'sub')] });
    expect(outcome).toMatchObject({ ok: false, errorType, effect: 'none' });
    expect(outcome.ok ? '' : outcome.error).toContain(
      `The command was not run: its redirect: ${words}`,
    );
    expect(readFileSync(join(box.ws, 'hard'), 'utf8')).toBe('SECRET');
  });
});

test('X1: a redirect is judged as the shell walks it: behind a symlink ".." leads elsewhere', async () => {
  mkdirSync(join(box.dir, 'outside/deep'), { recursive: true });
  symlinkSync('../outside/deep', join(box.ws, 'far'));
  const outcome = await run('echo x > far/../new; echo x > far/../../new', {});
  expect(outcome).toMatchObject({ ok: false, errorType: 'outside_scope' });
  expect(existsSync(join(box.dir, 'outside/new'))).toBe(false);
  expect(await run('echo x > open/../new', {})).toMatchObject({ ok: true });
  expect(readFileSync(join(box.ws, 'new'), 'utf8')).toBe('x\n');
});

describe('X1: files of the workspace do not configure git', () => {
  const config = '[core]\n\tfsmonitor = "touch pwned; false"\n[alias]\n\tstatus = !touch pwned\n';

  test.each([
    ['a .gitconfig in the home', 'ws/.gitconfig', 'git -C repo status'],
    ['a configuration folder in the home', 'ws/.config/git/config', 'git -C repo status'],
  ])('%s runs nothing', async (_name, path, command) => {
    execFileSync('git', ['init', '-q', join(box.ws, 'repo')]);
    box.file(path, config);
    await run(command, {});
    expect(existsSync(join(box.ws, 'repo/pwned'))).toBe(false);
    // The same without troupe's environment: the attack is a real one.
    execFileSync('git', ['-C', join(box.ws, 'repo'), 'status'], {
      env: { PATH: process.env['PATH'], HOME: box.ws },
      stdio: 'ignore',
    });
    expect(existsSync(join(box.ws, 'repo/pwned'))).toBe(true);
  });

  test('a folder that only looks like a repository runs nothing', async () => {
    for (const dir of ['objects', 'refs'])
      mkdirSync(join(box.ws, 'evil', dir), { recursive: true });
    box.file('ws/evil/HEAD', 'ref: refs/heads/main\n');
    const worktree = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n';
    box.file('ws/evil/config', `${worktree}${config}`);
    await run('git -C evil status', {});
    expect(existsSync(join(box.ws, 'evil/pwned'))).toBe(false);
    execFileSync('git', ['-C', join(box.ws, 'evil'), 'status'], {
      env: { PATH: process.env['PATH'], HOME: box.dir },
      stdio: 'ignore',
    });
    expect(existsSync(join(box.ws, 'evil/pwned'))).toBe(true);
  });
});
