import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRealDir, openRealFile } from '../../src/tools/open-real.ts';
import { resolveInScope } from '../../src/tools/resolve-path.ts';
import { writeRealFile } from '../../src/tools/write-real.ts';
import { type Scratch, scratch } from '../support/tool-scratch.ts';

let box: Scratch;

beforeEach(() => {
  box = scratch();
  box.file('ws/a.txt', 'inside');
  box.file('ws/sub/b.txt', 'inside too');
  box.file('ws/secret/key', 'forbidden');
  box.file('ws/.troupe/journal.db', 'own');
  box.file('outside/c.txt', 'outside');
  box.file('ws2/d.txt', 'beside');
});

afterEach(() => box.remove());

function link(target: string, path: string): void {
  symlinkSync(target, join(box.dir, path));
}

async function typeOf(asked: string, mode: 'read' | 'write' = 'read'): Promise<string> {
  const scope = {
    ...box.scope,
    forbidden: [join(box.ws, 'secret')],
    protected: [join(box.ws, '.troupe')],
  };
  const found = await resolveInScope([scope], box.ws, asked, mode);
  if (found.ok) return found.value.exists ? 'there' : 'new';
  expect(found).toMatchObject({ effect: 'none', error: expect.stringMatching(/.{10,}/) });
  return found.errorType;
}

describe('X1: where a path leads decides, not how it is written', () => {
  test.each([
    ['a.txt', 'there'],
    ['./a.txt', 'there'],
    ['sub/../a.txt', 'there'],
    ['nope/../a.txt', 'there'],
    ['new.txt', 'new'],
    ['new/deep/er.txt', 'new'],
    ['.', 'there'],
    ['', 'invalid_path'],
    ['a\0b', 'invalid_path'],
    ['~', 'invalid_path'],
    ['~/a.txt', 'invalid_path'],
    ['~a', 'new'],
    ['file:///etc/passwd', 'invalid_path'],
    ['x'.repeat(5000), 'invalid_path'],
    ['x'.repeat(300), 'invalid_path'],
    [`${'d/'.repeat(1500)}x`, 'new'],
    ['..', 'outside_scope'],
    ['../outside/c.txt', 'outside_scope'],
    ['../ws2/d.txt', 'outside_scope'],
    ['../../../../../../etc/passwd', 'outside_scope'],
    ['/etc/passwd', 'outside_scope'],
    ['/proc/self/environ', 'outside_scope'],
    ['/proc/self/cwd/a.txt', 'outside_scope'],
    ['/dev/stdin', 'outside_scope'],
    ['%2e%2e/outside/c.txt', 'new'],
    ['..\\outside', 'new'],
    ['secret/key', 'forbidden_path'],
    ['sub/../secret/new', 'forbidden_path'],
    ['a.txt/x', 'not_a_directory'],
  ])('path %# leads where it should', async (asked, expected) => {
    expect(await typeOf(asked)).toBe(expected);
  });

  test('protected files can be read and not written, by any name', async () => {
    link('.troupe', 'ws/alias');
    expect(await typeOf('.troupe/journal.db')).toBe('there');
    expect(await typeOf('.troupe/journal.db', 'write')).toBe('protected_path');
    expect(await typeOf('alias/journal.db', 'write')).toBe('protected_path');
    expect(await typeOf('alias/new', 'write')).toBe('protected_path');
    expect(await typeOf('.troupe', 'write')).toBe('protected_path');
  });

  test.each([
    ['a link to a file outside', '../outside/c.txt', 'link', 'outside_scope'],
    ['an absolute link outside', '/etc/passwd', 'link', 'outside_scope'],
    ['a link to a directory outside', '../outside', 'link/c.txt', 'outside_scope'],
    [
      'a new file behind a link to a directory outside',
      '../outside',
      'link/new.txt',
      'outside_scope',
    ],
    ['a dangling link that would create outside', '../outside/new.txt', 'link', 'outside_scope'],
    ['a dangling link to nowhere near', '/no/such/place', 'link', 'outside_scope'],
    ['a path below a dangling link outside', '../outside/none', 'link/x', 'outside_scope'],
    ['a link to the root', '/', 'link/etc/passwd', 'outside_scope'],
    ['a link to /proc/self/root', '/proc/self/root', 'link/etc/passwd', 'outside_scope'],
    ['a link to /proc/self/environ', '/proc/self/environ', 'link', 'outside_scope'],
    ['a link to a device', '/dev/zero', 'link', 'outside_scope'],
    ['a link beside by prefix', '../ws2', 'link/d.txt', 'outside_scope'],
    ['a link into forbidden', 'secret', 'link/key', 'forbidden_path'],
    ['a link to a forbidden file that does not exist', 'secret/none', 'link', 'forbidden_path'],
    ['a link to itself', 'link', 'link', 'path_loop'],
    ['a link inside', 'sub', 'link/b.txt', 'there'],
    ['a dangling link inside', 'sub/new.txt', 'link', 'new'],
    ['a link up and in again', '../ws/sub', 'link/b.txt', 'there'],
  ])('%s', async (_name, target, asked, expected) => {
    link(target, 'ws/link');
    expect(await typeOf(asked)).toBe(expected);
    expect(await typeOf(asked, 'write')).toBe(expected);
  });

  test('a chain of links out is followed to its end, one of 60 is refused', async () => {
    link('../outside/c.txt', 'ws/l0');
    for (let i = 1; i <= 60; i += 1) link(`l${i - 1}`, `ws/l${i}`);
    expect(await typeOf('l5')).toBe('outside_scope');
    expect(await typeOf('l60')).toBe('path_loop');
  });

  test('a workspace that was replaced by a link out of the root is outside', async () => {
    renameSync(box.ws, join(box.dir, 'moved'));
    link('outside', 'ws');
    expect(await typeOf('c.txt')).toBe('outside_scope');
    expect(await typeOf('new.txt', 'write')).toBe('outside_scope');
  });

  test('R9: a path must lie in the scope of the agent and in that of its initiator', async () => {
    const initiator = { ...box.scope, workspaceDir: join(box.ws, 'sub') };
    const scopes = [box.scope, initiator];
    expect(await resolveInScope(scopes, box.ws, 'sub/b.txt', 'read')).toMatchObject({ ok: true });
    expect(await resolveInScope(scopes, box.ws, 'a.txt', 'read')).toMatchObject({ ok: false });
    expect(await resolveInScope([], box.ws, 'a.txt', 'read')).toMatchObject({ ok: false });
  });
});

