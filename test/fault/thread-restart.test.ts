import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { gate } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import {
  calls,
  delegate,
  eventually,
  ofRun,
  ofType,
  openStage,
  type Stage,
} from '../support/troupe-fixture.ts';

const MORTAL_TOOLS = new URL('../../build/test-threads/mortal-tools.js', import.meta.url);

async function open(threads = 1): Promise<Stage> {
  const stage = await openStage({
    agents: { lead: {}, worker: {}, calm: {} },
    troupe: { threads, tools: [MORTAL_TOOLS] },
  });
  onTestFinished(() => stage.close());
  return stage;
}

/** A call that ends its thread the first `times` times. */
function dying(stage: Stage, how: string, times: number, name = 'dies') {
  return calls({ name, args: { log: join(stage.dir, 'starts'), how, times: String(times) } });
}

/** The thread of each start of a dying call. */
function startsIn(stage: Stage): string[] {
  const log = join(stage.dir, 'starts');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}

function lossesOf(events: readonly JournalEvent[], runId: string): JournalEvent[] {
  return ofType(ofRun(events, runId), 'run.resumed');
}

/** Holds every new thread to a small heap. */
function smallHeap(): void {
  setFlagsFromString('--max-old-space-size=96');
  onTestFinished(() => setFlagsFromString('--max-old-space-size=0'));
}

