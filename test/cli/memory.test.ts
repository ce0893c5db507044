import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCli } from '../support/cli-fixture.ts';
import { calls } from '../support/troupe-fixture.ts';

const store = (key: string, content: string) =>
  calls({ name: 'memory_store', args: { key, content } });

describe('troupe memory', () => {
  it('X4, K2: lists what agents remember, without a host, and takes away what it is told to', async () => {
    const stage = await openCli();
    expect(await stage.cli('memory')).toMatchObject({ code: 0, out: '', err: 'no memories\n' });
    stage.play({
      quick: [store('port', 'it is 8080\u001b[2J\nand no other'), 'done'],
      worker: [store('colour', 'blue'), 'done'],
    });
    await stage.cli('run', 'quick', 'go');
    await stage.cli('run', 'worker', 'go');
    const { out } = await stage.cli('memory');
    expect(out).toMatch(/^AGENT +STORED +KEY +CONTENT\n/);
    expect(out).toMatch(/^quick +\S+ \S+ +port +it is 8080/m);
    expect(out).toMatch(/^worker +\S+ \S+ +colour +blue$/m);
    expect(out).not.toContain('\u001b[2J');
    expect(out.split('\n')).toHaveLength(4);
    const listed = await stage.cli('--json', 'memory', '--agent', 'worker');
    expect(JSON.parse(listed.out)).toMatchObject([
      { agent_id: 'worker', key: 'colour', content: 'blue' },
    ]);
    const gone = await stage.cli('memory', 'forget', 'worker', 'colour');
    expect(gone).toMatchObject({ code: 0, err: 'forgot "colour" of worker\n' });
    expect(await stage.cli('memory', 'forget', 'worker', 'colour')).toMatchObject({
      code: 2,
      err: "error: agent 'worker' has no memory 'colour'\n",
    });
    expect(statSync(join(stage.dir, '.troupe', 'memory.db')).mode & 0o777).toBe(0o600);
  });
});
