/** SPEC X2: the hour of `max_actions_per_hour` slides. */
export const HOUR_MS = 3_600_000;

/** A day is one of UTC, for money and for the runs of a project alike: it has no gap and no repetition. */
export const DAY_MS = 86_400_000;

/** The day of UTC that a moment lies in, counted from the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** When that day is over. */
export function dayEnd(ms: number): number {
  return (dayOf(ms) + 1) * DAY_MS;
}

/** Past so many stamps that have left the hour, the list is cut. */
const OUTDATED_MAX = 1024;

/**
 * The actions of the last hour, and those that are promised and have not begun. An action at `t` counts at `now` while
 * the two are less than an hour apart: a clock that was set back forgets nothing of the hour around it, and one that was
 * years ahead blocks nothing once it is right. Costs nothing to ask while the limit is far: stamps that are too old are
 * only looked for where they would make a difference.
 */
export class ActionHour {
  /** Milliseconds since the epoch, ascending; those before `#from` have left. */
  readonly #times: number[] = [];
  #from = 0;
  #reserved = 0;

  /** Promised, and neither charged nor given back. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Do `n` more fit under `max`? */
  fits(n: number, max: number, nowMs: number): boolean {
    return this.#held + n <= max || this.inUse(nowMs) + n <= max;
  }

  /** Charged within the hour, and promised. */
  inUse(nowMs: number): number {
    this.#drop(nowMs);
    return this.#held;
  }

  reserve(n: number): void {
    this.#reserved += n;
  }

  giveBack(n: number): void {
    this.#reserved -= n;
  }

  /** One that begins now. */
  charge(atMs: number): void {
    this.#drop(atMs);
    let place = this.#times.length;
    while (place > this.#from && (this.#times[place - 1] ?? 0) > atMs) place -= 1;
    if (place === this.#times.length) this.#times.push(atMs);
    else this.#times.splice(place, 0, atMs);
  }

  /** When `n` more will fit under `max` for all that time alone can do; `null` = never. */
  freesAt(n: number, max: number, nowMs: number): number | null {
    if (n > max) return null;
    const mustLeave = this.inUse(nowMs) + n - max;
    if (mustLeave <= 0) return nowMs;
    const last = this.#times[this.#from + mustLeave - 1];
    return last === undefined ? null : last + HOUR_MS;
  }

  get #held(): number {
    return this.#times.length - this.#from + this.#reserved;
  }

  #drop(nowMs: number): void {
    const times = this.#times;
    while ((times[this.#from] ?? nowMs) <= nowMs - HOUR_MS) this.#from += 1;
    while (times.length > this.#from && (times.at(-1) ?? 0) >= nowMs + HOUR_MS) times.pop();
    if (this.#from > OUTDATED_MAX && this.#from * 2 > times.length) {
      times.splice(0, this.#from);
      this.#from = 0;
    }
  }
}

/** Cents of the requests of one day. What a request without a known price cost is not in it: nobody knows it. */
export class DaySpend {
  #day = Number.NaN;
  #cents = 0;

  add(cents: number, atMs: number): void {
    const day = dayOf(atMs);
    if (day !== this.#day) this.#cents = 0;
    this.#day = day;
    this.#cents += cents;
  }

  cents(nowMs: number): number {
    return dayOf(nowMs) === this.#day ? this.#cents : 0;
  }
}

/** What is counted against one limit of each kind. */
export class BudgetAccount {
  readonly actions = new ActionHour();
  readonly spend = new DaySpend();
}
