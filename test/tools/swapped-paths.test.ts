import { linkSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { FileScope, ToolOutcome } from '../../src/runtime/core/tool.ts';
import { actorTools } from '../../src/tools/actor-tools.ts';
import { invokeTool } from '../../src/tools/invoke-tool.ts';
import { type Scratch, scratch } from '../support/tool-scratch.ts';

let box: Scratch;

beforeEach(() => {
  box = scratch();
  box.file('ws/sub/deep/a.txt', 'inside');
  box.file('outside/deep/a.txt', 'SECRET');
});

afterEach(() => box.remove());

function call(name: string, args: JsonObject, scope: FileScope): Promise<ToolOutcome> {
  const tool = actorTools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return invokeTool(tool, args, {
    ...box.context(),
    scope: { ...box.context().scope, files: [scope] },
  });
}

/** A scope that does something at the n-th time that a path is judged by it: between any check and what follows it. */
function scopeThat(acts: () => void, time: number): { scope: FileScope; judged: () => number } {
  let judged = 0;
  const scope = {
    ...box.scope,
    get forbidden(): readonly string[] {
      judged += 1;
      if (judged === time) acts();
      return [];
    },
  };
  return { scope, judged: () => judged };
}

const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['file_read', { path: 'sub/deep/a.txt' }],
  ['file_write', { path: 'sub/deep/a.txt', content: 'PWNED' }],
  ['file_write', { path: 'sub/deep/new/b.txt', content: 'PWNED' }],
  ['file_edit', { path: 'sub/deep/a.txt', old_text: 'SECRET', new_text: 'PWNED' }],
  ['content_search', { pattern: 'SECRET', path: 'sub' }],
  ['list_dir', { path: 'sub/deep', depth: 3 }],
  ['glob_search', { pattern: '**/*', path: 'sub' }],
];

describe('X1: a directory that becomes a symlink between a check and what follows it', () => {
  const swaps: readonly (readonly [string, () => void])[] = [
    [
      'its parent',
      () => {
        renameSync(join(box.ws, 'sub'), join(box.dir, 'away'));
        symlinkSync('../outside', join(box.ws, 'sub'));
      },
    ],
    [
      'the folder itself',
      () => {
        renameSync(join(box.ws, 'sub/deep'), join(box.dir, 'away'));
        symlinkSync('../../outside/deep', join(box.ws, 'sub/deep'));
      },
    ],
    [
      'the workspace',
      () => {
        renameSync(box.ws, join(box.dir, 'away'));
        box.file('outside/sub/deep/a.txt', 'SECRET');
        box.file('outside/sub/deep/only.txt', 'there');
        symlinkSync('outside', box.ws);
      },
    ],
  ];
  describe.each(swaps)('%s', (_name, swap) => {
    test.each(CALLS)(
      '%s %j reads and writes nothing outside, whenever it comes',
      async (name, args) => {
        let times = 0;
        for (let time = 1; time <= Math.max(times, 1); time += 1) {
          box.remove();
          box = scratch();
          box.file('ws/sub/deep/a.txt', 'inside');
          box.file('outside/deep/a.txt', 'SECRET');
          box.file('outside/deep/only.txt', 'there');
          const { scope, judged } = scopeThat(swap, time);
          const outcome = await call(name, args, scope);
          times = Math.max(times, Math.min(judged(), 20));
          expect(`${time} ${outcome.text}`).not.toMatch(/SECRET$|: SECRET|only/m);
          expect(readFileSync(join(box.dir, 'outside/deep/a.txt'), 'utf8')).toBe('SECRET');
          expect(readdirSync(join(box.dir, 'outside/deep'))).toEqual(['a.txt', 'only.txt']);
        }
        expect(times).toBeGreaterThan(1);
      },
    );
  });

  test('is named as what it is', async () => {
    const { scope } = scopeThat(() => {
      renameSync(join(box.ws, 'sub'), join(box.dir, 'away'));
      symlinkSync('../outside', join(box.ws, 'sub'));
    }, 2);
    expect(await call('file_read', { path: 'sub/deep/a.txt' }, scope)).toEqual({
      ok: false,
      errorType: 'path_changed',
      error: '"sub/deep/a.txt" was replaced while it was being opened',
      effect: 'none',
    });
  });
});

describe('X1: a hard link of a forbidden file', () => {
  const scope = (): FileScope => ({
    ...box.scope,
    forbidden: [join(box.ws, 'vault'), join(box.dir, 'outside/key')],
  });

  beforeEach(() => {
    box.file('ws/vault/in/secret.js', 'const SECRET = 1;');
    box.file('outside/key', 'SECRET');
    linkSync(join(box.ws, 'vault/in/secret.js'), join(box.ws, 'copy.js'));
    linkSync(join(box.dir, 'outside/key'), join(box.ws, 'key.txt'));
    box.file('outside/shared', 'a package');
    linkSync(join(box.dir, 'outside/shared'), join(box.ws, 'package.txt'));
  });

  test.each(['copy.js', 'key.txt'])('%s is not read', async (path) => {
    expect(await call('file_read', { path }, scope())).toEqual({
      ok: false,
      errorType: 'forbidden_path',
      error: `"${path}" is a hard link of a forbidden file (forbidden_paths)`,
      effect: 'none',
    });
    const edit = { path, old_text: 'SECRET', new_text: 'x' };
    expect(await call('file_edit', edit, scope())).toMatchObject({ errorType: 'forbidden_path' });
  });

  test('is not searched', async () => {
    const outcome = await call('content_search', { pattern: 'SECRET', literal: true }, scope());
    expect(outcome.text).not.toContain('SECRET');
    expect(outcome.text).toContain('2 unreadable');
  });

  test('while one of any other file is read, and none is written', async () => {
    expect(await call('file_read', { path: 'package.txt' }, scope())).toEqual({
      ok: true,
      text: 'a package',
    });
    const write = { path: 'package.txt', content: 'x' };
    expect(await call('file_write', write, scope())).toMatchObject({ errorType: 'hard_link' });
  });

  test('among more forbidden files than are looked at, none with several names is read', async () => {
    for (let i = 0; i < 5001; i += 1) box.file(`ws/vault/many/${i}`, '');
    expect(await call('file_read', { path: 'package.txt' }, scope())).toMatchObject({
      errorType: 'forbidden_path',
      error: '"package.txt" has 2 names, and below forbidden_paths are more than 5000 entries',
    });
    expect(await call('file_read', { path: 'sub/deep/a.txt' }, scope())).toMatchObject({
      ok: true,
    });
  });
});