describe('what is opened is what was judged', () => {
  test.each([
    ['a directory', () => join(box.ws, 'sub'), 'not_a_file'],
    ['a missing file', () => join(box.ws, 'none'), 'not_found'],
    ['a device', () => '/dev/null', 'not_a_file'],
  ])('%s is no file to read', async (_name, path, errorType) => {
    expect(await openRealFile(path(), 'x', null)).toMatchObject({ ok: false, errorType });
  });

  test('a named pipe without a writer is refused at once instead of waited for', async () => {
    const fifo = join(box.ws, 'fifo');
    execFileSync('mkfifo', [fifo]);
    expect(await openRealFile(fifo, 'fifo', null)).toMatchObject({
      errorType: 'not_a_file',
      error: expect.stringContaining('named pipe'),
    });
  });

  test('a socket is refused', async () => {
    const path = join(box.dir, 's');
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect(await openRealFile(path, 's', null)).toMatchObject({
      ok: false,
      errorType: 'not_a_file',
    });
    await new Promise((resolve) => server.close(resolve));
  });

  test('a file that became a link after it was judged is not followed', async () => {
    const target = await resolveInScope([box.scope], box.ws, 'a.txt', 'read');
    rmSync(join(box.ws, 'a.txt'));
    link('../outside/c.txt', 'ws/a.txt');
    const opened = await openRealFile(target.ok ? target.value.real : '', 'a.txt', null);
    expect(opened).toMatchObject({ ok: false, errorType: 'path_changed' });
  });

  test('a directory above it that became a link after it was judged is noticed', async () => {
    const target = await resolveInScope([box.scope], box.ws, 'sub/b.txt', 'read');
    box.file('outside/b.txt', 'not yours');
    renameSync(join(box.ws, 'sub'), join(box.dir, 'away'));
    link('../outside', 'ws/sub');
    const real = target.ok ? target.value.real : '';
    expect(await openRealFile(real, 'sub/b.txt', null)).toMatchObject({
      errorType: 'path_changed',
    });
    expect(await openRealDir(join(box.ws, 'sub'), 'sub')).toMatchObject({ ok: false });
  });

  test('a write after such a swap creates nothing outside', async () => {
    const target = await resolveInScope([box.scope], box.ws, 'sub/new.txt', 'write');
    if (!target.ok) throw new Error('the path is in scope');
    renameSync(join(box.ws, 'sub'), join(box.dir, 'away'));
    link('../outside', 'ws/sub');
    const written = await writeRealFile(
      [box.scope],
      target.value,
      'sub/new.txt',
      Buffer.from('x'),
      'tag',
    );
    expect(written).toMatchObject({ ok: false });
    expect(() => readFileSync(join(box.dir, 'outside/new.txt'))).toThrow();
  });

  test('a file with another name is not written, and nothing is left beside it', async () => {
    linkSync(join(box.dir, 'outside/c.txt'), join(box.ws, 'hard'));
    const target = await resolveInScope([box.scope], box.ws, 'hard', 'write');
    if (!target.ok) throw new Error('the path is in scope');
    const before = readdirSync(box.ws);
    const content = Buffer.from('mine');
    expect(await writeRealFile([box.scope], target.value, 'hard', content, 'tag')).toEqual({
      ok: false,
      errorType: 'hard_link',
      error:
        '"hard" has 2 names (hard links), and what the others are cannot be told; write a new file instead',
      effect: 'none',
    });
    expect(readFileSync(join(box.ws, 'hard'), 'utf8')).toBe('outside');
    expect(readFileSync(join(box.dir, 'outside/c.txt'), 'utf8')).toBe('outside');
    expect(readdirSync(box.ws)).toEqual(before);
  });

  test('directories are made inside the scope only, also where the workspace itself is missing', async () => {
    rmSync(box.ws, { recursive: true });
    const target = await resolveInScope([box.scope], box.ws, 'x/y/z.txt', 'write');
    if (!target.ok) throw new Error('the path is in scope');
    expect(
      await writeRealFile([box.scope], target.value, 'x/y/z.txt', Buffer.from('1'), 't'),
    ).toEqual({ ok: true, value: 1 });
    rmSync(box.dir, { recursive: true });
    const refused = await writeRealFile(
      [box.scope],
      target.value,
      'x/y/z.txt',
      Buffer.from('1'),
      't',
    );
    expect(refused).toMatchObject({ ok: false, errorType: 'outside_scope' });
  });
});
