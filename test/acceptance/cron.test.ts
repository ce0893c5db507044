import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/actors/system-clock.ts';
import { type Fault, Troupe, type TroupeOptions } from '../../src/index.ts';
import { auditJournal } from '../../src/runtime/core/audit.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { gate, type ModelServer, startModelServer } from '../support/model-server.ts';
import { calls, configOf, eventsIn, eventually, ofType } from '../support/troupe-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A whole number of waits before every time that a job here is due. */
const START = Date.parse('2026-03-02T12:00:30Z');

/** How long the schedule waits at most before it looks at the clock again. */
const LOOK_AGAIN_MS = 30_000;

/** The test turns what the schedule waits for; heartbeats of threads and limits of requests go by real time. */
class Calendar extends TurnedClock {
  override after(ms: number, fn: () => void): () => void {
    return ms === LOOK_AGAIN_MS ? super.after(ms, fn) : systemClock.after(ms, fn);
  }
}

/** A folder and a model server that hosts come and go in. */
class Place {
  readonly clock = new Calendar(START);
  readonly server: ModelServer;
  readonly dir: string;
  readonly logged: { level: string; text: string; fields: object }[] = [];

  constructor(server: ModelServer, dir: string) {
    this.server = server;
    this.dir = dir;
  }

  get state(): string {
    return join(this.dir, 'state');
  }

  async open(jobs: readonly object[], more: Partial<TroupeOptions> = {}, agents = {}) {
    const base = configOf({ agents: { lead: {}, ...agents } }, this.server.url);
    const troupe = await Troupe.open({
      config: { ...base, cron: jobs },
      stateDir: this.state,
      clock: this.clock,
      cron: true,
      onLog: (level, text, fields) => this.logged.push({ level, text, fields: fields ?? {} }),
      ...more,
    });
    onTestFinished(() => troupe.close({ cancel: 'the test is over' }));
    return troupe;
  }

  /** From now on the model answers once the gate is open. */
  answersLate(): ReturnType<typeof gate> {
    const answer = gate();
    this.server.on(async () => {
      await answer.opened;
      return 'done';
    });
    return answer;
  }

  /** Of a journal that no host has open any more, and that the doctor finds sound. */
  events(): JournalEvent[] {
    const events = eventsIn(this.state);
    expect(auditJournal(events).filter(({ severity }) => severity === 'error')).toEqual([]);
    return events;
  }
}

