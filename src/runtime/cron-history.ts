import type { CronDue, CronOrigin } from './core/cron.ts';
import type { JournalEvent } from './core/event.ts';
import type { RunSpec } from './core/run-spec.ts';

/** What the journal tells of one job. */
export interface CronPast {
  /** The last of its times that an event accounts for: a run that began, or one that was in the way. */
  readonly last: CronDue | null;
  /** The run that began last, also one that was started by hand. */
  readonly lastRunId: string | null;
}

/** The events that tell it. */
export const CRON_TYPES = ['run.started', 'run.cron_skipped'] as const;

/** Jobs by id, as the fold of `CRON_TYPES`. */
export class CronHistory {
  readonly #jobs = new Map<string, CronPast>();

  see(event: JournalEvent): void {
    if (event.type === 'run.cron_skipped') {
      this.#account(event.data as unknown as CronOrigin, null);
    } else if (event.type === 'run.started') {
      const { cron } = event.data as unknown as RunSpec;
      if (cron !== undefined && cron !== null) this.#account(cron, event.run_id);
    }
  }

  of(jobId: string): CronPast {
    return this.#jobs.get(jobId) ?? { last: null, lastRunId: null };
  }

  #account(origin: CronOrigin, runId: string | null): void {
    const { last, lastRunId } = this.of(origin.job_id);
    this.#jobs.set(origin.job_id, {
      last: isDue(origin) ? origin : last,
      lastRunId: runId ?? lastRunId,
    });
  }
}

function isDue(origin: CronOrigin): origin is CronDue {
  return origin.due_at_ms !== null;
}
