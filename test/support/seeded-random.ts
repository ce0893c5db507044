import type { Random } from '../../src/base/random.ts';

export interface Seeded extends Random {
  /** A whole number from 0 to below `below`. */
  int(below: number): number;
  /** True as often as `rate` says, 0 = never; a rate of 0 draws nothing. */
  chance(rate: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

/** A small generator (mulberry32): the same numbers for the same seed, on every machine. */
export function seededRandom(seed: number): Seeded {
  let state = seed >>> 0;
  let names = 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number) => Math.floor(unit() * below);
  return {
    unit,
    int,
    chance: (rate) => rate > 0 && unit() < rate,
    pick: (items) => items[int(items.length)] ?? items[0],
    id: () => {
      names += 1;
      return `s${seed}n${names}`;
    },
    uuid: () => {
      names += 1;
      const place = String(names).padStart(12, '0');
      return `${seed.toString(16).padStart(8, '0').slice(-8)}-0000-4000-8000-${place}`;
    },
  };
}
