import { describe, expect, test } from 'vitest';
import { parseGlob } from '../../../src/tools/core/glob.ts';

function matches(pattern: string, path: string): boolean {
  const parsed = parseGlob(pattern);
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.glob.matches(path);
}

describe('a glob matches', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'x/y/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', true],
    ['src/**/b/*.ts', 'src/b/b/b/x.ts', true],
    ['src/**/b/*.ts', 'src/b/c/x.ts', false],
    ['**/a/**/b', 'x/a/y/z/b', true],
    ['**', 'a/b/c', true],
    ['a/**/**/b', 'a/b', true],
    ['?.ts', '文.ts', true],
    ['?.ts', '😀.ts', true],
    ['?', 'ab', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[a', '[a', true],
    ['[a-]', '-', true],
    ['{a,b}.ts', 'b.ts', true],
    ['{a,b/{c,d}}.ts', 'b/d.ts', true],
    ['{,x}a', 'a', true],
    ['{a}', '{a}', true],
    ['{a,b', '{a,b', true],
    ['\\*.ts', '*.ts', true],
    ['\\*.ts', 'a.ts', false],
    ['a\\{b,c}', 'a{b,c}', true],
    ['*', '.hidden', true],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYb', false],
    ['./src/*', 'src/a', true],
    ['**/*', 'a', true],
    ['app/(auth)/*', 'app/(auth)/x', true],
  ])('%j on %j: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test.each([
    '',
    '/etc/*',
    '../*',
    'a/../b',
    'a//b',
    'a\0',
    '@(a|b)',
    '!(a|b).ts',
    'x'.repeat(1001),
    '{a,b}'.repeat(9),
  ])('%j is refused in words', (pattern) => {
    expect(parseGlob(pattern)).toMatchObject({ ok: false, why: expect.stringMatching(/.{8,}/) });
  });
});

test('no pattern is slow: stars against a long name that does not match end within the test limit', () => {
  expect(matches(`${'*a'.repeat(400)}b`, 'a'.repeat(4000))).toBe(false);
  expect(matches(`${'**/a/'.repeat(150)}b`, 'a/'.repeat(2000).concat('c'))).toBe(false);
});

test('a pattern names a directory only where it is written out', () => {
  const names = (pattern: string): boolean => {
    const parsed = parseGlob(pattern);
    return parsed.ok && parsed.glob.names('node_modules');
  };
  expect(names('node_modules/**')).toBe(true);
  expect(names('x/{a,node_modules}/*')).toBe(true);
  expect(names('**/*')).toBe(false);
  expect(names('node_*/a')).toBe(false);
});
