import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { actorTools } from '../../src/tools/actor-tools.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
import { READ_BYTES_MAX } from '../../src/tools/read-file.ts';
import { type ContextOptions, type Scratch, scratch } from '../support/tool-scratch.ts';

let box: Scratch;

beforeEach(() => {
  box = scratch();
});

afterEach(() => box.remove());

async function call(name: string, args: JsonObject, more?: ContextOptions): Promise<ToolOutcome> {
  const tool = actorTools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return invokeTool(tool, args, box.context(more));
}

const read = (path: string): string => readFileSync(join(box.ws, path), 'utf8');

describe('file_read', () => {
  test.each(['', 'one line', 'a\nb\n', 'crlf\r\nx', '\ufeffbom', 'ünïcode 文件 😀\n'])(
    'gives %j exactly',
    async (content) => {
      box.file('ws/f', content);
      expect(await call('file_read', { path: 'f' })).toEqual({ ok: true, text: content });
    },
  );

  test('gives the lines asked for and says what follows', async () => {
    box.file('ws/f', '1\n2\n3\n4\n5');
    const outcome = await call('file_read', { path: 'f', offset_lines: 1, limit_lines: 2 });
    expect(outcome.text).toBe(
      '2\n3\n[2 lines given: 3 of 9 bytes follow; continue with offset_lines 3]',
    );
    expect((await call('file_read', { path: 'f', offset_lines: 3 })).text).toBe('4\n5');
    expect((await call('file_read', { path: 'f', offset_lines: 4, limit_lines: 1 })).text).toBe(
      '5',
    );
    expect(await call('file_read', { path: 'f', offset_lines: 9 })).toMatchObject({
      ok: false,
      errorType: 'out_of_range',
    });
  });

  test('a file of 10 MB is cut at 1 MiB with a mark, and any of its lines can be reached', async () => {
    const line = `${'x'.repeat(99)}\n`;
    box.file('ws/big', `${line.repeat(100_000)}the end`);
    const outcome = await call('file_read', { path: 'big' });
    expect(outcome.text?.length).toBeLessThan(READ_BYTES_MAX + 200);
    expect(outcome.text).toMatch(
      /\[cut at 1048576 bytes: \d+ of 10000007 bytes follow; continue with offset_lines 10485\]$/,
    );
    expect((await call('file_read', { path: 'big', offset_lines: 100_000 })).text).toBe('the end');
  });

  test('one line of 3 MB is cut without a line to continue at', async () => {
    box.file('ws/long', 'y'.repeat(3_000_000));
    expect((await call('file_read', { path: 'long' })).text).toMatch(
      /y\n\[cut at 1048576 bytes: 1951424 of 3000000 bytes follow\]$/,
    );
  });

  test('says that a file is binary, and that bytes are not UTF-8', async () => {
    box.file('ws/bin', Buffer.from([1, 0, 2]));
    box.file('ws/latin', Buffer.from([0x66, 0xfc, 0x72]));
    expect(await call('file_read', { path: 'bin' })).toMatchObject({
      ok: false,
      errorType: 'binary_file',
    });
    expect((await call('file_read', { path: 'latin' })).text).toContain('[not valid UTF-8');
  });

  test.each([
    ['none.txt', 'not_found'],
    ['.', 'not_a_file'],
    ['../x', 'outside_scope'],
  ])('%s is %s, with no effect', async (path, errorType) => {
    expect(await call('file_read', { path })).toMatchObject({
      ok: false,
      errorType,
      effect: 'none',
    });
  });
});

