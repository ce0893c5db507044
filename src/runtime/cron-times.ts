import { Cron } from 'croner';
import { messageOf } from '../base/fault.ts';
import type { CronJob, NextTime } from './core/cron.ts';

/** The only file that knows croner, which is used for its calendar alone: no timer of it ever runs. */

const FIELDS = 5;

/** The times of a job. @throws Error where `scheduleFault` or `timeZoneFault` has words. */
export function timesOf({ schedule, timeZone }: Pick<CronJob, 'schedule' | 'timeZone'>): NextTime {
  const calendar = calendarOf(schedule, timeZone);
  return (ms) => calendar.nextRun(new Date(ms))?.getTime() ?? null;
}

/** What is wrong with a schedule, in words; `null` = nothing. */
export function scheduleFault(schedule: string): string | null {
  const fields = schedule.trim().split(/\s+/);
  if (schedule.trim() === '') return 'no field';
  if (fields.length !== FIELDS) return `${fields.length} field${fields.length === 1 ? '' : 's'}`;
  try {
    const first = calendarOf(schedule, 'UTC').nextRun(new Date(0));
    return first === null ? 'a date that never comes' : null;
  } catch (thrown) {
    return messageOf(thrown).replace(/^CronPattern: /, '');
  }
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function calendarOf(schedule: string, timeZone: string | null): Cron {
  return new Cron(schedule, {
    paused: true,
    mode: '5-part',
    ...(timeZone === null ? {} : { timezone: timeZone }),
  });
}
