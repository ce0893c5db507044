/** What a configuration and a state directory tell of the jobs of `[[cron]]`, without a host (SPEC X5, K2). */
import { existsSync } from 'node:fs';
import type { CronJob } from './runtime/core/cron.ts';
import { CronHistory } from './runtime/cron-history.ts';
import { timesOf } from './runtime/cron-times.ts';
import { stateLayout } from './runtime/state-dir.ts';
import { openViewer, type RunSummary, type Seen } from './viewer.ts';

/** One job as `troupe cron --json` shows it. */
export interface JobLook {
  readonly id: string;
  readonly agent_id: string;
  readonly schedule: string;
  /** `null` = that of the host. */
  readonly time_zone: string | null;
  readonly enabled: boolean;
  /** RFC 3339; `null` = it is disabled. */
  readonly next_at: string | null;
  readonly last_run_id: string | null;
  readonly last_status: RunSummary['status'] | null;
  readonly last_started_at: string | null;
}

/** Every job, in the order of the configuration. */
export function lookAtJobs(
  jobs: readonly CronJob[],
  stateDir: string,
  nowMs: number,
): Seen<readonly JobLook[]> {
  const { value: past, damage } = pastOf(stateDir);
  return { value: jobs.map((job) => lookOf(job, past, nowMs)), damage };
}

/** The next `count` times of a job, enabled or not, in milliseconds since the epoch. */
export function nextTimes(job: CronJob, afterMs: number, count: number): readonly number[] {
  const next = timesOf(job);
  const times: number[] = [];
  for (let ms = next(afterMs); ms !== null && times.length < count; ms = next(ms)) times.push(ms);
  return times;
}

interface Past {
  readonly history: CronHistory;
  readonly runs: ReadonlyMap<string, RunSummary>;
}

function pastOf(stateDir: string): Seen<Past> {
  const history = new CronHistory();
  if (!existsSync(stateLayout(stateDir).journalFile)) {
    return { value: { history, runs: new Map() }, damage: null };
  }
  const viewer = openViewer(stateDir);
  try {
    const { value, damage } = viewer.runs((event) => history.see(event));
    return { value: { history, runs: new Map(value.map((run) => [run.run_id, run])) }, damage };
  } finally {
    viewer.close();
  }
}

function lookOf(job: CronJob, { history, runs }: Past, nowMs: number): JobLook {
  const { lastRunId } = history.of(job.id);
  const run = lastRunId === null ? undefined : runs.get(lastRunId);
  const [next] = job.enabled ? nextTimes(job, nowMs, 1) : [];
  return {
    id: job.id,
    agent_id: job.agentId,
    schedule: job.schedule,
    time_zone: job.timeZone,
    enabled: job.enabled,
    next_at: next === undefined ? null : new Date(next).toISOString(),
    last_run_id: lastRunId,
    last_status: run?.status ?? null,
    last_started_at: run?.started_at ?? null,
  };
}