async function openPlace(): Promise<Place> {
  const server = await startModelServer();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-cron-')));
  onTestFinished(async () => {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  server.on(() => 'done');
  return new Place(server, dir);
}

const hourly = (more: object = {}) => ({
  id: 'hourly',
  schedule: '0 * * * *',
  time_zone: 'UTC',
  agent: 'lead',
  prompt: 'look around',
  ...more,
});

const idle = (troupe: Troupe) => eventually(() => expect(troupe.stats().runs).toBe(0));

function duesOf(events: readonly JournalEvent[]): (string | null)[] {
  return ofType(events, 'run.started')
    .filter(({ parent_run_id }) => parent_run_id === null)
    .map(({ data }) => {
      const { due_at_ms } = data['cron'] as { due_at_ms: number | null };
      return due_at_ms === null ? null : new Date(due_at_ms).toISOString().slice(11, 16);
    });
}

describe('jobs of [[cron]]', () => {
  it('X5: start when they are due, as root runs of their own kind', async () => {
    const place = await openPlace();
    const troupe = await place.open([hourly(), hourly({ id: 'off', enabled: false })]);
    place.clock.turn(59 * MINUTE);
    expect(troupe.stats().runs).toBe(0);
    place.clock.turn(MINUTE);
    expect(troupe.stats().runs).toBe(1);
    await idle(troupe);
    place.clock.turn(HOUR);
    await idle(troupe);
    await troupe.close();
    const events = place.events();
    expect(duesOf(events)).toEqual(['13:00', '14:00']);
    const [started] = ofType(events, 'run.started');
    expect(started?.parent_event_id).toBeNull();
    expect(started?.data).toMatchObject({
      origin: 'cron',
      depth: 0,
      prompt: 'look around',
      session_key: expect.stringMatching(/^cron-[0-9a-f-]{36}$/),
      cron: { job_id: 'hourly', schedule: '0 * * * *', time_zone: 'UTC' },
    });
    expect(place.logged[0]).toMatchObject({
      level: 'info',
      fields: {
        span: 'subagent',
        category: 'cron',
        agent_alias: 'lead',
        cron_job_id: 'hourly',
        run_id: started?.run_id,
        session_key: started?.data['session_key'],
        spawn_site: 'cron',
      },
    });
  });

  it('X5: a time that comes while the last run still goes on is skipped and journaled', async () => {
    const place = await openPlace();
    const answer = place.answersLate();
    const troupe = await place.open([hourly()]);
    place.clock.turn(HOUR);
    expect(troupe.stats().runs).toBe(1);
    place.clock.turn(HOUR);
    place.clock.turn(HOUR);
    expect(troupe.stats().runs).toBe(1);
    answer.open();
    await idle(troupe);
    place.clock.turn(HOUR);
    await idle(troupe);
    await troupe.close();
    const events = place.events();
    expect(duesOf(events)).toEqual(['13:00', '16:00']);
    const skipped = ofType(events, 'run.cron_skipped');
    expect(skipped.map(({ data }) => data['due_at_ms'])).toEqual(
      ['2026-03-02T14:00Z', '2026-03-02T15:00Z'].map((text) => Date.parse(text)),
    );
    const [first] = ofType(events, 'run.started');
    expect(skipped.map(({ parent_event_id }) => parent_event_id)).toEqual(
      skipped.map(() => first?.event_id),
    );
    expect(place.logged.map(({ level }) => level)).toEqual(['info', 'warn', 'warn', 'info']);
  });

  it('X5: however many times passed without a host, the next host runs the job once', async () => {
    const place = await openPlace();
    const first = await place.open([hourly()]);
    place.clock.turn(HOUR);
    await idle(first);
    await first.close();
    place.clock.turn(7 * HOUR + 10 * MINUTE);
    const second = await place.open([hourly()]);
    await idle(second);
    place.clock.turn(10 * MINUTE);
    await idle(second);
    await second.close();
    const third = await place.open([hourly()]);
    await idle(third);
    await third.close();
    expect(duesOf(place.events())).toEqual(['13:00', '20:00']);
  });

  it('X5: a skipped time was not missed: the next host does not run it', async () => {
    const place = await openPlace();
    const answer = place.answersLate();
    const first = await place.open([hourly()]);
    place.clock.turn(2 * HOUR);
    answer.open();
    await idle(first);
    await first.close();
    const second = await place.open([hourly()]);
    await idle(second);
    await second.close();
    const events = place.events();
    expect(duesOf(events)).toEqual(['13:00']);
    expect(ofType(events, 'run.cron_skipped')).toHaveLength(1);
  });

  it('X5: the first host of a job, or of another schedule, makes up for nothing', async () => {
    const place = await openPlace();
    const first = await place.open([hourly()]);
    place.clock.turn(HOUR);
    await idle(first);
    await first.close();
    place.clock.turn(5 * HOUR);
    const second = await place.open([hourly({ schedule: '30 * * * *' })]);
    expect(second.stats().runs).toBe(0);
    place.clock.turn(30 * MINUTE);
    await idle(second);
    await second.close();
    expect(duesOf(place.events())).toEqual(['13:00', '18:30']);
  });

  it('X5: a machine that slept runs the job once, a clock that was set back runs it no second time', async () => {
    const place = await openPlace();
    const troupe = await place.open([hourly()]);
    place.clock.set(START + 5 * HOUR);
    place.clock.turn(MINUTE);
    await idle(troupe);
    place.clock.set(START + 2 * HOUR);
    place.clock.turn(2 * HOUR);
    await idle(troupe);
    place.clock.turn(2 * HOUR);
    await idle(troupe);
    await troupe.close();
    expect(duesOf(place.events())).toEqual(['17:00', '18:00']);
  });

  it('X5: a job that cannot start says why, and keeps no other from its time', async () => {
    const place = await openPlace();
    const jobs = [hourly({ id: 'broken', agent: 'off' }), hourly({ id: 'good' })];
    const troupe = await place.open(jobs, {}, { off: { enabled: false } });
    place.clock.turn(HOUR);
    await idle(troupe);
    await troupe.close();
    expect(place.logged).toEqual([
      {
        level: 'error',
        text: expect.stringMatching(/cron job broken, due at .*13:00.*, did not start: .*disabled/),
        fields: expect.objectContaining({ cron_job_id: 'broken', run_id: null }),
      },
      expect.objectContaining({ level: 'info' }),
    ]);
    expect(ofType(place.events(), 'run.started')).toHaveLength(1);
  });

  it('R10, X5: runs of jobs count among the root runs of their project’s day, and say so past the limit', async () => {
    const place = await openPlace();
    const base = configOf(
      {
        agents: { lead: { project: 'web' } },
        blocks: { projects: { web: { daily_runs: 1 } } },
      },
      place.server.url,
    );
    const config = { ...base, cron: [hourly({ schedule: '0 13,14 * * *' })] };
    const troupe = await place.open([], { config });
    for (let hours = 0; hours < 25; hours += 1) {
      place.clock.turn(HOUR);
      await idle(troupe);
    }
    await troupe.close();
    const started = ofType(place.events(), 'run.started').map(({ ts }) => ts.slice(0, 13));
    expect(started).toEqual(['2026-03-02T13', '2026-03-03T13']);
    const refused = place.logged.filter(({ level }) => level === 'error').map(({ text }) => text);
    expect(refused).toEqual([
      expect.stringMatching(
        /^cron job hourly, due at 2026-03-02T14:00:00.000Z, did not start: project 'web' has started 1 of 1 root runs today/,
      ),
    ]);
  });

  it('S2, X5: a run of a job may spawn one level of sub-agents', async () => {
    const place = await openPlace();
    const seen: string[] = [];
    place.server.on(({ prompt, messages }) => {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      seen.push(`${prompt} ${turn}`);
      if (turn > 0) return 'done';
      const deeper = prompt === 'look around' ? 'below' : 'further below';
      return calls({ name: 'spawn_subagent', args: { prompt: deeper } });
    });
    const troupe = await place.open([hourly()]);
    place.clock.turn(HOUR);
    await idle(troupe);
    await troupe.close();
    expect(ofType(place.events(), 'run.started').map(({ data }) => data['prompt'])).toEqual([
      'look around',
      'below',
    ]);
    expect(seen).not.toContain('further below 0');
  });

  it('X5: started by hand a job runs at once, and its times stay as they are', async () => {
    const place = await openPlace();
    const troupe = await place.open([hourly(), hourly({ id: 'off', enabled: false })]);
    for (const id of ['hourly', 'off']) {
      const outcome = await (await troupe.startCron(id)).result();
      expect(outcome.status).toBe('completed');
    }
    await expect(troupe.startCron('daily')).rejects.toMatchObject({
      code: 'argument.invalid',
      message: "no cron job 'daily'; configured: hourly, off",
    } satisfies Partial<Fault>);
    place.clock.turn(HOUR);
    await idle(troupe);
    await troupe.close();
    expect(duesOf(place.events())).toEqual([null, null, '13:00']);
  });

  it('X5: without `cron` nothing is started by the clock', async () => {
    const place = await openPlace();
    const troupe = await place.open([hourly()], { cron: false });
    place.clock.turn(3 * HOUR);
    expect(troupe.stats().runs).toBe(0);
    await troupe.close();
    expect(place.events()).toEqual([]);
  });
});