describe('file_write', () => {
  test('creates a file and its directories, and replaces it in one step', async () => {
    expect(await call('file_write', { path: 'a/b/ü.txt', content: 'é' })).toEqual({
      ok: true,
      text: 'Created a/b/ü.txt (2 bytes)',
      data: { path: 'a/b/ü.txt', bytes: 2, created: true },
    });
    expect(await call('file_write', { path: 'a/b/ü.txt', content: 'new' })).toMatchObject({
      data: { created: false },
    });
    expect(read('a/b/ü.txt')).toBe('new');
    expect(readdirSync(join(box.ws, 'a/b'))).toEqual(['ü.txt']);
  });

  test('keeps the permissions of what it replaces', async () => {
    chmodSync(box.file('ws/run.sh', 'x'), 0o750);
    await call('file_write', { path: 'run.sh', content: 'y' });
    expect(statSync(join(box.ws, 'run.sh')).mode & 0o777).toBe(0o750);
  });

  test('writes through a link inside to the file it names, and the link stays', async () => {
    box.file('ws/real', 'x');
    symlinkSync('real', join(box.ws, 'link'));
    symlinkSync('later', join(box.ws, 'dangling'));
    await call('file_write', { path: 'link', content: 'y' });
    await call('file_write', { path: 'dangling', content: 'z' });
    expect([read('real'), read('later')]).toEqual(['y', 'z']);
    expect(readdirSync(box.ws).sort()).toEqual(['dangling', 'later', 'link', 'real']);
  });

  test('a name as long as the file system takes is written, a longer one is refused', async () => {
    expect(await call('file_write', { path: 'n'.repeat(255), content: '' })).toMatchObject({
      ok: true,
    });
    expect(await call('file_write', { path: 'é'.repeat(200), content: '' })).toMatchObject({
      ok: false,
      errorType: 'invalid_path',
    });
    expect(readdirSync(box.ws)).toHaveLength(1);
  });

  test.each([
    ['.', 'not_a_file'],
    ['../out', 'outside_scope'],
    ['f/x', 'not_a_directory'],
    ['.troupe/journal.db', 'protected_path'],
    ['ro/x', 'read_only_path'],
  ])('%s is %s', async (path, errorType) => {
    box.file('ws/f', 'x');
    const files = { protected: [join(box.ws, '.troupe')], readRoots: [join(box.ws, 'ro')] };
    expect(await call('file_write', { path, content: '' }, { files })).toMatchObject({
      ok: false,
      errorType,
      effect: 'none',
    });
    expect(readdirSync(box.ws)).toEqual(['f']);
  });

  test('J5: what a call left behind when it broke off is gone after it is repeated', async () => {
    const first = await call('file_write', { path: 'f', content: '1' });
    expect(first.ok).toBe(true);
    const again = await call('file_write', { path: 'f', content: '1' });
    expect(again.ok).toBe(true);
    expect(readdirSync(box.ws)).toEqual(['f']);
  });

  test('twenty writes at once to one file leave one whole content', async () => {
    const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(50_000));
    await Promise.all(
      contents.map((content, i) =>
        call('file_write', { path: 'f', content }, { callKey: `c${i}` }),
      ),
    );
    expect(contents).toContain(read('f'));
    expect(readdirSync(box.ws)).toEqual(['f']);
  });
});

