import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openStateDir, readHostRecord, stateLayout } from '../../src/runtime/state-dir.ts';
import { temporaryDir, testThread } from '../support/journal-fixture.ts';

const newPath = () => join(temporaryDir(), '.troupe');

function open(path: string) {
  const state = openStateDir(path);
  onTestFinished(() => state.lock.release());
  return state;
}

test('the directory is made with mode 0700, its results too, and host.json with 0600', () => {
  const state = open(newPath());
  expect(statSync(state.path).mode & 0o777).toBe(0o700);
  expect(statSync(state.resultsDir).mode & 0o777).toBe(0o700);
  expect(statSync(state.hostFile).mode & 0o777).toBe(0o600);
  expect(state.journalFile).toBe(join(state.path, 'journal.db'));
  expect(readHostRecord(state.path)).toEqual({
    pid: process.pid,
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    socketFile: join(state.path, 'host.sock'),
  });
});

test('J6: a second opener in the same process is refused and told who the owner is', () => {
  const path = newPath();
  const state = open(path);
  const startedAt = readHostRecord(path)?.startedAt ?? '';
  expect(() => openStateDir(path)).toThrow(
    expect.objectContaining({
      code: 'state.locked',
      message: expect.stringMatching(
        new RegExp(`process ${process.pid}, started ${startedAt}.*troupe ps.*--state`),
      ),
      detail: { path: state.path, pid: process.pid, startedAt },
    }),
  );
  const link = join(temporaryDir(), 'link');
  symlinkSync(path, link);
  expect(() => openStateDir(link)).toThrow(expect.objectContaining({ code: 'state.locked' }));
});

test('J6: a released directory is free at once, and a second release frees nobody else', () => {
  const path = newPath();
  const first = open(path);
  first.lock.release();
  expect(readHostRecord(path)).toBeNull();
  open(path);
  first.lock.release();
  expect(() => openStateDir(path)).toThrow(expect.objectContaining({ code: 'state.locked' }));
  expect(readHostRecord(path)?.pid).toBe(process.pid);
});

test('J6: another process is refused while this one owns it, and owns it after', async () => {
  const path = newPath();
  const state = open(path);
  const refused = await owner(path);
  expect(refused.said).toMatch(new RegExp(`^state.locked .* process ${process.pid},`));
  await gone(refused.child);
  state.lock.release();
  const accepted = await owner(path);
  expect(accepted.said).toBe('owner');
  expect(() => openStateDir(path)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`process ${accepted.child.pid},`),
    }),
  );
});

test('J6: the lock of an owner that was killed with -9 is free at once', async () => {
  const path = newPath();
  const { child, said } = await owner(path);
  expect(said).toBe('owner');
  child.kill('SIGKILL');
  await gone(child);
  expect(readHostRecord(path)?.pid).toBe(child.pid);
  open(path);
  expect(readHostRecord(path)?.pid).toBe(process.pid);
});

test('a path that is too long for a Unix socket gets a short one elsewhere, recorded in host.json', async () => {
  const deep = join(temporaryDir(), 'ü'.repeat(60));
  mkdirSync(deep);
  const state = open(join(deep, '.troupe'));
  expect(Buffer.byteLength(state.socketFile)).toBeLessThanOrEqual(103);
  expect(state.socketFile.startsWith(state.path)).toBe(false);
  expect(readHostRecord(state.path)?.socketFile).toBe(state.socketFile);
  expect(stateLayout(state.path).socketFile).toBe(state.socketFile);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(state.socketFile, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
});

test('a socket that a killed host left behind is cleared away', () => {
  const path = newPath();
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, 'host.sock'), '');
  const state = open(path);
  expect(existsSync(state.socketFile)).toBe(false);
});

test('a directory that others may read is closed to them only where it is empty or already a state directory', () => {
  const path = newPath();
  mkdirSync(path);
  chmodSync(path, 0o755);
  open(path).lock.release();
  expect(statSync(path).mode & 0o777).toBe(0o700);
  chmodSync(path, 0o755);
  open(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const foreign = temporaryDir();
  chmodSync(foreign, 0o755);
  writeFileSync(join(foreign, 'thesis.txt'), '');
  expect(() => openStateDir(foreign)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(`chmod 700 ${foreign}`) }),
  );
  expect(statSync(foreign).mode & 0o777).toBe(0o755);
  chmodSync(foreign, 0o700);
  open(foreign);
});

test.each([
  ['a file of that name', () => aFile(), /not a directory/],
  ['a file on the way', () => join(aFile(), 'sub'), /part of the path is a file/],
  [
    'a missing parent',
    () => join(temporaryDir(), 'none', '.troupe'),
    /parent directory .*none does not exist/,
  ],
  ['a symlink to nowhere', () => aDanglingLink(), /leads nowhere/],
  ['a file system that takes nothing', () => '/proc/.troupe', /cannot be made/],
])('%s is refused with the path and the next step', (_, make, why) => {
  const path = make();
  expect(() => openStateDir(path)).toThrow(
    expect.objectContaining({
      code: 'argument.invalid',
      message: expect.stringMatching(
        new RegExp(`${basename(path)} cannot.*${why.source}.*--state`),
      ),
    }),
  );
});

test.runIf(process.getuid?.() === 0)(
  'a directory that its user may not write is refused with the next step',
  async () => {
    const parent = temporaryDir();
    chmodSync(parent, 0o755);
    const inside = join(parent, '.troupe');
    const missing = await owner(inside, '65534');
    expect(missing.said).toMatch(/^argument.invalid .*cannot be made \(EACCES.*--state/);
    mkdirSync(inside);
    chmodSync(inside, 0o755);
    const foreign = await owner(inside, '65534');
    expect(foreign.said).toMatch(/^argument.invalid .*cannot be closed \(EPERM.*--state/);
    for (const { child } of [missing, foreign]) await gone(child);
  },
);

function aFile(): string {
  const file = join(temporaryDir(), 'a-file');
  writeFileSync(file, '');
  return file;
}

function aDanglingLink(): string {
  const link = join(temporaryDir(), 'a-link');
  symlinkSync(join(temporaryDir(), 'nowhere'), link);
  return link;
}

/** A process that tries to own the directory, and its first word about it. */
async function owner(
  path: string,
  ...user: string[]
): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [testThread('state-owner').pathname, path, ...user], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone(child);
  });
  const lines = createInterface({ input: child.stdout });
  const said = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve('it said nothing'));
  });
  return { child, said };
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once('exit', resolve));
}
