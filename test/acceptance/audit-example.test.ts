import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';

const config = fileURLToPath(new URL('../../examples/audit/troupe.toml', import.meta.url));
const source = fileURLToPath(new URL('../../src', import.meta.url));

describe('the audit example', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'troupe-audit-'));
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('asks three specialists at once and reports what their tools found', async () => {
    await using troupe = await Troupe.open({ config, stateDir: join(dir, 'state') });
    const run = await troupe.start({ agent: 'lead', prompt: 'Audit src/.', workspace: source });
    const outcome = await run.result();
    expect(outcome.error).toBeUndefined();
    expect(outcome.status).toBe('completed');
    expect(outcome.answer).toContain('## Structure');
    expect(outcome.answer).toContain('## Duplicates');
    expect(outcome.answer).toContain('## Open ends');
    const tree = await troupe.tree(run.id);
    expect(tree.children.map((child) => child.agent_id).sort()).toEqual([
      'duplicates',
      'open-ends',
      'structure',
    ]);
  });
});
