import type { Random } from '../../src/base/random.ts';

/** A small generator (mulberry32): the same numbers for the same seed, on every machine. */
export function seededRandom(seed: number): Random & { int(below: number): number } {
  let state = seed >>> 0;
  let names = 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    unit,
    int: (below) => Math.floor(unit() * below),
    id: () => {
      names += 1;
      return `s${seed}n${names}`;
    },
    uuid: () => {
      names += 1;
      return `00000000-0000-4000-8000-${String(names).padStart(12, '0')}`;
    },
  };
}
