import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import {
  calls,
  delegation,
  eventsIn,
  eventually,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

async function open(threads: number): Promise<{ stage: Stage; log: string[] }> {
  const log: string[] = [];
  const stage = await openStage({
    agents: { lead: {}, worker: {} },
    troupe: { threads, tools: [STAGE_TOOLS], onLog: (level, text) => log.push(`${level} ${text}`) },
  });
  onTestFinished(() => stage.drop());
  return { stage, log };
}

describe('an actor thread that dies under its runs', () => {
  it('J7: a run whose tool ends it again and again fails as actor_crashed with an uncertain call, and the next run works', async () => {
    const { stage, log } = await open(1);
    stage.play({ lead: calls({ name: 'leaves' }) });
    const { run, outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({ status: 'failed', effect: 'uncertain' });
    expect(outcome.error).toMatchObject({
      code: 'actor_crashed',
      message: expect.stringMatching(/^the thread that ran it ended: .*code 3/),
    });
    const failures = ofType(events, 'tool.failed').map(({ data }) => data['error_type']);
    expect(failures).toEqual(['interrupted', 'interrupted', 'interrupted', 'cancelled']);
    expect(log.join('\n')).toContain(run.id);
    stage.play({ lead: [calls({ name: 'say', args: { text: 'x' } }), 'works'] });
    expect((await stage.run('lead')).outcome.answer).toBe('works');
    await stage.quiet();
    audit(await stage.events());
  });

  it('J7: a child that ends its thread again and again fails alone, and its parent reads that and goes on', async () => {
    const { stage } = await open(2);
    const shut = gate();
    let read: readonly string[] = [];
    stage.play({
      lead: async ({ turn, results }) => {
        if (turn > 1) {
          read = results;
          return 'done';
        }
        return calls(delegation('worker', 'leaves'));
      },
      worker: async () => {
        await shut.opened;
        return calls({ name: 'leaves' });
      },
    });
    const run = await stage.start('lead');
    await stage.sees(({ type, run_id }) => type === 'model.started' && run_id !== run.id, run.id);
    shut.open();
    const { outcome, events } = await stage.end(run);
    expect(outcome.status).toBe('completed');
    expect(read[0]).toMatch(/^Agent 'worker' failed: the thread that ran it ended: .*\nWarning: /);
    expect(ofType(ofRun(events, run.id), 'delegation.failed')[0]?.data).toMatchObject({
      error_type: 'actor_crashed',
      effect: 'uncertain',
    });
    await stage.quiet();
    audit(await stage.events());
  });

  it('R11: more deaths than the pool replaces fail the runs that come after, in words, and never hang start, result or close', async () => {
    const { stage } = await open(1);
    stage.play({ lead: calls({ name: 'leaves' }) });
    const ends: string[] = [];
    // Each run ends two threads that it shares before it has its own.
    for (let round = 0; round < 17; round += 1) {
      const { outcome } = await stage.run('lead');
      expect(outcome.status).toBe('failed');
      ends.push(`${outcome.error?.code}: ${outcome.error?.message}`);
    }
    for (const end of ends) expect(end).toMatch(/^actor/);
    expect(ends.at(-1)).toContain('the actor pool gave up');
    await stage.quiet();
    audit(await stage.events());
    await stage.troupe.close();
  }, 180_000);

  it('J7: what a tool leaves behind and fails later hits its own run at most, and no other run of that thread', async () => {
    const { stage } = await open(1);
    const shut = gate();
    stage.play({
      lead: async ({ prompt, turn }) => {
        if (prompt === 'leaves') {
          if (turn === 1) return calls({ name: 'leaves_timer' });
          await stage.sees(({ type }) => type === 'run.resumed');
          return 'went on';
        }
        await shut.opened;
        return turn === 1 ? calls({ name: 'say', args: { text: 'x' } }) : 'unharmed';
      },
    });
    const other = await stage.start('lead', 'calm');
    const { outcome, events, run } = await stage.run('lead', 'leaves');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'went on' });
    expect(ofType(ofRun(events, run.id), 'run.resumed')[0]?.data).toMatchObject({
      why: 'thread_lost',
      suspect: true,
      detail: expect.stringContaining('left behind'),
    });
    shut.open();
    const calm = await stage.end(other);
    expect(calm.outcome).toMatchObject({ status: 'completed', answer: 'unharmed' });
    expect(ofType(calm.events, 'run.resumed')).toEqual([]);
    await stage.quiet();
    audit(await stage.events());
  });

  it('J7: the same on a compute thread harms no later call', async () => {
    const { stage } = await open(1);
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls({ name: 'leaves_timer_compute' });
        if (turn < 8) return calls({ name: 'long_on_compute', args: { count: turn } });
        return results.join();
      },
    });
    const { outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'xxxxxxx' });
    expect(ofType(events, 'tool.failed')).toEqual([]);
    await stage.quiet();
  });

  it('N3: a tool that never yields on the thread of its run cannot hold up its cancel, runs elsewhere go on, and the thread is replaced', async () => {
    const stage = await openStage({
      agents: { lead: {} },
      blocks: { runtime: { stop_grace_secs: 0.2 } },
      troupe: { threads: 2, tools: [STAGE_TOOLS] },
    });
    onTestFinished(() => stage.drop());
    const mark = join(stage.dir, 'mark');
    stage.play({
      lead: ({ prompt, turn }) => {
        if (prompt === 'spins') return calls({ name: 'spins_here', args: { mark } });
        return turn === 1 ? calls({ name: 'say', args: { text: 'x' } }) : 'goes on';
      },
    });
    const run = await stage.start('lead', 'spins');
    await eventually(() => expect(existsSync(mark)).toBe(true));
    expect((await stage.run('lead', 'calm')).outcome.answer).toBe('goes on');
    expect(await run.cancel()).toBe('cancelled');
    expect(await run.result()).toMatchObject({ status: 'cancelled', effect: 'uncertain' });
    await stage.quiet();
    expect(stage.troupe.stats().actorThreads).toBe(2);
    expect((await stage.run('lead', 'calm')).outcome.answer).toBe('goes on');
    audit(await stage.events());
  });

  it('L2: close with cancel is bounded, whatever the tools do', async () => {
    const { stage } = await open(1);
    const mark = join(stage.dir, 'mark');
    stage.play({
      lead: calls({ name: 'deaf', args: { mark } }, { name: 'spins', args: { mark: `${mark}2` } }),
    });
    const run = await stage.start('lead');
    await eventually(() => expect(existsSync(mark) && existsSync(`${mark}2`)).toBe(true));
    await stage.troupe.close({ cancel: 'shutting down' });
    expect(await run.result()).toMatchObject({ status: 'cancelled', reason: 'shutting down' });
    audit(eventsIn(stage.troupe.stateDir));
  });
});