describe('file_edit', () => {
  test('replaces the one occurrence, taking $ and patterns as plain text', async () => {
    box.file('ws/f', 'a.c abc\n');
    expect(
      await call('file_edit', { path: 'f', old_text: 'a.c', new_text: '$& $1' }),
    ).toMatchObject({ ok: true, data: { replaced: 1 } });
    expect(read('f')).toBe('$& $1 abc\n');
  });

  test('refuses an ambiguous text and says how often it occurs; replace_all replaces all', async () => {
    box.file('ws/f', 'x x x');
    const args = { path: 'f', old_text: 'x', new_text: 'y' };
    expect(await call('file_edit', args)).toMatchObject({
      errorType: 'ambiguous_match',
      error: expect.stringContaining('occurs 3 times'),
    });
    expect(read('f')).toBe('x x x');
    expect(await call('file_edit', { ...args, replace_all: true })).toMatchObject({
      data: { replaced: 3 },
    });
    expect(read('f')).toBe('y y y');
  });

  test('keeps line ends and a byte order mark, and names CRLF as the cause of a miss', async () => {
    box.file('ws/f', '\ufeffa\r\nb\r\n');
    expect(await call('file_edit', { path: 'f', old_text: 'a\nb', new_text: 'c' })).toMatchObject({
      errorType: 'no_match',
      error: expect.stringContaining('CRLF'),
    });
    await call('file_edit', { path: 'f', old_text: 'b', new_text: 'c' });
    expect(read('f')).toBe('\ufeffa\r\nc\r\n');
  });

  test.each([
    [{ path: 'f', old_text: 'none', new_text: '' }, 'no_match'],
    [{ path: 'f', old_text: 'abc', new_text: 'abc' }, 'no_change'],
    [{ path: 'none', old_text: 'a', new_text: 'b' }, 'not_found'],
    [{ path: 'latin', old_text: 'f', new_text: 'g' }, 'binary_file'],
    [{ path: '.', old_text: 'a', new_text: 'b' }, 'not_a_file'],
    [{ path: '../x', old_text: 'a', new_text: 'b' }, 'outside_scope'],
  ])('%j is %s and changes nothing', async (args, errorType) => {
    box.file('ws/f', 'abc');
    box.file('ws/latin', Buffer.from([0x66, 0xfc, 0x72]));
    expect(await call('file_edit', args)).toMatchObject({ ok: false, errorType, effect: 'none' });
    expect(read('f')).toBe('abc');
  });

  test('a write-only file cannot be edited, since an edit shows what is in it', async () => {
    box.file('ws/out/f', 'abc');
    const files = { writeRoots: [join(box.ws, 'out')] };
    const args = { path: 'out/f', old_text: 'a', new_text: 'b' };
    expect(await call('file_edit', args, { files })).toMatchObject({
      errorType: 'write_only_path',
    });
  });
});

describe('list_dir', () => {
  test('lists sorted, directories with a slash, links with their target, levels as asked', async () => {
    for (const path of ['ws/b.txt', 'ws/a/x', 'ws/a/deep/y', 'ws/Ünï', 'ws/.hidden'])
      box.file(path, '');
    symlinkSync('/etc', join(box.ws, 'link'));
    expect((await call('list_dir', {})).text).toBe('.hidden\na/\nb.txt\nlink -> /etc\nÜnï');
    expect((await call('list_dir', { path: 'a', depth: 2 })).text).toBe('deep/\ndeep/y\nx');
  });

  test('leaves out what is forbidden, and says so', async () => {
    box.file('ws/secret/key', '');
    box.file('ws/a', '');
    const outcome = await call(
      'list_dir',
      { depth: 3 },
      { files: { forbidden: [join(box.ws, 'secret')] } },
    );
    expect(outcome.text).toBe('a\n[1 out of scope]');
  });

  test('cuts at 2000 entries with a mark', async () => {
    for (let i = 0; i < 2100; i += 1) box.file(`ws/f${i}`, '');
    const lines = (await call('list_dir', {})).text?.split('\n') ?? [];
    expect(lines).toHaveLength(2001);
    expect(lines.at(-1)).toBe('[cut after 2000 entries, there are more]');
  });

  test.each([
    ['none', 'not_found'],
    ['f', 'not_a_directory'],
    ['..', 'outside_scope'],
    ['link', 'outside_scope'],
  ])('%s is %s', async (path, errorType) => {
    box.file('ws/f', '');
    symlinkSync('/etc', join(box.ws, 'link'));
    expect(await call('list_dir', { path })).toMatchObject({ ok: false, errorType });
  });

  test('an empty directory says that it is empty', async () => {
    mkdirSync(join(box.ws, 'e'));
    expect((await call('list_dir', { path: 'e' })).text).toBe('[empty directory]');
    expect(existsSync(join(box.ws, 'e'))).toBe(true);
  });
});
