import { type JobLook, lookAtJobs, nextTimes } from '../cron-look.ts';
import { type CronJob, jobOf } from '../runtime/core/cron.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { dayAndTime } from './core/figures.ts';
import { statusColour } from './core/paint.ts';
import { jsonLine, safeBlock, safeLine } from './core/plain-text.ts';
import { type Column, tableLines } from './core/table.ts';
import { endOfReading } from './end-of-reading.ts';
import { wallClock } from './wall-clock.ts';

/** `troupe cron`: every job, when it is due next, and how its last run went; also without a host. */
export async function cronListCommand(context: Context): Promise<number> {
  const { terminal, options } = context;
  const { cron } = checkedConfig(context);
  const { value: rows, damage } = lookAtJobs(cron, options.state, wallClock.now());
  if (options.json) terminal.print(jsonLine(rows));
  else if (rows.length > 0) {
    const shown = { paint: terminal.paintOut, width: terminal.outWidth };
    for (const line of tableLines(columnsOf(context), rows, shown)) terminal.print(line);
  }
  if (rows.length === 0 && !options.quiet) {
    terminal.say(`no [[cron]] job in ${safeLine(options.config)}`);
  }
  return endOfReading(context, damage);
}

/** `troupe cron next <job>`: its next times. */
export async function cronNextCommand(
  context: Context,
  args: { readonly job: string; readonly count: number },
): Promise<number> {
  const { terminal, options } = context;
  const job = jobOf(checkedConfig(context), args.job);
  const times = nextTimes(job, wallClock.now(), args.count);
  const utc = times.map((ms) => new Date(ms).toISOString());
  if (options.json) terminal.print(jsonLine(utc));
  else for (const [at, ms] of times.entries()) terminal.print(`${utc[at]}  ${localTime(job, ms)}`);
  if (!job.enabled && !options.quiet) terminal.say(`job ${job.id} is disabled: it never starts`);
  return EXIT.completed;
}

function columnsOf({ terminal }: Context): readonly Column<JobLook>[] {
  const status = (row: JobLook) => row.last_status ?? '-';
  return [
    { title: 'JOB', cell: (row) => safeLine(row.id) },
    { title: 'AGENT', cell: (row) => safeLine(row.agent_id) },
    { title: 'SCHEDULE', cell: (row) => safeLine(row.schedule) },
    { title: 'ZONE', cell: (row) => safeLine(row.time_zone ?? 'host') },
    { title: 'NEXT', cell: (row) => (row.enabled ? dayAndTime(row.next_at) : 'disabled') },
    {
      title: 'LAST',
      cell: status,
      paint: (row, text) =>
        row.last_status === null ? text : terminal.paintOut(statusColour(row.last_status), text),
    },
    { title: 'STARTED', cell: (row) => dayAndTime(row.last_started_at) },
    { title: 'RUN', cell: (row) => safeLine(row.last_run_id ?? '-') },
  ];
}

/** As the clock of the job's own zone shows it. */
function localTime(job: CronJob, ms: number): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(job.timeZone === null ? {} : { timeZone: job.timeZone }),
  });
  return safeBlock(format.format(ms));
}
