import { describe, expect, test } from 'vitest';
import type { FileScope } from '../../../src/runtime/core/tool.ts';
import { judgeAll, judgePath, type PathMode } from '../../../src/tools/core/path-scope.ts';

const BASE: FileScope = {
  workspaceDir: '/ws',
  workspaceOnly: true,
  roots: ['/shared'],
  readRoots: ['/ref', '/ws/vendor'],
  writeRoots: ['/out'],
  forbidden: ['/ws/secret', '/shared/keys.txt'],
  protected: ['/ws/.troupe', '/ws/troupe.toml'],
};

const CASES: readonly (readonly [string, PathMode, string])[] = [
  ['/ws', 'read', 'ok'],
  ['/ws/', 'write', 'ok'],
  ['/ws/a/b/c.txt', 'write', 'ok'],
  ['/ws/./a//b', 'read', 'ok'],
  ['/ws/a/../b', 'read', 'ok'],
  ['/ws/..foo', 'read', 'ok'],
  ['/ws/...', 'read', 'ok'],
  ['/ws/ünïcode/文件', 'write', 'ok'],
  ['/ws2', 'read', 'outside'],
  ['/ws2/a', 'read', 'outside'],
  ['/w', 'read', 'outside'],
  ['/', 'read', 'outside'],
  ['/etc/passwd', 'read', 'outside'],
  ['/ws/../etc/passwd', 'read', 'outside'],
  ['/ws/a/../../etc', 'read', 'outside'],
  ['/ws/../ws2', 'read', 'outside'],
  ['/../../ws/a', 'read', 'ok'],
  ['/WS/a', 'read', 'outside'],
  ['', 'read', 'outside'],
  ['ws/a', 'read', 'outside'],
  ['./a', 'read', 'outside'],
  ['~', 'read', 'outside'],
  ['/ws/a\0/etc', 'read', 'outside'],
  [`/ws/${'a/'.repeat(3000)}`, 'read', 'outside'],
  ['/shared/a', 'write', 'ok'],
  ['/shared2/a', 'write', 'outside'],
  ['/shared/keys.txt', 'read', 'forbidden'],
  ['/shared/keys.txt', 'write', 'forbidden'],
  ['/shared/keys.txt.bak', 'read', 'ok'],
  ['/ws/secret', 'read', 'forbidden'],
  ['/ws/secret/deep/x', 'read', 'forbidden'],
  ['/ws/secret/../a', 'read', 'ok'],
  ['/ws/a/../secret/x', 'write', 'forbidden'],
  ['/ws/secrets', 'read', 'ok'],
  ['/ws/.troupe/journal.db', 'read', 'ok'],
  ['/ws/.troupe/journal.db', 'write', 'protected'],
  ['/ws/.troupe', 'write', 'protected'],
  ['/ws/.troupe2/x', 'write', 'ok'],
  ['/ws/x/../.troupe/journal.db', 'write', 'protected'],
  ['/ws/troupe.toml', 'write', 'protected'],
  ['/ws/troupe.toml', 'read', 'ok'],
  ['/ref/a', 'read', 'ok'],
  ['/ref/a', 'write', 'read-only'],
  ['/ws/vendor/a', 'read', 'ok'],
  ['/ws/vendor/a', 'write', 'read-only'],
  ['/ws/vendor/../a', 'write', 'ok'],
  ['/out/a', 'write', 'ok'],
  ['/out/a', 'read', 'write-only'],
  ['/proc/self/environ', 'read', 'outside'],
  ['/dev/mem', 'read', 'outside'],
];

const ODD: FileScope = { ...BASE, forbidden: ['/ws/caf\u00e9/Key', '/ws/stra\u00dfe', '/ws/k'] };

