import { jobOf } from '../runtime/core/cron.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { carryRun } from './run.ts';

/** `troupe cron run-now <job>`: runs a job here and now, as `troupe run` would. */
export async function cronRunCommand(context: Context, jobId: string): Promise<number> {
  jobOf(checkedConfig(context), jobId);
  return carryRun(context, (troupe, signal) => troupe.startCron(jobId, signal));
}
