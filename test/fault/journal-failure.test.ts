import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Troupe } from '../../src/host.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { gate } from '../support/model-server.ts';
import {
  calls,
  configOf,
  delegation,
  eventsIn,
  eventually,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

const UNWRITABLE = { code: 'journal.unwritable' };

/** From now on the journal's file refuses the first event of this type, as a full disk would. */
function breakJournal(stage: Stage, type: string): void {
  const db = openSqlite(join(stage.troupe.stateDir, 'journal.db'));
  db.exec(
    `CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.type = '${type}' BEGIN SELECT RAISE(ABORT, 'disk is full'); END`,
  );
  db.close();
}

async function open(): Promise<{ stage: Stage; log: string[] }> {
  const log: string[] = [];
  const stage = await openStage({
    agents: { lead: {}, worker: {} },
    troupe: {
      threads: 1,
      tools: [STAGE_TOOLS],
      onLog: (level, text) => log.push(`${level} ${text}`),
    },
  });
  onTestFinished(() => stage.drop());
  return { stage, log };
}

async function all(events: AsyncIterable<JournalEvent>): Promise<JournalEvent[]> {
  const seen: JournalEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe('a journal that cannot be written', () => {
  it('J4: every result, every note and every iteration of every run ends with journal.unwritable, and nothing is left going', async () => {
    const { stage, log } = await open();
    const mark = join(stage.dir, 'mark');
    const shut = gate();
    stage.play({
      lead: async ({ prompt, turn }) => {
        if (prompt === 'breaks') {
          await shut.opened;
          return 'the end';
        }
        return turn === 1
          ? calls(delegation('worker', 'spins'), delegation('worker', 'hangs'))
          : 'never';
      },
      worker: ({ prompt }) =>
        prompt === 'spins' ? calls({ name: 'spins', args: { mark } }) : { hang: true },
    });
    const tree = await stage.start('lead', 'waits');
    const breaks = await stage.start('lead', 'breaks');
    await eventually(() => {
      expect(stage.requestsOf('worker')).toHaveLength(2);
      expect(stage.troupe.stats().computing).toBe(1);
    });
    const note = await tree.note('hello');
    const ends = [
      tree.result(),
      breaks.result(),
      all(tree.events({ subtree: true })),
      all(breaks.events()),
      note.receipts,
      stage.troupe.run(`${tree.id}/delegate/01`)?.result(),
    ];
    const settled = Promise.allSettled(ends);
    breakJournal(stage, 'run.completed');
    shut.open();
    for (const end of await settled) {
      expect(end).toMatchObject({ status: 'rejected', reason: UNWRITABLE });
    }
    await expect(stage.start('lead')).rejects.toMatchObject(UNWRITABLE);
    await expect(tree.cancel()).rejects.toMatchObject(UNWRITABLE);
    const hanging = stage.requestsOf('worker').find(({ prompt }) => prompt === 'hangs');
    expect(await hanging?.closed).toBe(true);
    await stage.quiet();
    expect(log.filter((line) => line.startsWith('error'))).toHaveLength(1);
    await stage.troupe.close();
    const events = eventsIn(stage.troupe.stateDir);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.some(({ type }) => type === 'run.completed')).toBe(false);
  });

  it('J4: a call that could not be recorded is never made', async () => {
    const acted: string[] = [];
    const act = defineTool({
      name: 'act',
      description: 'acts',
      parameters: { type: 'object' },
      effect: 'effectful',
      run: () => {
        acted.push('acted');
        return 'acted';
      },
    });
    const stage = await openStage({
      agents: { lead: {} },
      troupe: { threads: 1, hostTools: [act] },
    });
    onTestFinished(() => stage.drop());
    stage.play({ lead: [calls({ name: 'act' }), 'done'] });
    breakJournal(stage, 'tool.started');
    const run = await stage.start('lead');
    await expect(run.result()).rejects.toMatchObject(UNWRITABLE);
    expect(acted).toEqual([]);
    await stage.troupe.close();
  });

  it('J4: a child whose launch could not be recorded never asks', async () => {
    const { stage } = await open();
    stage.play({ lead: calls(delegation('worker', 'x')), worker: 'never' });
    breakJournal(stage, 'delegation.started');
    const run = await stage.start('lead');
    await expect(run.result()).rejects.toMatchObject(UNWRITABLE);
    expect(stage.requestsOf('worker')).toEqual([]);
    await stage.quiet();
  });

  it('J4: a run whose very start cannot be recorded fails likewise, and close works at once', async () => {
    const { stage } = await open();
    stage.play({ lead: { hang: true } });
    breakJournal(stage, 'run.started');
    const run = await stage.start('lead');
    await expect(run.result()).rejects.toMatchObject(UNWRITABLE);
    await stage.troupe.close({ cancel: 'now' });
    expect(eventsIn(stage.troupe.stateDir)).toEqual([]);
  });

  it('J8: a journal that is damaged at the start is refused with its place, and the state directory is let go', async () => {
    const { stage } = await open();
    stage.play({ lead: 'done' });
    await stage.run('lead');
    const { stateDir } = stage.troupe;
    await stage.troupe.close();
    const file = join(stateDir, 'journal.db');
    const whole = readFileSync(file);
    const config = configOf({ agents: { lead: {} } }, stage.server.url);
    for (const bytes of [
      Buffer.from('not a database at all, but long enough '.repeat(200)),
      whole.subarray(0, 5000),
    ]) {
      writeFileSync(file, bytes);
      const thrown = await Troupe.open({ config, stateDir }).catch((fault: unknown) => fault);
      expect(thrown).toMatchObject({ code: 'journal.corrupt' });
      expect(String(thrown)).toContain(file);
    }
    writeFileSync(file, whole);
    const again = await Troupe.open({ config, stateDir });
    expect((await again.runs()).map(({ status }) => status)).toEqual(['completed']);
    await again.close();
  });
});