describe('X1: what is refused is so by every name that some file system takes for the same', () => {
  test.each([
    ['/ws/SECRET/key', 'read', 'forbidden'],
    ['/WS/secret/key', 'read', 'forbidden'],
    ['/ws/Secret', 'write', 'forbidden'],
    ['/ws/\u017fecret/key', 'read', 'forbidden'],
    ['/ws/se\u200bcret/key', 'read', 'forbidden'],
    ['/ws/secret./key', 'read', 'forbidden'],
    ['/ws/secret /key', 'read', 'forbidden'],
    ['/ws/.TROUPE/journal.db', 'write', 'protected'],
    ['/ws/Troupe.toml', 'write', 'protected'],
    ['/ws/.GIT/config', 'write', 'protected'],
    ['/ws/.g\u200cit/config', 'write', 'protected'],
    ['/ws/.git /config', 'write', 'protected'],
    ['/ws/GIT~1/config', 'write', 'protected'],
    ['/ws/.git::$INDEX_ALLOCATION/config', 'write', 'protected'],
    ['/ws/.TROUPE/journal.db', 'read', 'ok'],
    ['/ws/secrets', 'read', 'ok'],
    ['/ws/s\u0435cret', 'read', 'ok'],
    ['/ws/git/config', 'write', 'ok'],
    ['/ws/.gitignore', 'write', 'ok'],
    ['/ws/..', 'read', 'outside'],
    ['/ws/...', 'write', 'ok'],
  ] as const)('%j to %s is %s', (path, mode, expected) => {
    const verdict = judgePath(BASE, path, mode);
    expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected);
  });

  test.each([
    ['/ws/cafe\u0301/key', 'forbidden'],
    ['/ws/CAFE\u0301/KEY/x', 'forbidden'],
    ['/ws/STRASSE/x', 'forbidden'],
    ['/ws/\u212a', 'forbidden'],
    ['/ws/cafe/key', 'ok'],
  ] as const)('%j is %s', (path, expected) => {
    const verdict = judgePath(ODD, path, 'read');
    expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected);
  });
});

describe('a path is judged by its components, forbidden before protected before roots (X1)', () => {
  test.each(CASES)('%j to %s is %s', (path, mode, expected) => {
    const verdict = judgePath(BASE, path, mode);
    expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected);
    if (!verdict.ok) expect(verdict.words.length).toBeLessThan(700);
  });
});

const OPEN: FileScope = { ...BASE, workspaceOnly: false };

test.each([
  ['/etc/passwd', 'read', 'ok'],
  ['/tmp/x', 'write', 'ok'],
  ['/ref/a', 'write', 'read-only'],
  ['/out/a', 'read', 'write-only'],
  ['/ws/secret/a', 'read', 'forbidden'],
  ['/ws/.troupe/a', 'write', 'protected'],
  ['/proc/self/environ', 'read', 'outside'],
  ['/proc/1/root/etc/shadow', 'read', 'outside'],
  ['/sys/power/state', 'write', 'outside'],
  ['/dev/sda', 'write', 'outside'],
  ['/x/../proc/self/mem', 'read', 'outside'],
  ['/procession', 'read', 'ok'],
] as const)('without workspace_only %s to %s is %s', (path, mode, expected) => {
  const verdict = judgePath(OPEN, path, mode);
  expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected);
});

test('a workspace inside a directory of the kernel is a workspace', () => {
  const scope = { ...BASE, workspaceDir: '/dev/shm/ws' };
  expect(judgePath(scope, '/dev/shm/ws/a', 'write').ok).toBe(true);
  expect(judgePath(scope, '/dev/shm/other', 'read').ok).toBe(false);
});

test('where two kinds of root name the same directory the stricter one wins', () => {
  const scope = { ...BASE, roots: ['/both'], readRoots: ['/both/'] };
  expect(judgePath(scope, '/both/a', 'read').ok).toBe(true);
  expect(judgePath(scope, '/both/a', 'write')).toMatchObject({ reason: 'read-only' });
});

test('R9: every scope of the list must allow a path, and no scope at all allows nothing', () => {
  const narrow = { ...BASE, workspaceDir: '/ws/sub', roots: [], readRoots: [], writeRoots: [] };
  expect(judgeAll([BASE, narrow], '/ws/sub/a', 'read').ok).toBe(true);
  expect(judgeAll([BASE, narrow], '/ws/a', 'read')).toMatchObject({ reason: 'outside' });
  expect(judgeAll([narrow, BASE], '/ws/a', 'read')).toMatchObject({ reason: 'outside' });
  expect(judgeAll([], '/ws/a', 'read')).toMatchObject({ reason: 'outside' });
});
