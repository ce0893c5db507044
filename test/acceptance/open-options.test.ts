import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Troupe, type TroupeOptions } from '../../src/host.ts';

describe('L3: bad options of open are named, with what was found and what is expected', () => {
  it.each([
    [{ stateDri: 'x' }, "unknown option 'stateDri' (did you mean 'stateDir'?)"],
    [{ threads: 1e6 }, "'threads' must be a whole number from 1 to 64, found number 1000000"],
    [{ threads: '4' }, "'threads' must be a whole number from 1 to 64, found string 4"],
    [{ computeThreads: Number.NaN }, "'computeThreads' must be a whole number"],
    [{ stateDir: 5 }, "'stateDir' must be a path, found number 5"],
    [{ hostTools: [{}] }, "'hostTools' must be a list of tools made by defineTool"],
    [{ hostTools: [() => 1] }, "'hostTools' must be a list of tools made by defineTool"],
    [{ onApproval: 5 }, "'onApproval' must be a function"],
    [{ toString: 1 }, "unknown option 'toString'"],
    [null, 'open: expected an object, found null'],
  ])('%j', async (options, words) => {
    await expect(Troupe.open(options as unknown as TroupeOptions)).rejects.toMatchObject({
      code: 'argument.invalid',
      message: expect.stringContaining(words),
    });
  });

  it('and of start too', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'troupe-open-'));
    try {
      await using troupe = await Troupe.open({ config: {}, stateDir: join(dir, 'state') });
      for (const request of [undefined, null, 5, { agent: 'a', prompt: 'p', toString: 1 }]) {
        await expect(troupe.start(request as never)).rejects.toMatchObject({
          code: 'argument.invalid',
        });
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
