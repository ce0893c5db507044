import { BestFirst } from './best-first.ts';
import { type MaximalRepeats, maximalRepeats } from './maximal-repeats.ts';

interface RunPlace {
  /** Index of the sequence. */
  readonly sequence: number;
  /** Index of the run's first token in it. */
  readonly offset: number;
}

/** The same tokens in several places; no two places overlap, and no token before or after could be added to all. */
export interface SharedRun {
  readonly tokens: number;
  /** At least two, by sequence and offset. */
  readonly places: readonly RunPlace[];
}

export interface SharedRuns {
  /** By tokens * (places - 1), largest first; ties by the first place. */
  readonly runs: readonly SharedRun[];
  /** Tokens that stand in any of the runs, each counted once. */
  readonly coveredTokens: number;
  /** False where the search gave up on a pathological text; what was found holds all the same. */
  readonly complete: boolean;
}

/** Looked-at places, a token of text. Source code needs below 1; only texts made to be hard come near. */
const stepsPerToken = 512;
const stepsMin = 1_000_000;

/**
 * Runs of at least `minTokens` equal tokens within or across sequences. The run that saves most is taken first, further
 * ones only if they have a place with at least `minTokens` tokens that no run before them holds: runs may overlap each
 * other, but never themselves. A stretch that repeats itself with a period below `minTokens` counts as one place.
 * Deterministic, near linear.
 *
 * @param sequences token classes, each a number from 0 on; no run crosses from one sequence into the next
 */
export function sharedRuns(sequences: readonly Int32Array[], minTokens: number): SharedRuns {
  const joined = join(sequences);
  const repeats = maximalRepeats(joined.text, joined.symbols, minTokens);
  const cover = new Cover(joined.text.length);
  const queue = new BestFirst(mostSaved(repeats, joined.text.length));
  const found: Stretch[] = [];
  let steps = stepsMin + stepsPerToken * joined.text.length;
  for (let i = queue.take(); i !== undefined && steps > 0; i = queue.take()) {
    steps -= (repeats.to[i] as number) - (repeats.from[i] as number);
    const stretch = stretchOf(joined.text, repeats, i, minTokens);
    if (stretch === undefined) continue;
    const saved = cover.savedBy(stretch, minTokens);
    if (saved === 0) continue;
    if (saved >= queue.bestScore) found.push(cover.claim(stretch));
    else {
      steps -= saved;
      queue.put(i, saved);
    }
  }
  found.sort((a, b) => savedTokens(b) - savedTokens(a) || firstStart(a) - firstStart(b));
  return {
    runs: found.map((stretch) => toRun(stretch, joined.sequenceStarts)),
    coveredTokens: cover.covered,
    complete: steps > 0,
  };
}

/** No repeat saves more: it has no more places than were counted, nor more than the text has room for. */
function mostSaved(repeats: MaximalRepeats, room: number): Float64Array {
  return Float64Array.from(repeats.lengths, (tokens, i) => {
    const further = (repeats.to[i] as number) - (repeats.from[i] as number);
    return tokens * Math.min(further, Math.trunc(room / tokens) - 1);
  });
}

interface Joined {
  readonly text: Int32Array;
  readonly symbols: number;
  readonly sequenceStarts: Int32Array;
}

/** One text, a symbol of its own after each sequence, so that nothing equal crosses a border. */
function join(sequences: readonly Int32Array[]): Joined {
  let length = 0;
  let classes = 0;
  for (const sequence of sequences) {
    length += sequence.length + 1;
    for (const token of sequence) if (token >= classes) classes = token + 1;
  }
  const text = new Int32Array(length);
  const sequenceStarts = new Int32Array(sequences.length);
  let filled = 0;
  sequences.forEach((sequence, i) => {
    sequenceStarts[i] = filled;
    text.set(sequence, filled);
    filled += sequence.length;
    text[filled] = classes + i;
    filled += 1;
  });
  return { text, symbols: classes + sequences.length, sequenceStarts };
}

/** A run while it is in the joined text. */
interface Stretch {
  readonly tokens: number;
  /** Rising, at least `tokens` apart. */
  readonly starts: readonly number[];
}

