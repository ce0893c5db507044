import type { Seeded } from './seeded-random.ts';

/** How often what goes wrong in a simulated world, each from 0 to 1; 0 = never in this world. */
export interface Faults {
  /** Milliseconds that a request or a call takes at most, when nothing goes wrong. */
  readonly delayMs: number;
  readonly modelFails: number;
  readonly modelHangs: number;
  /** The actor's side of the conversation is gone and has to be told all of it again. */
  readonly modelStale: number;
  readonly toolFails: number;
  /** It took effect and failed all the same. */
  readonly toolPartial: number;
  /** It says nothing until it is cancelled or its time is up. */
  readonly toolHangs: number;
  /** It hears no cancel either; its thread is ended. */
  readonly toolDeaf: number;
  /** What is aborted answers as if it had not been. */
  readonly abortIgnored: number;
  /** What is aborted says so long after. */
  readonly abortLate: number;
  /** A result or an answer longer than a history may hold. */
  readonly longTexts: number;
  readonly keepFails: number;
  readonly openRefused: number;
  /** An append waits for a disk that takes its time. */
  readonly slowDisk: number;
  readonly approval: 'nobody' | 'somebody';
  readonly approvalDenied: number;
  readonly approvalUnanswered: number;
  readonly approvalBreaks: number;
  /** Most of these that come from outside in one life of a host. */
  readonly cancels: number;
  readonly notes: number;
  readonly threadLosses: number;
  /** An actor ends, alone, in place of what it would have said. */
  readonly actorCrashes: number;
  readonly reconfigurations: number;
}

export const CALM: Faults = {
  delayMs: 50,
  modelFails: 0,
  modelHangs: 0,
  modelStale: 0,
  toolFails: 0,
  toolPartial: 0,
  toolHangs: 0,
  toolDeaf: 0,
  abortIgnored: 0,
  abortLate: 0,
  longTexts: 0,
  keepFails: 0,
  openRefused: 0,
  slowDisk: 0,
  approval: 'somebody',
  approvalDenied: 0,
  approvalUnanswered: 0,
  approvalBreaks: 0,
  cancels: 0,
  notes: 0,
  threadLosses: 0,
  actorCrashes: 0,
  reconfigurations: 0,
};

/**
 * Faults of one world. About half of them are switched off, another half in every world: where everything goes wrong at
 * once, nothing lives long enough for what goes wrong late.
 */
export function drawFaults(random: Seeded): Faults {
  const rate = (most: number) => (random.chance(0.5) ? 0 : random.unit() * most);
  const times = (most: number) => (random.chance(0.4) ? 0 : 1 + random.int(most));
  return {
    delayMs: random.pick([0, 5, 50, 50, 200]),
    modelFails: rate(0.15),
    modelHangs: rate(0.1),
    modelStale: rate(0.3),
    toolFails: rate(0.4),
    toolPartial: rate(0.3),
    toolHangs: rate(0.2),
    toolDeaf: rate(0.1),
    abortIgnored: rate(0.8),
    abortLate: rate(0.5),
    longTexts: rate(0.5),
    keepFails: rate(0.3),
    openRefused: rate(0.03),
    slowDisk: rate(0.7),
    approval: random.chance(0.15) ? 'nobody' : 'somebody',
    approvalDenied: rate(0.4),
    approvalUnanswered: rate(0.3),
    approvalBreaks: rate(0.2),
    cancels: times(3),
    notes: times(4),
    threadLosses: random.chance(0.1) ? 20 : times(3),
    actorCrashes: random.chance(0.8) ? 0 : random.unit() * 0.6,
    reconfigurations: times(2),
  };
}
