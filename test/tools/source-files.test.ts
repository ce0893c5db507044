import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { codeStats } from '../../src/tools/code-stats.ts';
import { SOURCE_ENDINGS } from '../../src/tools/core/source-endings.ts';
import { findSources, readSources, SOURCE_BYTES_MAX } from '../../src/tools/source-files.ts';
import { makeSourceTree, type SourceTree } from './source-tree.ts';

let tree: SourceTree;
let outside: string | undefined;
afterEach(() => {
  tree.remove();
  if (outside !== undefined) fs.rmSync(outside, { recursive: true });
  outside = undefined;
});

async function read() {
  const found = await findSources(tree.dir, SOURCE_ENDINGS, tree.context);
  const paths: string[] = [];
  for await (const source of readSources('test', found, tree.context)) paths.push(source.path);
  return { paths, skipped: found.skipped };
}

describe('the walk over source files', () => {
  it('skips by name, size and content, and counts why', async () => {
    tree = makeSourceTree({
      'a.ts': 'a;\n',
      'node_modules/p/i.js': 'p;\n',
      'x/dist/o.js': 'o;\n',
      'x/build/o.js': 'o;\n',
      'x/coverage/o.js': 'o;\n',
      '.git/hook.js': 'h;\n',
      'x/jquery.min.js': 'm;\n',
      'x/dense.js': `${'a;'.repeat(2000)}\n`,
      'x/exact.ts': `${' '.repeat(99)}\n`.repeat(10_485).padEnd(SOURCE_BYTES_MAX, '\n'),
      'x/large.ts': `${' '.repeat(99)}\n`.repeat(10_485).padEnd(SOURCE_BYTES_MAX + 1, '\n'),
      'x/video.ts': 'G\0\0\0',
      'x/readme.md': '# x',
      'secret/k.ts': 'k;\n',
    });
    expect(await read()).toEqual({
      paths: ['a.ts', 'x/exact.ts'],
      skipped: {
        folders: 5,
        minified: 2,
        too_large: 1,
        binary: 1,
        unreadable: 0,
        outside_scope: 1,
      },
    });
  });

  it('follows links inside the scope once each and never out of it', async () => {
    tree = makeSourceTree({ 'part/a.ts': 'a;\n', 'other/b.ts': 'b;\n', 'secret/k.ts': 'k;\n' });
    outside = fs.mkdtempSync(path.join(os.tmpdir(), 'outside-'));
    fs.writeFileSync(path.join(outside, 'o.ts'), 'o;\n');
    const link = (target: string, name: string) =>
      fs.symlinkSync(target, path.join(tree.dir, name));
    link(outside, 'part/out');
    link(path.join(outside, 'o.ts'), 'part/o.ts');
    link('../secret/k.ts', 'part/k.ts');
    link('..', 'part/round');
    link('../other', 'part/again');
    link('a.ts', 'part/same.ts');
    link('nowhere.ts', 'part/dangling.ts');
    const { paths, skipped } = await read();
    expect(paths).toEqual(['other/b.ts', 'part/a.ts']);
    expect(skipped).toMatchObject({ outside_scope: 4, unreadable: 1 });
    const part = await tree.data(codeStats, { path: 'part/again' });
    expect(part['largest_files']).toEqual([{ file: 'other/b.ts', lines: 1, code_lines: 1 }]);
  });

  it('counts files as unreadable that vanish or change into links before they are read', async () => {
    tree = makeSourceTree({ 'a.ts': 'a;\n', 'b.ts': 'b;\n', 'c.ts': 'c;\n' });
    const found = await findSources(tree.dir, SOURCE_ENDINGS, tree.context);
    fs.rmSync(path.join(tree.dir, 'a.ts'));
    fs.rmSync(path.join(tree.dir, 'b.ts'));
    fs.symlinkSync('/etc/hostname', path.join(tree.dir, 'b.ts'));
    const texts: string[] = [];
    for await (const source of readSources('test', found, tree.context)) texts.push(source.text);
    expect(texts).toEqual(['c;\n']);
    expect(found.skipped.unreadable).toBe(2);
  });

  it('X1: lists no folder that became a link out of the scope after it was judged', async () => {
    tree = makeSourceTree({ 'a.ts': 'a;\n', 'part/b.ts': 'b;\n' });
    const far = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'outside-')));
    outside = far;
    fs.writeFileSync(path.join(far, 'o.ts'), 'o;\n');
    const [scope] = tree.context.scope.files;
    if (scope === undefined) throw new Error('the tree has a scope');
    let judged = 0;
    const swapping = {
      ...scope,
      get forbidden() {
        judged += 1;
        if (fs.lstatSync(path.join(tree.dir, 'part')).isDirectory() && judged === 2) {
          fs.rmSync(path.join(tree.dir, 'part'), { recursive: true });
          fs.symlinkSync(far, path.join(tree.dir, 'part'));
        }
        return scope.forbidden;
      },
    };
    const context = { ...tree.context, scope: { ...tree.context.scope, files: [swapping] } };
    const found = await findSources(tree.dir, SOURCE_ENDINGS, context);
    expect(fs.readlinkSync(path.join(tree.dir, 'part'))).toBe(far);
    expect(found.files).toEqual([path.join(tree.dir, 'a.ts')]);
    expect(found.skipped).toMatchObject({ unreadable: 1 });
  });

  it('X1: reads no hard link of a forbidden file', async () => {
    tree = makeSourceTree({ 'a.ts': 'a;\n', 'secret/k.ts': 'k;\n' });
    fs.linkSync(path.join(tree.dir, 'secret/k.ts'), path.join(tree.dir, 'copy.ts'));
    expect(await read()).toMatchObject({
      paths: ['a.ts'],
      skipped: { unreadable: 1, outside_scope: 1 },
    });
  });

  it('goes into a folder of a skipped name when just that is asked for', async () => {
    tree = makeSourceTree({ 'dist/a.js': 'a;\n', 'dist/node_modules/b.js': 'b;\n' });
    const data = await tree.data(codeStats, { path: 'dist' });
    expect(data['largest_files']).toEqual([{ file: 'dist/a.js', lines: 1, code_lines: 1 }]);
    expect(data['skipped']).toMatchObject({ folders: 1 });
  });
});
