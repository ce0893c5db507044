// Starts the jobs of `[[cron]]` when they are due (SPEC X5). Owns one timer and, for each job, up to when its times are
// accounted for.
// I1  A time is accounted for by an event of the journal: the `run.started` that it led to, or the `run.cron_skipped` of the
//     run of that job that still went on. What no event accounts for was missed, whatever ended the host in between.
// I2  However many times of a job were missed, one run is made of them, for the last of them.
// I3  The clock is looked at again every `LOOK_AGAIN_MS` at the latest: a machine that slept or whose clock was set finds
//     out soon. A clock that was set back starts nothing twice.
import type { Clock } from './base/clock.ts';
import { Fault, messageOf } from './base/fault.ts';
import {
  type CronJob,
  type CronOrigin,
  countsSince,
  dueTime,
  type NextTime,
  originOf,
} from './runtime/core/cron.ts';
import { CRON_TYPES, CronHistory } from './runtime/cron-history.ts';
import { timesOf } from './runtime/cron-times.ts';
import type { Journal } from './runtime/journal.ts';
import type { RunSupervisor } from './runtime/run-supervisor.ts';
import type { LogFields } from './troupe-options.ts';

const LOOK_AGAIN_MS = 30_000;

export interface CronMeans {
  readonly clock: Clock;
  readonly jobs: readonly CronJob[];
  readonly journal: Pick<Journal, 'read'>;
  /** Starts a root run of a job. @throws Fault where it may not start. */
  readonly start: (job: CronJob, origin: CronOrigin) => RunSupervisor;
  readonly live: () => readonly RunSupervisor[];
  readonly log: (level: 'info' | 'warn' | 'error', text: string, fields: LogFields) => void;
}

interface Entry {
  readonly job: CronJob;
  readonly next: NextTime;
  sinceMs: number;
}

export class CronSchedule {
  readonly #means: CronMeans;
  #entries: readonly Entry[] = [];
  #untime: () => void = () => undefined;
  #stopped = false;

  constructor(means: CronMeans) {
    this.#means = means;
  }

  /** Reads what was done before, starts what is due, and goes on until `stop`. @throws Fault `journal.corrupt`. */
  async begin(): Promise<void> {
    const { clock, jobs, journal } = this.#means;
    const history = new CronHistory();
    const enabled = jobs.filter((job) => job.enabled);
    if (enabled.length > 0) {
      for await (const event of journal.read({ types: [...CRON_TYPES] })) history.see(event);
    }
    this.#entries = enabled.map((job) => ({
      job,
      next: timesOf(job),
      sinceMs: countsSince(job, history.of(job.id).last, clock.now()),
    }));
    this.#look();
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#untime();
  }

  #look(): void {
    if (this.#stopped) return;
    const { clock } = this.#means;
    for (const entry of this.#entries) {
      const due = dueTime(entry.next, entry.sinceMs, clock.now());
      if (due === null) continue;
      entry.sinceMs = due;
      this.#fire(entry.job, due);
    }
    const now = clock.now();
    const waits = this.#entries.map(({ next, sinceMs }) => (next(sinceMs) ?? Infinity) - now);
    const wait = Math.min(LOOK_AGAIN_MS, ...waits);
    this.#untime();
    if (this.#entries.length > 0) {
      this.#untime = clock.after(Math.max(1, wait), () => this.#look()); // I3
    }
  }

  #fire(job: CronJob, dueMs: number): void {
    const { live, start, log } = this.#means;
    const origin = originOf(job, dueMs);
    const due = new Date(dueMs).toISOString();
    const running = live().find((run) => run.state.spec?.cron?.job_id === job.id);
    if (running?.skipCron(origin) === true) {
      const words = `cron job ${job.id} was due at ${due}: skipped, its run ${running.runId} still goes on`;
      log('warn', words, fieldsOf(job, running));
      return;
    }
    try {
      const run = start(job, origin);
      log('info', `cron job ${job.id}, due at ${due}: run ${run.runId}`, fieldsOf(job, run));
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      const words = `cron job ${job.id}, due at ${due}, did not start: ${messageOf(thrown)}`;
      log('error', words, fieldsOf(job, null));
    }
  }
}

/** SPEC X5: the span of a job's run, as one record. */
function fieldsOf(job: CronJob, run: RunSupervisor | null): LogFields {
  return {
    span: 'subagent',
    category: 'cron',
    agent_alias: job.agentId,
    cron_job_id: job.id,
    run_id: run?.runId ?? null,
    session_key: run?.state.spec?.session_key ?? null,
    spawn_site: 'cron',
  };
}
