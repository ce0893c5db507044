import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ToolOutcome } from '../../src/runtime/core/tool.ts';
import { actorTools } from '../../src/tools/actor-tools.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
import { Shells } from '../../src/tools/shell.ts';
import { type HostileBox, hostileBox, SECRET, snapshotOf } from '../support/hostile-box.ts';
import { HOSTILE_ALLOWED, REFUSED_COMMANDS } from './refused-commands.ts';
import { REFUSED_PATHS } from './refused-paths.ts';

let box: HostileBox;
let shells: Shells;

beforeAll(() => {
  box = hostileBox();
  shells = new Shells('test');
});

afterAll(async () => {
  await shells.endAll();
  box.remove();
});

function call(name: string, args: JsonObject): Promise<ToolOutcome> {
  const tool = name === 'shell' ? shells.tool : actorTools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return invokeTool(tool, args, box.hostileContext(HOSTILE_ALLOWED));
}

function seen(outcome: ToolOutcome): object {
  const plain = (text: string | undefined): string => box.plain(text ?? '');
  if (outcome.ok) return { ok: true, text: plain(outcome.text) };
  const { errorType, effect } = outcome;
  return { errorType, effect, error: plain(outcome.error), text: plain(outcome.text) };
}

describe('X1: refused in these words, and nothing inside or outside of the workspace has changed', () => {
  let before: readonly string[];

  beforeAll(() => {
    before = snapshotOf(box.dir);
  });

  afterEach(() => expect(snapshotOf(box.dir)).toEqual(before));

  const paths = REFUSED_PATHS.flatMap(({ tool, errorType, error, args, paths }) =>
    paths.map((path) => {
      const words = path === null ? error : error.replaceAll('<asked>', JSON.stringify(path));
      const asked = path === null ? args : { ...args, path };
      return { tool, errorType, error: words, args: asked as JsonObject };
    }),
  );

  test.each(paths)('$tool $args', async ({ tool, args, errorType, error }) => {
    const outcome = seen(await call(tool, args));
    expect(outcome).toEqual({ errorType, effect: 'none', error, text: '' });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  const allowed = `${HOSTILE_ALLOWED.slice(0, 30).join(', ')}, …`;
  const lines = REFUSED_COMMANDS.flatMap(({ errorType, error, lines }) =>
    lines.map((line) => ({ line, errorType, error: error.replace('<allowed>', allowed) })),
  );

  test.each(lines)('shell $line', async ({ line, errorType, error }) => {
    const outcome = seen(await call('shell', { command: line, timeout_secs: 5 }));
    expect(outcome).toEqual({ errorType, effect: 'none', error, text: '' });
  });

  test('a table that lost its cases would prove nothing', () => {
    expect(paths.length).toBeGreaterThan(130);
    expect(lines.length).toBeGreaterThan(120);
  });
});

describe('what only looks like it is done', () => {
  test.each([
    ['file_read', { path: 'a.txt' }, 'inside'],
    ['file_read', { path: 'sub/../a.txt' }, 'inside'],
    ['file_read', { path: 'troupe.toml' }, 'own'],
    ['file_read', { path: '.git/config' }, 'git'],
    ['file_read', { path: 'ro/r.txt' }, 'read only'],
    ['file_write', { path: '..a', content: 'x' }, 'Created ..a (1 bytes)'],
    ['file_write', { path: '...', content: 'x' }, 'Created ... (1 bytes)'],
    ['file_write', { path: 'vaults/key', content: 'x' }, 'Created vaults/key (1 bytes)'],
    ['file_write', { path: 'v\u0430ult/key', content: 'x' }, 'Created v\u0430ult/key (1 bytes)'],
    ['file_write', { path: '.gitignore', content: 'x' }, 'Created .gitignore (1 bytes)'],
    ['file_write', { path: '.troupe2', content: 'x' }, 'Created .troupe2 (1 bytes)'],
    ['file_write', { path: 'wo/new.txt', content: 'x' }, 'Created wo/new.txt (1 bytes)'],
    ['file_write', { path: '%2e%2e', content: 'x' }, 'Created %2e%2e (1 bytes)'],
    ['file_write', { path: '..\\x', content: 'x' }, 'Created ..\\x (1 bytes)'],
    [
      'file_edit',
      { path: 'a.txt', old_text: 'inside', new_text: 'x' },
      'Replaced 1 occurrence in a.txt (now 1 bytes)',
    ],
    ['glob_search', { pattern: 'sub/b*' }, 'sub/b.txt'],
    ['content_search', { pattern: 'inside' }, 'sub/b.txt:1: inside'],
    ['shell', { command: 'cat a.txt sub/b.txt' }, 'exit code: 0\nstdout:\nxinside'],
    ['shell', { command: 'cat s*b/b.txt' }, 'exit code: 0\nstdout:\ninside'],
    ['shell', { command: 'cat troupe.toml' }, 'exit code: 0\nstdout:\nown'],
    ['shell', { command: 'echo "vaults; rm -rf /" | cat' }, 'vaults; rm -rf /'],
    ['shell', { command: "echo 'eval $(vim) `x`'" }, 'eval $(vim) `x`'],
    ['shell', { command: 'A=sub; cat $A/b.txt' }, 'inside'],
    ['shell', { command: 'cat ~/sub/b.txt' }, 'inside'],
    ['shell', { command: 'grep -r inside sub' }, 'sub/b.txt:inside'],
    ['shell', { command: 'echo x > sub/new.txt' }, 'exit code: 0\n(no output)'],
    ['shell', { command: 'rm sub/new.txt' }, 'exit code: 0\n(no output)'],
    ['shell', { command: 'cp a.txt b.txt' }, 'exit code: 0\n(no output)'],
    ['shell', { command: 'find . -name vaults' }, './vaults'],
  ] as const)('%s %j', async (name, args, text) => {
    const outcome = seen(await call(name, args));
    expect(outcome).toMatchObject({ ok: true, text: expect.stringContaining(text) });
  });
});
