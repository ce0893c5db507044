import { afterEach, describe, expect, it } from 'vitest';
import { checkArguments } from '../../src/tools/check-arguments.ts';
import { codeStats } from '../../src/tools/code-stats.ts';
import { makeSourceTree, type SourceTree } from './source-tree.ts';

let tree: SourceTree;
afterEach(() => tree.remove());

const box = `import fs from 'node:fs';
import { a, type B } from './b.ts';

/**
 * Doc.
 *
 */
export const size = 3, other = 4; // trailing

export class Box {
  #lid = 0; // TODO: close it

  get lid(): number {
    return this.#lid;
  }

  fill = (n: number, ...rest: number[]) => {
    for (const r of rest) {
      if (r > n && n > 0) {
        this.#lid += r;
      } else if (r === 0) {
        continue;
      }
    }
    return rest.length > 0 ? n : (this.#lid ?? 0);
  };
}

export default function pick(this: Box, kind: string, a = 1): number {
  switch (kind) {
    case 'x':
    case 'y':
      return 1;
    default:
      try {
        while (a < 3) a++;
      } catch {
        // FIXME nothing
      }
      return [1, 2].filter(function even(n) { return n % 2 === 0; }).length;
  }
}
`;

const common = [
  "'use strict';",
  "const path = require('path');",
  'const text = `',
  '// TODO not a comment',
  '  ',
  '`; /* a',
  'b */ /* HACK: c */',
  '/* XXX d */ exports.join = (a) => a && path.join(a, text);',
  'module.exports.other = "FIXME no";',
].join('\r\n');

function measured(
  file: string,
  name: string,
  [start_line, lines, parameters, complexity, max_nesting]: readonly number[],
) {
  return { name, file, start_line, lines, parameters, complexity, max_nesting };
}

const fill = measured('src/box.ts', 'Box.fill', [17, 10, 2, 7, 2]);
const pick = measured('src/box.ts', 'pick', [29, 14, 2, 5, 3]);
const lid = measured('src/box.ts', 'Box.lid', [13, 3, 0, 1, 0]);
const even = measured('src/box.ts', 'even', [40, 1, 1, 1, 0]);
const join = measured('lib/common.js', 'exports.join', [8, 1, 1, 2, 0]);

describe('code_stats', () => {
  it('counts two files as a person counts them', async () => {
    tree = makeSourceTree({ 'src/box.ts': box, 'lib/common.js': common });
    expect(await tree.data(codeStats, {})).toEqual({
      totals: {
        files: 2,
        lines: 51,
        code_lines: 39,
        comment_lines: 6,
        blank_lines: 6,
        functions: 5,
        classes: 1,
        exports: 6,
        imports: 3,
        open_ends: 4,
        parse_errors: 0,
      },
      file_lines: { median: 25.5, p90: 42, max: 42 },
      skipped: {
        folders: 0,
        minified: 0,
        too_large: 0,
        binary: 0,
        unreadable: 0,
        outside_scope: 0,
      },
      largest_files: [
        { file: 'src/box.ts', lines: 42, code_lines: 32 },
        { file: 'lib/common.js', lines: 9, code_lines: 7 },
      ],
      longest_functions: [pick, fill, lid, join, even],
      most_complex_functions: [fill, pick, join, lid, even],
      open_ends: [
        { file: 'lib/common.js', line: 7, text: 'HACK: c' },
        { file: 'lib/common.js', line: 8, text: 'XXX d' },
        { file: 'src/box.ts', line: 11, text: 'TODO: close it' },
        { file: 'src/box.ts', line: 38, text: 'FIXME nothing' },
      ],
      parse_errors: [],
    });
  });
});

describe('code_stats on odd files', () => {
  it('goes on after broken files and says where they are broken', async () => {
    tree = makeSourceTree({
      'a-broken.ts': '// a comment\n\nconst = ;\n',
      'b-twice.ts': 'const a = 1;\nconst a = () => 2;\n',
      'c-good.ts': 'export function f() {}\n',
      'd-empty.ts': '',
    });
    const data = await tree.data(codeStats, {});
    expect(data['parse_errors']).toEqual([
      { file: 'a-broken.ts', line: 3, message: expect.stringContaining('Unexpected token') },
      { file: 'b-twice.ts', line: 2, message: expect.stringContaining("'a' has already been") },
    ]);
    expect(data['totals']).toMatchObject({ files: 4, lines: 6, code_lines: 5, functions: 2 });
  });

  it('survives nesting that no recursion survives', async () => {
    const deep = 5000;
    tree = makeSourceTree({
      'deep.js': `f(${'[\n'.repeat(deep)}${']\n'.repeat(deep)});\nfunction g() {}\n`,
      'long.js': `const s = ${Array.from({ length: 20_000 }, () => "'a'").join(' +\n')};\n`,
    });
    const data = await tree.data(codeStats, {});
    expect(data['totals']).toMatchObject({ files: 2, lines: 30_002 });
  });

  it('reads every dialect that its endings name', async () => {
    tree = makeSourceTree({
      'a.tsx': 'export const A = <T,>(p: T) => <b>{/* TODO x */ p as string}</b>;\n',
      'b.mts': 'export const b = <number>(<unknown>1);\nawait b;\n',
      'c.cts': 'import x = require("x");\nexport = x;\n',
      'd.jsx': 'export default () => <p>TODO not a comment</p>;\n',
      'e.mjs': 'export * from "a"; export * from "b"; export { c as d } from "c"; import("e");\n',
      'f.cjs': '#!/usr/bin/env node\nif (a) return;\nmodule.exports = { g() {} };\n',
      'g.d.ts': 'export function f(): void;\nexport function f(a: 1): void;\n',
      'h.ts': '@dec class A { constructor(@inject() private a: B) {} declare b: 1; static {} }\n',
      'i.ts': 'abstract class C { abstract m(): void; [Symbol.iterator]() {} }\n',
    });
    const data = await tree.data(codeStats, {});
    expect(data['parse_errors']).toEqual([]);
    expect(data['totals']).toMatchObject({
      files: 9,
      functions: 5,
      classes: 2,
      exports: 9,
      imports: 2,
    });
    expect(data['open_ends']).toEqual([{ file: 'a.tsx', line: 1, text: 'TODO x' }]);
    const names = data['longest_functions'] as readonly { name: string }[];
    expect(names.map((one) => one.name)).toEqual([
      'A',
      'default',
      'g',
      'A.constructor',
      'C.[Symbol.iterator]',
    ]);
  });
});

