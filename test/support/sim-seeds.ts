import { createHash } from 'node:crypto';
import { type InvariantName, type Violation, violationsOf } from './invariants.ts';
import { playBoundaries } from './sim-boundaries.ts';
import { playSetting, settingOf } from './sim-play.ts';
import { linesOf } from './sim-print.ts';
import type { Told } from './sim-story.ts';

export interface Verdict {
  readonly seed: number;
  /** How many stories it took: one, or one for each place where a host could die. */
  readonly stories: number;
  readonly events: number;
  readonly violations: readonly Violation[];
}

/** The stories that a seed stands for. */
export async function* storiesOf(seed: number): AsyncGenerator<Told> {
  const setting = settingOf(seed);
  if (setting.plot === 'boundaries') yield* playBoundaries(setting, seed);
  else yield await playSetting(setting);
}

/** Plays a seed and judges every story of it; `look` is shown each. */
export async function judgeSeed(
  seed: number,
  look: (told: Told) => void = () => undefined,
): Promise<Verdict> {
  const violations: Violation[] = [];
  let stories = 0;
  let events = 0;
  try {
    for await (const told of storiesOf(seed)) {
      stories += 1;
      events += told.events.length;
      violations.push(...violationsOf(told));
      look(told);
    }
  } catch (thrown) {
    const words = `it throws: ${thrown instanceof Error ? thrown.stack : String(thrown)}`;
    violations.push({ invariant: 'comes to rest without orphans', words });
  }
  return { seed, stories, events, violations };
}

/** As `judgeSeed`, and once more to see that a seed always means the same, to the last event and act. */
export async function judgeTwice(seed: number): Promise<Verdict> {
  const trace = () => {
    const hash = createHash('sha256');
    const look = ({ events, log }: Told) => hash.update(JSON.stringify([events, log?.acts]));
    return { hash, look: (told: Told) => void look(told) };
  };
  const [one, two] = [trace(), trace()];
  const verdict = await judgeSeed(seed, one.look);
  await judgeSeed(seed, two.look);
  if (one.hash.digest('hex') === two.hash.digest('hex')) return verdict;
  const words = 'the same seed goes differently the second time';
  const odd: Violation = { invariant: 'comes to rest without orphans', words };
  return { ...verdict, violations: [...verdict.violations, odd] };
}

/** The first seed from `first` on, of `seeds`, that breaks the invariant; `null` where none does. */
export async function firstToBreak(
  invariant: InvariantName,
  first: number,
  seeds: number,
): Promise<number | null> {
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { violations } = await judgeSeed(seed);
    if (violations.some((violation) => violation.invariant === invariant)) return seed;
  }
  return null;
}

/** What to say of a seed that fails. */
export function report({ seed, violations }: Verdict): string {
  const lines = new Set(violations.map(({ invariant, words }) => `  ${invariant}: ${words}`));
  const again = `npm run sim -- --first ${seed} --seeds 1`;
  return [`seed ${seed} fails; again: ${again}`, ...[...lines].slice(0, 12)].join('\n');
}

/** The first story of a seed that breaks something, to be read; `null` where none does. */
export async function show(seed: number): Promise<string | null> {
  for await (const told of storiesOf(seed)) {
    if (violationsOf(told).length > 0) return linesOf(told).join('\n');
  }
  return null;
}
