import { type OtherLoad, sum } from './rounds.ts';

/** What is wanted of a figure: a bound on it, from above or from below. */
export interface Reach {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One line of the table. `low` and `high` are the quartiles of the rounds where nothing else is said. */
export interface Row {
  /** What is measured, with its unit. */
  readonly figure: string;
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly reach: Reach | null;
  readonly rounds: number;
  /** Share of the machine that other processes took meanwhile, 0 to 1; `null` where the system does not say. */
  readonly otherLoad: number | null;
  readonly note: string;
}

/** Hands a row to the process that runs the cases, or prints it where a case was started by hand. */
export function report(row: Row): void {
  if (process.send === undefined) console.log(JSON.stringify(row));
  else process.send(row);
}

/** Above this share of the machine other processes have disturbed a round. */
const DISTURBED = 0.1;
/** Fewer undisturbed rounds than this say less than all of them. */
const CALM_MIN = 4;

/** The rounds that others left alone, or all of them where those are too few, and in words which these are. */
export function calmest<Value>(
  values: readonly Value[],
  load: readonly OtherLoad[],
): {
  readonly values: readonly Value[];
  readonly load: readonly OtherLoad[];
  readonly words: string;
} {
  const isCalm = (at: number) => (load[at] ?? 0) <= DISTURBED;
  const calm = values.filter((_, at) => isCalm(at));
  if (calm.length === values.length) return { values, load, words: '' };
  if (calm.length < CALM_MIN) {
    return { values, load, words: `${values.length - calm.length} rounds disturbed` };
  }
  const words = `the ${calm.length} calm ones of ${values.length} rounds`;
  return { values: calm, load: load.filter((_, at) => isCalm(at)), words };
}

/** A row from the values of several rounds: their median, between the quartiles. */
export function reportRounds(
  figure: string,
  values: readonly number[],
  about: { readonly reach?: Reach; readonly load: readonly OtherLoad[]; readonly note?: string },
): void {
  const calm = calmest(values, about.load);
  report({
    figure,
    value: quantile(calm.values, 0.5),
    low: quantile(calm.values, 0.25),
    high: quantile(calm.values, 0.75),
    reach: about.reach ?? null,
    rounds: calm.values.length,
    otherLoad: meanLoad(calm.load),
    note: [about.note ?? '', calm.words].filter((words) => words !== '').join('; '),
  });
}

export function meanLoad(load: readonly OtherLoad[]): number | null {
  const known = load.filter((share): share is number => share !== null);
  return known.length === 0 ? null : sum(known) / known.length;
}

/** Of unsorted values; between two of them in proportion. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}

/** A case whose result is wrong has no figure. */
export function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`the case went wrong: ${what}`);
}
