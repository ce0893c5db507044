import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { audit } from '../support/sim-world.ts';

const config = fileURLToPath(new URL('../../examples/plan-review/troupe.toml', import.meta.url));
const source = fileURLToPath(new URL('../../src/base', import.meta.url));

describe('the plan-review example', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'troupe-plan-'));
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('P8: the reviewer sends the numbers back once, and the QA task reads the second answer', async () => {
    await using troupe = await Troupe.open({ config, stateDir: join(dir, 'state') });
    const run = await troupe.start({ agent: 'lead', prompt: 'Describe it.', workspace: source });
    const outcome = await run.result();
    expect(outcome.error).toBeUndefined();
    expect(outcome.answer).toMatch(/of them comments/);
    const events: JournalEvent[] = [];
    for await (const event of run.events({ subtree: true })) events.push(event);
    audit(events);
    const started = events.filter((event) => event.type === 'plan.task.started');
    expect(started.map((event) => event.data['task_id'])).toEqual([
      'layout',
      'numbers',
      'review',
      'numbers',
      'review',
      'qa',
    ]);
    const completed = events.find((event) => event.type === 'plan.completed');
    expect(completed?.data['statuses']).toEqual({
      layout: 'completed',
      numbers: 'completed',
      review: 'completed',
      qa: 'completed',
    });
  });
});