describe('code_stats on a part of the tree', () => {
  it('takes a folder, a file, or only some endings', async () => {
    tree = makeSourceTree({ 'a/x.ts': '1;\n', 'a/x.test.ts': '2;\n', 'b/y.js': '3;\n' });
    const files = async (args: object) => {
      const data = await tree.data(codeStats, args);
      return (data['largest_files'] as readonly { file: string }[]).map((one) => one.file);
    };
    expect(await files({ path: 'a' })).toEqual(['a/x.test.ts', 'a/x.ts']);
    expect(await files({ path: 'b/y.js' })).toEqual(['b/y.js']);
    expect(await files({ path: tree.dir })).toEqual(['a/x.test.ts', 'a/x.ts', 'b/y.js']);
    expect(await files({ include: ['*.test.ts'] })).toEqual(['a/x.test.ts']);
    expect(await files({ include: ['**/*.{js,mjs}'] })).toEqual(['b/y.js']);
    expect(await files({ include: ['ts'] })).toEqual(['a/x.test.ts', 'a/x.ts']);
  });

  it('refuses what is not there, not allowed or not source', async () => {
    tree = makeSourceTree({ 'notes.txt': 'x', 'secret/k.ts': 'x' });
    const errorType = async (args: object) => {
      const outcome = await tree.run(codeStats, args);
      return outcome.ok ? 'none' : `${outcome.errorType} ${outcome.effect}`;
    };
    expect(await errorType({ path: 'absent' })).toBe('not_found none');
    expect(await errorType({ path: '..' })).toBe('outside_scope none');
    expect(await errorType({ path: 'secret' })).toBe('forbidden_path none');
    expect(await errorType({ path: 'notes.txt' })).toBe('not_source none');
    expect(await errorType({ include: ['*.py'] })).toBe('invalid_arguments none');
  });

  it('breaks ties by path and line and cuts every list at the limit', async () => {
    const two = 'const p = () => 1;\nconst q = () => 1;\n// TODO a\n';
    tree = makeSourceTree({ 'b.ts': two, 'a.ts': two, 'B.ts': two });
    const data = await tree.data(codeStats, { limit: 3 });
    const short = (key: string, line: string) =>
      (data[key] as readonly Record<string, unknown>[]).map((one) => `${one['file']}:${one[line]}`);
    expect(short('largest_files', 'lines')).toEqual(['B.ts:3', 'a.ts:3', 'b.ts:3']);
    expect(short('longest_functions', 'start_line')).toEqual(['B.ts:1', 'B.ts:2', 'a.ts:1']);
    expect(short('open_ends', 'line')).toEqual(['B.ts:3', 'a.ts:3', 'b.ts:3']);
    expect(data['totals']).toMatchObject({ functions: 6, open_ends: 3 });
  });
});

describe('code_stats as a tool', () => {
  it('stays below 12,000 characters on a big tree, shows where it cut, and reports progress', async () => {
    tree = makeSourceTree();
    for (let i = 0; i < 250; i += 1) {
      const name = `packages/a-package-with-a-name/src/some/feature/folder/part-${i}.ts`;
      const body = `function ${'veryLongName'.repeat(20)}() {}\n// TODO ${'word '.repeat(100)}\n`;
      tree.write(name, `${body}const = ${'x'.repeat(i)};\n`);
    }
    tree.write(`${'deep-folder/'.repeat(15)}last.ts`, `function f() {}\n${'//\n'.repeat(90)}`);
    const outcome = await tree.run(codeStats, {});
    const text = outcome.ok ? outcome.text : '';
    expect(text.length).toBeLessThan(12_000);
    expect(text).toMatch(/"file":"deep-folder[^"]*…[^"]*last\.ts"/);
    expect(tree.progress).toEqual(['code_stats: 100 of 251 files', 'code_stats: 200 of 251 files']);
  });

  it('stops between files once it is cancelled', async () => {
    tree = makeSourceTree();
    for (let i = 0; i < 150; i += 1) tree.write(`f${i}.ts`, '1;\n');
    const controller = new AbortController();
    const outcome = await tree.run(
      codeStats,
      {},
      { ...tree.context, signal: controller.signal, progress: () => controller.abort() },
    );
    expect(outcome).toEqual({
      ok: false,
      errorType: 'cancelled',
      error: 'code_stats was cancelled after 101 files',
      effect: 'none',
    });
  });

  it('declares arguments that the argument check enforces', () => {
    tree = makeSourceTree();
    expect(codeStats).toMatchObject({ place: 'compute', effect: 'read', timeoutMs: 300_000 });
    const ok = (args: object) => checkArguments(codeStats, JSON.stringify(args)).ok;
    expect(ok({})).toBe(true);
    expect(ok({ path: 'src', limit: 100, include: ['.ts'] })).toBe(true);
    expect(ok({ limit: 101 })).toBe(false);
    expect(ok({ folder: 'src' })).toBe(false);
  });
});