describe('a run whose thread is lost', () => {
  it.each(['exit', 'throw', 'memory'])(
    'J7: by %s, goes on elsewhere from where it was, and its model is asked nothing twice',
    async (how) => {
      if (how === 'memory') smallHeap();
      const stage = await open();
      stage.play({
        lead: ({ turn, results }) => (turn === 1 ? dying(stage, how, 1) : `read: ${results[0]}`),
      });
      const { run, outcome, events } = await stage.run('lead');
      expect(outcome).toMatchObject({ status: 'completed', answer: 'read: survived after 1' });
      const [loss, ...more] = lossesOf(events, run.id);
      expect(more).toEqual([]);
      expect(loss?.data).toMatchObject({ why: 'thread_lost', suspect: true });
      expect(stage.requestsOf('lead')).toHaveLength(2);
      expect(startsIn(stage)).toHaveLength(2);
      expect(ofType(events, 'tool.started')).toHaveLength(1);
    },
  );

  it('J7: every time, fails alone as actor_crashed after three restarts, and its parent goes on', async () => {
    const stage = await open();
    let read = '';
    stage.play({
      lead: ({ turn, results }) => {
        read = results[0] ?? '';
        return turn === 1 ? delegate('worker', 'die') : 'went on';
      },
      worker: () => dying(stage, 'exit', 99),
    });
    const { run, outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'went on' });
    expect(read).toMatch(/^Agent 'worker' failed: the thread that ran it ended: /);
    const child = `${run.id}/delegate/01`;
    expect(startsIn(stage)).toHaveLength(4);
    expect(lossesOf(events, child)).toHaveLength(3);
    expect(ofType(ofRun(events, child), 'run.failed')[0]?.data).toMatchObject({
      error_type: 'actor_crashed',
      by: 'runtime',
    });
  });

  it('J7: takes its neighbours along at most twice, then has a thread of its own', async () => {
    const stage = await open();
    const shut = gate();
    const until = join(stage.dir, 'until');
    const began = join(stage.dir, 'began');
    stage.play({
      lead: () => dying(stage, 'exit', 99),
      calm: async ({ turn, prompt }) => {
        if (prompt === 'asks') {
          await shut.opened;
          return 'unharmed';
        }
        return turn === 1 ? calls({ name: 'waits', args: { began, until } }) : 'unharmed';
      },
    });
    const asking = await stage.start('calm', 'asks');
    const reading = await stage.start('calm', 'reads');
    await eventually(() => expect(existsSync(began)).toBe(true));
    const poison = await stage.run('lead');
    expect(poison.outcome).toMatchObject({ status: 'failed', error: { code: 'actor_crashed' } });
    shut.open();
    writeFileSync(until, '');
    for (const run of [asking, reading]) {
      const { outcome, events } = await stage.end(run);
      expect(outcome).toMatchObject({ status: 'completed', answer: 'unharmed' });
      expect(lossesOf(events, run.id)).toHaveLength(2);
    }
    const threads = startsIn(stage);
    expect(threads).toHaveLength(4);
    expect(new Set(threads).size, 'each start is on a fresh thread').toBe(4);
  });

  it('J5, J7: is told that its effectful call may have happened, and that call is not made again', async () => {
    const stage = await open();
    const began = join(stage.dir, 'began');
    let told = '';
    stage.play({
      calm: ({ turn, results }) => {
        if (turn === 1) {
          return calls({ name: 'waits_acting', args: { began, until: join(stage.dir, 'never') } });
        }
        told = results[0] ?? '';
        return 'asked the world instead';
      },
      lead: ({ turn }) => (turn === 1 ? dying(stage, 'exit', 1) : 'alive'),
    });
    const acting = await stage.start('calm');
    await eventually(() => expect(existsSync(began)).toBe(true));
    expect((await stage.run('lead')).outcome.answer).toBe('alive');
    const { outcome, events } = await stage.end(acting);
    expect(outcome).toMatchObject({ status: 'completed', effect: 'uncertain' });
    expect(told).toContain("the thread was lost while 'waits_acting' was running");
    expect(told).toContain('it was not repeated');
    expect(ofType(events, 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'interrupted',
      effect: 'uncertain',
    });
    expect(readFileSync(began, 'utf8')).toBe(`${acting.id}/turn-1/call-1\n`);
  });

  it('N1, J7: still reads its notes afterwards, and still can be cancelled', async () => {
    const stage = await open();
    const until = join(stage.dir, 'until');
    const began = join(stage.dir, 'began');
    let heard: readonly (string | null)[] = [];
    stage.play({
      lead: ({ turn }) =>
        turn === 1
          ? dying(stage, 'exit', 1)
          : calls({ name: 'waits', args: { began, until: join(stage.dir, 'never') } }),
      calm: ({ turn, request }) => {
        if (turn === 1) return calls({ name: 'waits', args: { began: `${began}2`, until } });
        heard = request.messages.map((message) => message.content);
        return 'heard it';
      },
    });
    const noted = await stage.start('calm');
    await eventually(() => expect(existsSync(`${began}2`)).toBe(true));
    const run = await stage.start('lead');
    await stage.sees(({ type, run_id }) => type === 'run.resumed' && run_id === noted.id);
    await noted.note('mind the gap');
    await eventually(() => expect(existsSync(began)).toBe(true));
    expect(await run.cancel('enough')).toBe('cancelled');
    expect(await run.result()).toMatchObject({ status: 'cancelled', reason: 'enough' });
    writeFileSync(until, '');
    expect(await noted.result()).toMatchObject({ status: 'completed', answer: 'heard it' });
    expect(heard).toContain('mind the gap');
  });

  it('J7: a whole tree on the one thread that died goes on, and every run of it ends once', async () => {
    const stage = await open();
    const asked = gate();
    let waiting = 0;
    stage.play({
      lead: ({ turn }) =>
        turn === 1
          ? calls(
              ...['dies', 'w1', 'w2'].map((prompt) => ({
                name: 'delegate',
                args: { agent_id: 'worker', prompt },
              })),
            )
          : 'all back',
      worker: async ({ prompt, turn }) => {
        if (prompt !== 'dies') {
          waiting += 1;
          if (waiting === 2) asked.open();
          return waiting > 2 ? 'back' : { hang: true };
        }
        await asked.opened;
        return turn === 1 ? dying(stage, 'exit', 1) : 'back';
      },
    });
    const { run, outcome, events } = await stage.run('lead');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'all back' });
    audit(events);
    expect(ofType(events, 'run.started')).toHaveLength(4);
    expect(ofType(events, 'run.completed')).toHaveLength(4);
    expect(lossesOf(events, run.id)).toHaveLength(1);
  });
});
