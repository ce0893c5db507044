import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ActionHour,
  DAY_MS,
  DaySpend,
  dayEnd,
  dayOf,
  HOUR_MS,
} from '../../../src/runtime/core/budget.ts';

/** What happens to a bucket of one account. */
type Step =
  | { readonly kind: 'reserve'; readonly n: number }
  | { readonly kind: 'begin' }
  | { readonly kind: 'giveBack' }
  | { readonly kind: 'pass'; readonly ms: number }
  /** Its host is gone: what was promised is forgotten, what began is charged again from the record. */
  | { readonly kind: 'replay' };

/** The same, as the words of the rule have it: a list of everything, counted anew each time. */
class Oracle {
  readonly begun: number[] = [];
  reserved = 0;

  inUse(now: number): number {
    return this.reserved + this.begun.filter((at) => Math.abs(now - at) < HOUR_MS).length;
  }

  freesAt(n: number, max: number, now: number): number | null {
    if (n > max) return null;
    if (this.inUse(now) + n <= max) return now;
    const leaving = this.begun
      .filter((at) => Math.abs(now - at) < HOUR_MS)
      .map((at) => at + HOUR_MS)
      .sort((one, other) => one - other);
    return (
      leaving.find((at) => this.reserved + leaving.filter((each) => each > at).length + n <= max) ??
      null
    );
  }
}

const gap = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 1000 }),
  fc.integer({ min: 0, max: 2 * HOUR_MS }),
  fc.constantFrom(HOUR_MS - 1, HOUR_MS, HOUR_MS + 1),
);

function steps(more: readonly fc.Arbitrary<Step>[] = []): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('reserve' as const), n: fc.integer({ min: 1, max: 4 }) }),
      fc.constant<Step>({ kind: 'begin' }),
      fc.constant<Step>({ kind: 'begin' }),
      fc.constant<Step>({ kind: 'giveBack' }),
      fc.record({ kind: fc.constant('pass' as const), ms: gap }),
      fc.constant<Step>({ kind: 'replay' }),
      ...more,
    ),
    { maxLength: 120 },
  );
}

function play(
  all: readonly Step[],
  max: number,
  look: (hour: ActionHour, oracle: Oracle, now: number) => void,
): void {
  let hour = new ActionHour();
  const oracle = new Oracle();
  let now = 10 * HOUR_MS;
  for (const step of all) {
    if (step.kind === 'pass') now += step.ms;
    else if (step.kind === 'reserve') {
      const fits = oracle.inUse(now) + step.n <= max;
      expect(hour.fits(step.n, max, now)).toBe(fits);
      if (fits) {
        hour.reserve(step.n);
        oracle.reserved += step.n;
      }
    } else if (step.kind === 'replay') {
      hour = new ActionHour();
      oracle.reserved = 0;
      for (const at of oracle.begun) if (at > now - HOUR_MS) hour.charge(at);
    } else if (oracle.reserved > 0) {
      hour.giveBack(1);
      oracle.reserved -= 1;
      if (step.kind === 'begin') {
        hour.charge(now);
        oracle.begun.push(now);
      }
    }
    look(hour, oracle, now);
  }
}

describe('the actions of an hour', () => {
  it('X2: are in use as an oracle counts them, whatever is promised, begun, given back and replayed', () => {
    fc.assert(
      fc.property(steps(), fc.integer({ min: 0, max: 6 }), (all, max) => {
        play(all, max, (hour, oracle, now) => {
          expect(hour.inUse(now)).toBe(oracle.inUse(now));
          for (const n of [1, 3]) {
            expect(hour.freesAt(n, max, now)).toBe(oracle.freesAt(n, max, now));
          }
        });
      }),
    );
  });

  it('X2: are never more than the limit in any hour', () => {
    fc.assert(
      fc.property(steps(), fc.integer({ min: 0, max: 6 }), (all, max) => {
        let begun: readonly number[] = [];
        play(all, max, (_hour, oracle) => {
          begun = oracle.begun;
        });
        for (const first of begun) {
          expect(
            begun.filter((at) => at >= first && at < first + HOUR_MS).length,
          ).toBeLessThanOrEqual(max);
        }
      }),
    );
  });

  it('count as long as a clock that is set back stays within the hour, and block nothing once it is right', () => {
    const backward = fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.oneof(fc.integer({ min: -HOUR_MS, max: -1 }), fc.constant(-5 * HOUR_MS)),
    });
    fc.assert(
      fc.property(steps([backward]), (all) => {
        let hour = new ActionHour();
        let now = 1000 * HOUR_MS;
        let last = now;
        for (const step of all) {
          if (step.kind === 'pass') now += step.ms;
          if (step.kind === 'begin') {
            hour.charge(now);
            last = now;
          }
          if (step.kind === 'replay') hour = new ActionHour();
          else if (step.kind === 'begin') expect(hour.inUse(last)).toBeGreaterThan(0);
        }
        expect(hour.inUse(now + 3000 * HOUR_MS)).toBe(0);
        hour.charge(now + 3000 * HOUR_MS);
        expect(hour.inUse(now)).toBe(0);
      }),
    );
  });

  it('are given up again by the thousand, so that a busy day leaves nothing behind', () => {
    const hour = new ActionHour();
    for (let at = 0; at < 50_000; at += 1) hour.charge(at * 1000);
    expect(hour.inUse(49_999_000)).toBe(3600);
    expect(hour.freesAt(1, 3600, 49_999_000)).toBe(49_999_000 - 3_599_000 + HOUR_MS);
  });
});

describe('the cents of a day', () => {
  it('X2: are those of the current day of UTC, added in their order', () => {
    const spent = fc.array(fc.tuple(fc.double({ min: 0, max: 50, noNaN: true }), gap), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(spent, (all) => {
        const spend = new DaySpend();
        let now = 3 * DAY_MS;
        const told: { cents: number; at: number }[] = [];
        for (const [cents, ms] of all) {
          now += ms;
          spend.add(cents, now);
          told.push({ cents, at: now });
          const today = told.filter(({ at }) => dayOf(at) === dayOf(now));
          expect(spend.cents(now)).toBe(today.reduce((sum, each) => sum + each.cents, 0));
          expect(spend.cents(dayEnd(now))).toBe(0);
        }
      }),
    );
  });
});
