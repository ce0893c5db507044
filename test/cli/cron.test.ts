import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/actors/system-clock.ts';
import { Troupe } from '../../src/index.ts';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import { eventsIn, ofType } from '../support/troupe-fixture.ts';

const JOBS = `
[[cron]]
id = "hourly"
schedule = "0 * * * *"
time_zone = "UTC"
agent = "quick"
prompt = "look around"

[[cron]]
id = "off"
schedule = "30 7 * * 1-5"
time_zone = "Europe/Paris"
agent = "quick"
prompt = "good morning"
enabled = false
`;

async function openJobs(jobs = JOBS): Promise<CliStage> {
  const stage = await openCli();
  const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
  stage.write('troupe.toml', `${config}\n${jobs}`);
  stage.play({ quick: ['all is well'] });
  return stage;
}

/** A host of long ago, in which the job was due once. */
async function ranLongAgo(stage: CliStage): Promise<void> {
  const then = Date.parse('2026-01-01T12:59:59.900Z');
  let since: number | null = null;
  const troupe = await Troupe.open({
    config: join(stage.dir, 'troupe.toml'),
    stateDir: join(stage.dir, '.troupe'),
    // It stands still until the host is open, however long that takes.
    clock: {
      now: () => (since === null ? then : then + Date.now() - since),
      after: systemClock.after,
    },
    cron: true,
  });
  since = Date.now();
  await new Promise<void>((resolve) => {
    troupe.on('event', ({ type }) => {
      if (type === 'run.completed') resolve();
    });
  });
  await troupe.close();
}

describe('troupe cron', () => {
  it('X5: lists the jobs with their next times and last runs, also without a host', async () => {
    const stage = await openJobs();
    const fresh = await stage.cli('cron');
    expect(fresh.code).toBe(0);
    expect(fresh.out).toMatch(/^JOB +AGENT +SCHEDULE +ZONE +NEXT +LAST +STARTED +RUN$/m);
    expect(fresh.out).toMatch(
      /^hourly +quick +0 \* \* \* \* +UTC +\d{4}-\d\d-\d\d \d\d:00:00Z +- +- +-$/m,
    );
    expect(fresh.out).toMatch(/^off +quick +30 7 \* \* 1-5 +Europe\/Paris +disabled +- +- +-$/m);
    await stage.cli('cron', 'run-now', 'hourly');
    const [hourly, off] = JSON.parse((await stage.cli('cron', '--json')).out);
    expect(hourly).toEqual({
      id: 'hourly',
      agent_id: 'quick',
      schedule: '0 * * * *',
      time_zone: 'UTC',
      enabled: true,
      next_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/),
      last_run_id: expect.stringMatching(/^run_/),
      last_status: 'completed',
      last_started_at: expect.any(String),
    });
    expect(off).toMatchObject({ enabled: false, next_at: null, last_run_id: null });
  });

  it('X5: run-now prints the answer as run does', async () => {
    const stage = await openJobs();
    const { code, out, err } = await stage.cli('cron', 'run-now', 'off');
    expect({ code, out }).toEqual({ code: 0, out: 'all is well\n' });
    expect(err).toMatch(/^run run_\S+$/m);
    const [started] = ofType(eventsIn(join(stage.dir, '.troupe')), 'run.started');
    expect(started?.data).toMatchObject({
      origin: 'cron',
      prompt: 'good morning',
      cron: { job_id: 'off', due_at_ms: null },
    });
  });

  it('X5: next prints times in UTC and as the zone of the job has them', async () => {
    const stage = await openJobs();
    const { code, out, err } = await stage.cli('cron', 'next', 'off', '--count', '2');
    expect(code).toBe(0);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT0[56]:30:00\.000Z {2}(Mon|Tue|Wed|Thu|Fri),? .*07:30/);
    }
    expect(err).toContain('job off is disabled: it never starts');
  });

  it('X5: start runs once what was missed, and ends at a signal', async () => {
    const stage = await openJobs();
    await ranLongAgo(stage);
    const host = stage.start(['cron', 'start']);
    const [, runId] = await host.says(/cron job hourly, due at \S+: run (run_\S+)/);
    await host.says(new RegExp(`^${runId} completed$`, 'm'));
    await host.says(/^hourly: quick, next at /m);
    host.kill('SIGINT');
    expect(await host.code).toBe(0);
    expect(host.err).toContain('SIGINT: nothing more is started');
    expect(ofType(eventsIn(join(stage.dir, '.troupe')), 'run.started')).toHaveLength(2);
  });

  it('X5: an unknown job, and a start without any, say what there is', async () => {
    const stage = await openJobs(JOBS.slice(JOBS.indexOf('[[cron]]', 10)));
    const unknown = await stage.cli('cron', 'run-now', 'hourly');
    expect(unknown).toMatchObject({
      code: 2,
      err: expect.stringContaining("no cron job 'hourly'; configured: off"),
    });
    const none = await stage.cli('cron', 'start');
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringContaining('no enabled [[cron]] job'),
    });
  });

  it('C1, X5: bad schedules and zones are named with their place', async () => {
    const bad = `
[[cron]]
id = "a"
schedule = "0 0 31 2 *"
agent = "quick"
prompt = "x"

[[cron]]
id = "b"
schedule = "99 * * * *"
time_zone = "Mars/Olympus"
agent = "quick"
prompt = "x"
`;
    const stage = await openJobs(bad);
    const { code, err, out } = await stage.cli('check');
    const said = `${err}${out}`;
    expect(code).toBe(1);
    expect(said).toContain('cron[0].schedule: found "0 0 31 2 *" (a date that never comes)');
    expect(said).toMatch(/cron\[1\]\.schedule: found "99 \* \* \* \*" \(.*minute: 99/);
    expect(said).toContain('cron[1].time_zone: found "Mars/Olympus"');
  });
});
