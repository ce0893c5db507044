import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CronJob, countsSince, dueTime } from '../../src/runtime/core/cron.ts';
import { isTimeZone, scheduleFault, timesOf } from '../../src/runtime/cron-times.ts';

const at = (text: string) => Date.parse(text);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function times(schedule: string, timeZone: string, after: string, count: number): string[] {
  const next = timesOf({ schedule, timeZone });
  const found: string[] = [];
  for (let ms = next(at(after)); ms !== null && found.length < count; ms = next(ms)) {
    found.push(new Date(ms).toISOString().slice(0, 16));
  }
  return found;
}

const JOB: CronJob = {
  id: 'nightly',
  schedule: '0 3 * * *',
  timeZone: 'UTC',
  agentId: 'lead',
  prompt: 'go',
  enabled: true,
};

const SCHEDULES = [
  '* * * * *',
  '*/7 * * * *',
  '0 * * * *',
  '30 2 * * *',
  '0 9 * * 1-5',
  '0 0 1 * *',
  '0 0 29 2 *',
  '15,45 8-17 * * *',
];
const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];

describe('the times of a job', () => {
  it('X5: a time of day that a summer clock leaves out comes once, and one that it repeats comes once', () => {
    expect(times('30 2 * * *', 'Europe/Paris', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(times('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
  });

  it('X5: an hourly job misses no hour and doubles none when the clock changes', () => {
    for (const from of ['2026-03-28T12:00Z', '2026-10-24T12:00Z']) {
      const hours = times('0 * * * *', 'Europe/Paris', from, 36).map((text) => at(`${text}Z`));
      const steps = hours.slice(1).map((ms, index) => ms - (hours[index] ?? 0));
      expect(new Set(steps)).toEqual(new Set([60 * MINUTE]));
    }
  });

  it('X5: a schedule has five fields and a date that comes', () => {
    expect(SCHEDULES.map(scheduleFault)).toEqual(SCHEDULES.map(() => null));
    expect(scheduleFault('')).toBe('no field');
    expect(scheduleFault('0 3 * *')).toBe('4 fields');
    expect(scheduleFault('0 0 3 * * *')).toBe('6 fields');
    expect(scheduleFault('@daily')).toBe('1 field');
    expect(scheduleFault('2026-12-01T00:00:00')).toBe('1 field');
    expect(scheduleFault('0 0 31 2 *')).toBe('a date that never comes');
    expect(scheduleFault('61 0 * * *')).toMatch(/minute: 61/);
    expect(scheduleFault('a b c d e')).not.toBeNull();
    expect([isTimeZone('Europe/Paris'), isTimeZone('Mars/Olympus')]).toEqual([true, false]);
  });
});

describe('what is due', () => {
  it('X5: of all that was missed, the last time alone', () => {
    const next = timesOf(JOB);
    const since = at('2026-01-01T03:00Z');
    expect(dueTime(next, since, at('2026-01-01T23:00Z'))).toBeNull();
    expect(dueTime(next, since, at('2026-01-02T03:00Z'))).toBe(at('2026-01-02T03:00Z'));
    expect(dueTime(next, since, at('2026-06-09T12:00Z'))).toBe(at('2026-06-09T03:00Z'));
  });

  it('X5: years of missed minutes are found out about at once', () => {
    const next = timesOf({ schedule: '* * * * *', timeZone: 'UTC' });
    let asked = 0;
    const counted = (ms: number) => {
      asked += 1;
      return next(ms);
    };
    expect(dueTime(counted, at('2016-01-01T00:00Z'), at('2026-01-01T00:00:30Z'))).toBe(
      at('2026-01-01T00:00Z'),
    );
    expect(asked).toBeLessThan(10);
  });

  it('X5: a clock that was set back makes nothing due again', () => {
    const next = timesOf({ schedule: '0 * * * *', timeZone: 'UTC' });
    const since = at('2026-01-01T12:00Z');
    expect(dueTime(next, since, at('2026-01-01T10:30Z'))).toBeNull();
    expect(dueTime(next, since, at('2026-01-01T12:59Z'))).toBeNull();
  });

  it('X5: a job that never ran, or whose schedule or zone is another now, counts from now', () => {
    const now = at('2026-01-05T12:00Z');
    const last = { job_id: 'nightly', due_at_ms: now - DAY, schedule: '0 3 * * *' };
    expect(countsSince(JOB, null, now)).toBe(now);
    expect(countsSince(JOB, { ...last, time_zone: 'UTC' }, now)).toBe(now - DAY);
    expect(countsSince(JOB, { ...last, time_zone: null }, now)).toBe(now);
    expect(countsSince(JOB, { ...last, time_zone: 'UTC', schedule: '0 4 * * *' }, now)).toBe(now);
  });

  it('X5: whatever hosts come and go, a time leads to one run at most, and a pause to exactly one', () => {
    const pauses = fc.array(fc.nat({ max: 40 * DAY }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        fc.constantFrom(...SCHEDULES),
        fc.constantFrom(...ZONES),
        fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2027-01-01T00:00Z') }),
        pauses,
        (schedule, timeZone, from, waits) => {
          const next = timesOf({ schedule, timeZone });
          let now = from;
          let since = from;
          const fired: number[] = [];
          for (const wait of waits) {
            now += wait;
            const missed = next(since);
            const due = dueTime(next, since, now);
            expect(due !== null).toBe(missed !== null && missed <= now);
            if (due === null) continue;
            expect(due).toBeLessThanOrEqual(now);
            // It is one of the schedule's own times, and none of them lies between it and now.
            expect(next(due - 1)).toBe(due);
            expect(next(due) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
            fired.push(due);
            since = due;
          }
          expect(fired).toEqual([...new Set(fired)].sort((a, b) => a - b));
        },
      ),
      { numRuns: 300 },
    );
  });
});
