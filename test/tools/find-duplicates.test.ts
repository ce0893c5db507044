import { afterEach, describe, expect, it } from 'vitest';
import { checkArguments } from '../../src/tools/check-arguments.ts';
import { duplicateFinder, findDuplicates } from '../../src/tools/find-duplicates.ts';
import { makeSourceTree, type SourceTree } from './source-tree.ts';

let tree: SourceTree;
afterEach(() => tree.remove());

/** 36 tokens on lines 1 to 7. */
const original = `function sum(list: number[]): number {
  let total = 0;
  for (const item of list) {
    total += item * 2;
  }
  return total;
}
`;

/** The same 36 tokens, with other names, numbers, comments and line breaks, on lines 1 to 4. */
const renamed = `function add(values: number[]): number { // adds
  let result = 100;
  for (const one of values) { result += one * 7; }
  /* done */ return result; }
`;

describe('find_duplicates', () => {
  it('finds a renamed copy, as a person counts its tokens and lines', async () => {
    tree = makeSourceTree({
      'a.ts': `class A { a = 1 }\n${original}`,
      'lib/b.ts': `${renamed}interface B { b: 2 }\n`,
    });
    expect(await tree.data(findDuplicates, { min_tokens: 20 })).toEqual({
      totals: {
        files: 2,
        tokens: 36 + 7 + 36 + 7,
        duplicated_tokens: 72,
        duplicated_percent: 83.7,
        groups: 1,
      },
      min_tokens: 20,
      complete: true,
      skipped: {
        folders: 0,
        minified: 0,
        too_large: 0,
        binary: 0,
        unreadable: 0,
        outside_scope: 0,
        unparsable: 0,
        over_token_limit: 0,
      },
      groups: [
        {
          tokens: 36,
          lines: 7,
          occurrences: [
            { file: 'a.ts', start_line: 2, end_line: 8 },
            { file: 'lib/b.ts', start_line: 1, end_line: 4 },
          ],
        },
      ],
    });
  });

  it('tells apart other keywords, operators and kinds of literals', async () => {
    tree = makeSourceTree({
      'a.ts': original,
      'b.ts': original.replace('+=', '-='),
      'c.ts': original.replace('let', 'var'),
      'd.ts': original.replace('* 2', '* "2"'),
    });
    const data = await tree.data(findDuplicates, { min_tokens: 36 });
    expect(data['groups']).toEqual([]);
  });
});

describe('find_duplicates, place by place', () => {
  it('finds copies within a file, and says how many more there are than it lists', async () => {
    const text = Array.from({ length: 6 }, (_, i) => `${original}const x${i} = ${'['.repeat(i)}0`);
    tree = makeSourceTree({
      'a.ts': text.map((one, i) => `${one}${']'.repeat(i)};\n`).join(''),
    });
    const data = await tree.data(findDuplicates, { min_tokens: 30 });
    expect(data['groups']).toEqual([
      {
        tokens: 39,
        lines: 8,
        occurrences: [1, 9, 17, 25].map((line) => ({
          file: 'a.ts',
          start_line: line,
          end_line: line + 7,
        })),
        more_occurrences: 2,
      },
    ]);
  });

  it('counts no import lines, nor joins what stands around them', async () => {
    const imports = Array.from({ length: 20 }, (_, i) => `import { a${i} } from './m${i}.ts';\n`);
    const requires = Array.from({ length: 20 }, (_, i) => `const b${i} = require('./m${i}.js');\n`);
    const reExports = Array.from({ length: 20 }, (_, i) => `export { c } from './m${i}.ts';\n`);
    const all = [...imports, ...reExports].join('');
    tree = makeSourceTree({
      'a.ts': all,
      'b.ts': all,
      'c.cjs': requires.join(''),
      'd.cjs': requires.join(''),
      'e.ts': original.replace('number {\n', 'number {}\nimport "x";\n{'),
      'f.ts': original.replace('number {\n', 'number {}\nimport "x";\n{'),
    });
    const data = await tree.data(findDuplicates, { min_tokens: 20 });
    expect(data['totals']).toMatchObject({ files: 6, tokens: 76, groups: 1 });
    expect(data['groups']).toMatchObject([{ tokens: 25, lines: 6 }]);
  });
});

describe('find_duplicates as a tool', () => {
  it('takes no table of like entries for copies of itself', async () => {
    tree = makeSourceTree({ 'a.ts': `export const t = [\n${'  [1, 2],\n'.repeat(500)}];\n` });
    expect(await tree.data(findDuplicates, {})).toMatchObject({
      totals: { duplicated_tokens: 0, duplicated_percent: 0 },
      groups: [],
    });
  });

  it('counts what it could not parse or has no room for', async () => {
    tree = makeSourceTree({ 'a.ts': original, 'b.ts': 'const = ;', 'c.ts': renamed, 'd.ts': 'd;' });
    const data = await tree.data(duplicateFinder(40), { min_tokens: 20 });
    expect(data['totals']).toMatchObject({ files: 2, tokens: 38 });
    expect(data['skipped']).toMatchObject({ unparsable: 1, over_token_limit: 1 });
  });

  it('has an answer for an empty folder', async () => {
    tree = makeSourceTree();
    expect(await tree.data(findDuplicates, {})).toMatchObject({
      totals: { files: 0, tokens: 0, duplicated_percent: 0 },
      groups: [],
    });
  });

  it('stays below 12,000 characters on a big tree and gives the same answer twice', async () => {
    tree = makeSourceTree();
    for (let i = 0; i < 150; i += 1) {
      const name = `packages/a-package-with-a-name/src/some/folder/part-${i}.ts`;
      tree.write(name, `const x = ${sumOf(i % 30)};\n`);
    }
    const first = await tree.run(findDuplicates, { min_tokens: 20 });
    const text = first.ok ? first.text : '';
    expect(text.length).toBeLessThan(12_000);
    expect(JSON.parse(text).groups).toHaveLength(20);
    expect(await tree.run(findDuplicates, { min_tokens: 20 })).toEqual(first);
    expect(tree.progress[0]).toBe('find_duplicates: 100 of 150 files');
  });

  it('stops between files once it is cancelled', async () => {
    tree = makeSourceTree({ 'a.ts': original });
    const signal = AbortSignal.abort();
    const outcome = await tree.run(findDuplicates, {}, { ...tree.context, signal });
    expect(outcome).toMatchObject({ ok: false, errorType: 'cancelled', effect: 'none' });
  });

  it('declares arguments that the argument check enforces', () => {
    tree = makeSourceTree();
    expect(findDuplicates).toMatchObject({ place: 'compute', effect: 'read', timeoutMs: 300_000 });
    const ok = (args: object) => checkArguments(findDuplicates, JSON.stringify(args)).ok;
    expect(ok({ path: '.', min_tokens: 20, limit: 1 })).toBe(true);
    expect(ok({ min_tokens: 19 })).toBe(false);
    expect(ok({ min_tokens: 1001 })).toBe(false);
    expect(ok({ include: ['.ts'] })).toBe(false);
  });
});

/** Some 80 tokens whose operators are others for each shape. */
function sumOf(shape: number): string {
  const terms: string[] = [];
  for (let i = 0, mix = shape + 1; i < 40; i += 1) {
    mix = (mix * 48_271) % 2_147_483_647;
    terms.push('a', ['+', '-', '*', '/', '%', '&', '|', '^'][mix % 8] ?? '+');
  }
  return `${terms.join('\n')} a`;
}
