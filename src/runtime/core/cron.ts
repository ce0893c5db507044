import { Fault } from '../../base/fault.ts';

/** A job of `[[cron]]` (SPEC X5). */
export interface CronJob {
  readonly id: string;
  /** Five cron fields. */
  readonly schedule: string;
  /** IANA name; `null` = that of the host. */
  readonly timeZone: string | null;
  readonly agentId: string;
  readonly prompt: string;
  readonly enabled: boolean;
}

/** Why a run of a job began, as its `run.started` keeps it. Keys are the journal's own spelling. */
export interface CronOrigin {
  readonly job_id: string;
  /** The time it was due at, in milliseconds since the epoch; `null` = somebody started it by hand. */
  readonly due_at_ms: number | null;
  readonly schedule: string;
  readonly time_zone: string | null;
}

/** A time of a job that has come. */
export type CronDue = CronOrigin & { readonly due_at_ms: number };

/** Why a job's run begins, or would have; `dueMs` as `due_at_ms`. */
export function originOf<Due extends number | null>(
  { id, schedule, timeZone }: CronJob,
  dueMs: Due,
): CronOrigin & { readonly due_at_ms: Due } {
  return { job_id: id, due_at_ms: dueMs, schedule, time_zone: timeZone };
}

/** The first time of a schedule after `ms`, both in milliseconds since the epoch; `null` = there is none. */
export type NextTime = (ms: number) => number | null;

/** The shortest distance between two times of five cron fields. */
const MINUTE_MS = 60_000;

/**
 * The last time of a schedule after `since` that is not after `now`: however many were missed, one run stands for all of
 * them. `null` = none. A clock that was set back makes nothing due a second time, since `since` stays where it was.
 */
export function dueTime(next: NextTime, since: number, now: number): number | null {
  const first = next(since);
  if (first === null || first > now) return null;
  let due = first;
  // Times may be minutes or years apart: look at ever longer stretches before now, then step through the one that has some.
  for (let stretch = MINUTE_MS; now - stretch > since; stretch *= 2) {
    const found = next(now - stretch);
    if (found === null || found > now) continue;
    due = found;
    break;
  }
  for (let later = next(due); later !== null && later <= now; later = next(later)) due = later;
  return due;
}

/**
 * From when on a job's times count, given the last one that the journal accounts for. A job that never ran begins now,
 * and so does one whose schedule is another by now: times that nobody had asked for were not missed.
 */
export function countsSince(job: CronJob, last: CronDue | null, now: number): number {
  if (last === null) return now;
  const isSame = last.schedule === job.schedule && last.time_zone === job.timeZone;
  return isSame ? last.due_at_ms : now;
}

/** @throws Fault `argument.invalid` naming the jobs there are. */
export function jobOf(config: { readonly cron: readonly CronJob[] }, jobId: string): CronJob {
  const job = config.cron.find(({ id }) => id === jobId);
  if (job !== undefined) return job;
  const known = config.cron.map(({ id }) => id).join(', ') || '(none)';
  throw new Fault('argument.invalid', `no cron job '${jobId}'; configured: ${known}`);
}
