import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { actorTools } from '../../src/tools/actor-tools.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
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

describe('glob_search', () => {
  beforeEach(() => {
    for (const path of [
      'a.ts',
      'src/b.ts',
      'src/c.tsx',
      'src/deep/d.ts',
      'node_modules/m/e.ts',
      '.git/f.ts',
      '文.md',
    ]) {
      box.file(`ws/${path}`, '');
    }
    box.file('outside/z.ts', '');
    symlinkSync('../outside', join(box.ws, 'out'));
    symlinkSync('.', join(box.ws, 'loop'));
  });

  test.each([
    ['*.ts', 'a.ts'],
    ['**/*.ts', 'a.ts\nsrc/b.ts\nsrc/deep/d.ts'],
    ['src/*.{ts,tsx}', 'src/b.ts\nsrc/c.tsx'],
    ['**/d.ts', 'src/deep/d.ts'],
    ['?.md', '文.md'],
    ['node_modules/**/*.ts', 'node_modules/m/e.ts'],
    ['.git/*', '.git/f.ts'],
    ['**/z.ts', ''],
    ['loop/a.ts', ''],
  ])('%s finds what it names, sorted, and follows no link', async (pattern, expected) => {
    const { text } = await call('glob_search', { pattern });
    const lines = (text ?? '').split('\n').filter((line) => !line.startsWith('['));
    expect(lines.join('\n')).toBe(expected);
  });

  test('says what it did not enter, and cuts with a mark', async () => {
    const outcome = await call('glob_search', { pattern: '**/*', limit: 2 });
    expect(outcome.text).toContain(
      '[cut after 2 paths, there are more; 2 not entered (.git, node_modules)]',
    );
    expect(outcome).toMatchObject({ data: { cut: true } });
    const all = await call('glob_search', { pattern: '**/*.ts' });
    expect(all.text).toContain('[2 not entered (.git, node_modules)]');
  });

  test('paths are relative to the directory it starts in', async () => {
    expect((await call('glob_search', { pattern: '**/*.ts', path: 'src' })).text).toBe(
      'b.ts\ndeep/d.ts',
    );
    expect((await call('glob_search', { pattern: '*', path: 'node_modules/m' })).text).toBe('e.ts');
  });

  test.each([
    [{ pattern: '../*' }, 'invalid_pattern'],
    [{ pattern: '/etc/*' }, 'invalid_pattern'],
    [{ pattern: '*', path: '..' }, 'outside_scope'],
    [{ pattern: '*', path: 'out' }, 'outside_scope'],
    [{ pattern: '*', path: 'a.ts' }, 'not_a_directory'],
    [{ pattern: '*', path: 'none' }, 'not_found'],
  ])('%j is %s', async (args, errorType) => {
    expect(await call('glob_search', args)).toMatchObject({ ok: false, errorType });
  });
});