function savedTokens(stretch: Stretch): number {
  return stretch.tokens * (stretch.starts.length - 1);
}

function firstStart(stretch: Stretch): number {
  return stretch.starts[0] ?? 0;
}

/** The places of a repeat that do not overlap, stretched as far as they agree. */
function stretchOf(
  text: Int32Array,
  repeats: MaximalRepeats,
  index: number,
  minTokens: number,
): Stretch | undefined {
  const tokens = repeats.lengths[index] as number;
  const all = repeats.starts
    .slice(repeats.from[index] as number, (repeats.to[index] as number) + 1)
    .sort();
  const starts: number[] = [];
  for (const start of all) {
    const last = starts.at(-1);
    if (last === undefined || start >= last + tokens) starts.push(start);
  }
  if (starts.length > 1) return widen(text, { tokens, starts });
  const first = all[0] as number;
  const last = all.at(-1) as number;
  if (last - first < minTokens) return undefined;
  return widen(text, { tokens: last - first, starts: [first, last] });
}

function widen(text: Int32Array, stretch: Stretch): Stretch {
  const { starts } = stretch;
  let room = Number.MAX_SAFE_INTEGER;
  for (let i = 1; i < starts.length; i += 1) {
    room = Math.min(room, (starts[i] as number) - (starts[i - 1] as number) - stretch.tokens);
  }
  let left = 0;
  while (left < room && agree(text, starts, -left - 1)) left += 1;
  let right = 0;
  while (left + right < room && agree(text, starts, stretch.tokens + right)) right += 1;
  return {
    tokens: stretch.tokens + left + right,
    starts: starts.map((start) => start - left),
  };
}

/** Does the same token stand `distance` tokens away from every start? Borders of sequences never agree. */
function agree(text: Int32Array, starts: readonly number[], distance: number): boolean {
  const token = text[(starts[0] as number) + distance];
  return token !== undefined && starts.every((start) => text[start + distance] === token);
}

function toRun(stretch: Stretch, sequenceStarts: Int32Array): SharedRun {
  const places: RunPlace[] = [];
  for (const start of stretch.starts) {
    const sequence = sequenceAt(sequenceStarts, start);
    places.push({ sequence, offset: start - (sequenceStarts[sequence] as number) });
  }
  return { tokens: stretch.tokens, places };
}

function sequenceAt(sequenceStarts: Int32Array, position: number): number {
  let low = 0;
  let high = sequenceStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sequenceStarts[middle] as number) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Which tokens stand in a run that was taken. Looking at covered stretches costs next to nothing. */
class Cover {
  covered = 0;
  /** At or right of each position: a position nearer to, or equal to, the next uncovered one. */
  readonly #nextFree: Int32Array;

  constructor(length: number) {
    this.#nextFree = Int32Array.from({ length: length + 1 }, (_, i) => i);
  }

  /**
   * Tokens that would go if one place stayed and the others went, as far as no taken run holds them; 0 where no place
   * has `minFresh` of them.
   */
  savedBy(stretch: Stretch, minFresh: number): number {
    let sum = 0;
    let least = Number.MAX_SAFE_INTEGER;
    let most = 0;
    for (const start of stretch.starts) {
      let fresh = 0;
      const end = start + stretch.tokens;
      for (let i = this.#free(start); i < end; i = this.#free(i + 1)) fresh += 1;
      sum += fresh;
      least = Math.min(least, fresh);
      most = Math.max(most, fresh);
    }
    return most < minFresh ? 0 : sum - least;
  }

  claim(stretch: Stretch): Stretch {
    for (const start of stretch.starts) {
      const end = start + stretch.tokens;
      for (let i = this.#free(start); i < end; i = this.#free(i)) {
        this.#nextFree[i] = i + 1;
        this.covered += 1;
      }
    }
    return stretch;
  }

  #free(from: number): number {
    const next = this.#nextFree;
    let at = from;
    while (next[at] !== at) {
      const hop = next[next[at] as number] as number;
      next[at] = hop;
      at = hop;
    }
    return at;
  }
}
