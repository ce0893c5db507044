import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryDesk } from '../../src/memory-desk.ts';
import { lookAtMemories } from '../../src/memory-look.ts';
import type { MemoryRequest } from '../../src/runtime/core/memory.ts';
import { threadEntry } from '../../src/thread-entry.ts';
import { calls, openStage } from '../support/troupe-fixture.ts';

const DYING = new URL('data:text/javascript,setImmediate(() => process.exit(3))');

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'troupe-memory-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const store = (key: string): MemoryRequest => ({
  type: 'store',
  as: { own: 'a', readable: ['a'] },
  callKey: `r/turn-1/${key}`,
  key,
  content: 'x',
  now: '2026-01-01T00:00:00.000Z',
});

describe('the thread of memories', () => {
  it('J7: that dies tells who waits that it may have happened, and the next request has a new one', async () => {
    const entries = [DYING, threadEntry('memory')];
    const desk = new MemoryDesk(join(dir, 'memory.db'), () => entries.shift() as URL);
    const lost = await Promise.allSettled([desk.ask(store('k1')), desk.ask(store('k2'))]);
    for (const each of lost) {
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { code: 'memory.unusable', retry: 'unsafe' },
      });
    }
    expect(await desk.ask(store('k1'))).toEqual({ type: 'stored', replaced: false });
    await desk.close();
    await expect(desk.ask(store('k3'))).rejects.toMatchObject({ retry: 'safe' });
  });

  it('answers requests in their order, and what was asked before it is closed', async () => {
    const desk = new MemoryDesk(join(dir, 'memory.db'));
    const asked = [
      desk.ask(store('k')),
      desk.ask({ ...store('k'), callKey: 'again' } as MemoryRequest),
    ];
    expect(await Promise.all(asked)).toEqual([
      { type: 'stored', replaced: false },
      { type: 'stored', replaced: true },
    ]);
    await desk.close();
  });
});

it('J8: a damaged file of memories is said with its place, costs no run anything else, and is left as it is', async () => {
  const stage = await openStage({ agents: { lead: {} }, troupe: { threads: 1 } });
  mkdirSync(join(stage.dir, 'state'), { recursive: true });
  const file = join(stage.dir, 'state', 'memory.db');
  writeFileSync(file, 'garbage '.repeat(1000));
  let read = '';
  stage.play({
    lead: ({ turn, results }) => {
      read = results[0] ?? read;
      return turn === 1
        ? calls({ name: 'memory_store', args: { key: 'k', content: 'x' } })
        : 'done';
    },
  });
  const { outcome } = await stage.run('lead');
  expect(outcome.status).toBe('completed');
  expect(read).toContain('memory.db');
  expect(read).toContain('move it away to begin anew');
  expect(() => lookAtMemories(join(stage.dir, 'state'))).toThrow('move it away to begin anew');
  await stage.close();
});