describe('content_search', () => {
  beforeEach(() => {
    box.file('ws/a.ts', 'const one = 1;\nconst two = 2;\r\nlet three = 3;\n');
    box.file('ws/src/b.ts', 'two times\nTWO\n');
    box.file('ws/src/c.md', 'two (2)\n');
    box.file('ws/node_modules/m.ts', 'two\n');
    box.file('ws/bin', Buffer.from('two\0two'));
    box.file('outside/z.ts', 'two\n');
    symlinkSync('../outside', join(box.ws, 'out'));
    symlinkSync('../outside/z.ts', join(box.ws, 'z.ts'));
  });

  const linesOf = async (args: JsonObject): Promise<readonly string[]> => {
    const outcome = await call('content_search', args);
    return (outcome.text ?? '').split('\n').filter((line) => !line.startsWith('['));
  };

  test('gives file, line and text, sorted by file, and follows no link out', async () => {
    expect(await linesOf({ pattern: 'two' })).toEqual([
      'a.ts:2: const two = 2;',
      'src/b.ts:1: two times',
      'src/c.md:1: two (2)',
    ]);
  });

  test.each([
    [
      { pattern: 'TWO', ignore_case: true, path: 'src/b.ts' },
      ['src/b.ts:1: two times', 'src/b.ts:2: TWO'],
    ],
    [{ pattern: 'two (2)', literal: true }, ['src/c.md:1: two (2)']],
    [{ pattern: 'TWO (2)', literal: true, ignore_case: true }, ['src/c.md:1: two (2)']],
    [{ pattern: '^\\w+ one' }, ['a.ts:1: const one = 1;']],
    [{ pattern: '2;$' }, ['a.ts:2: const two = 2;']],
    [{ pattern: 'two', glob: '*.md' }, ['src/c.md:1: two (2)']],
    [{ pattern: 'two', glob: 'src/*.ts' }, ['src/b.ts:1: two times']],
    [{ pattern: 'two', path: 'node_modules' }, ['m.ts:1: two']],
    [{ pattern: 'two', glob: 'node_modules/**' }, ['node_modules/m.ts:1: two']],
    [{ pattern: 'two', path: 'a.ts' }, ['a.ts:2: const two = 2;']],
    [{ pattern: 'nowhere' }, []],
  ])('%j', async (args, expected) => {
    expect(await linesOf(args)).toEqual(expected);
  });

  test('context lines are marked with a dash, groups are parted, none is told twice', async () => {
    box.file('ws/t', '1\nhit\n3\nhit\n5\n6\n7\n8\nhit\n');
    expect(await linesOf({ pattern: 'hit', path: 't', context: 1 })).toEqual([
      ...['t-1- 1', 't:2: hit', 't-3- 3', 't:4: hit', 't-5- 5', '--', 't-8- 8', 't:9: hit'],
    ]);
  });

  test('stops at its limit with a mark', async () => {
    box.file('ws/many', 'two\n'.repeat(1000));
    const outcome = await call('content_search', { pattern: 'two', limit: 5 });
    expect(outcome.text).toContain('[cut after 5 matching lines, there may be more');
    expect(outcome).toMatchObject({ data: { matches: 5, cut: true } });
  });

  test('a line of 1 MB is shown cut, a file above 8 MiB is counted and not searched', async () => {
    box.file('ws/long', `two${'x'.repeat(1_000_000)}`);
    box.file('ws/huge', 'two\n'.repeat(2_500_000));
    const { text } = await call('content_search', { pattern: 'two', glob: '{long,huge}' });
    expect(text?.length).toBeLessThan(800);
    expect(text).toContain('more characters]');
    expect(text).toContain('1 larger than 8388608 bytes not searched');
  });

  test('a pattern that takes exponential time is given up, with what was found before', async () => {
    box.file('ws/aaa', `${'a'.repeat(60)}b\n`);
    box.file('ws/0', 'aa\n');
    const outcome = await call('content_search', { pattern: '^(a|aa)+$', glob: '{0,aaa}' });
    expect(outcome).toMatchObject({
      ok: false,
      errorType: 'pattern_too_slow',
      effect: 'none',
      text: '0:1: aa',
    });
  });

  test('the last line is searched with and without a line end, and no line is made up', async () => {
    box.file('ws/e', 'a\n\nb');
    expect(await linesOf({ pattern: '^$', path: 'e' })).toEqual(['e:2: ']);
    box.file('ws/e', 'a\n');
    expect(await linesOf({ pattern: '^$', path: 'e' })).toEqual([]);
  });

  test.each([
    [{ pattern: '(' }, 'invalid_pattern'],
    [{ pattern: 'x', glob: '../*' }, 'invalid_pattern'],
    [{ pattern: 'x', path: '../outside' }, 'outside_scope'],
    [{ pattern: 'x', path: 'z.ts' }, 'outside_scope'],
    [{ pattern: 'x', path: 'none' }, 'not_found'],
  ])('%j is %s', async (args, errorType) => {
    expect(await call('content_search', args)).toMatchObject({ ok: false, errorType });
  });

  test('a forbidden directory is not searched', async () => {
    box.file('ws/secret/key', 'two');
    const files = { forbidden: [join(box.ws, 'secret')] };
    expect((await call('content_search', { pattern: 'two' }, { files })).text).not.toContain(
      'secret',
    );
  });
});

test('N2: a search ends when its run is cancelled', async () => {
  for (let i = 0; i < 300; i += 1) box.file(`ws/d${i}/f`, 'x\n');
  const cancel = new AbortController();
  const search = call('content_search', { pattern: 'x', limit: 5000 }, { signal: cancel.signal });
  cancel.abort(new Error('stop'));
  expect(await search).toMatchObject({ ok: false, errorType: 'cancelled', effect: 'none' });
});

test('a tree deeper than any walk goes ends where the walk ends', async () => {
  mkdirSync(join(box.ws, 'd/'.repeat(100)), { recursive: true });
  const { text } = await call('glob_search', { pattern: '**/x' });
  expect(text).toContain('no file matches');
});
