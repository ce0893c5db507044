/**
 * The start positions of all suffixes of `text` in lexicographic order, by induced sorting (Nong, Zhang and Chan's
 * SA-IS): linear time and memory in `text.length + symbols`.
 *
 * @param text symbols in `[0, symbols)`; the end of the text counts as smaller than every symbol
 */
export function suffixArray(text: Int32Array, symbols: number): Int32Array {
  const length = text.length;
  if (length < 2) return new Int32Array(length);
  const rising = risingPositions(text);
  const valleys = valleyPositions(rising);
  const buckets = bucketEnds(text, symbols);
  const roughly = induce(text, rising, buckets, valleys);
  const names = nameValleys(text, rising, roughly, valleys);
  if (names.count === valleys.length) return induce(text, rising, buckets, names.order);
  const reduced = Int32Array.from(valleys, (position) => names.nameAt[position] ?? 0);
  const order = suffixArray(reduced, names.count).map((index) => valleys[index] ?? 0);
  return induce(text, rising, buckets, order);
}

/**
 * How many symbols each suffix shares with the one before it in `order`; 0 for the first. Kasai's algorithm, linear.
 */
export function commonPrefixes(text: Int32Array, order: Int32Array): Int32Array {
  const length = text.length;
  const rank = new Int32Array(length);
  for (let i = 0; i < length; i += 1) rank[at(order, i)] = i;
  const shared = new Int32Array(length);
  let run = 0;
  for (let start = 0; start < length; start += 1) {
    const here = at(rank, start);
    if (here === 0) {
      run = 0;
      continue;
    }
    const before = at(order, here - 1);
    const room = length - Math.max(start, before);
    while (run < room && text[start + run] === text[before + run]) run += 1;
    shared[here] = run;
    if (run > 0) run -= 1;
  }
  return shared;
}

/** An index that the caller knows to be inside the array. */
function at(array: Int32Array, index: number): number {
  return array[index] as number;
}

/** 1 where a suffix is smaller than the one that starts a symbol later. */
function risingPositions(text: Int32Array): Uint8Array {
  const rising = new Uint8Array(text.length);
  for (let i = text.length - 2; i >= 0; i -= 1) {
    const here = at(text, i);
    const next = at(text, i + 1);
    rising[i] = here < next || (here === next && rising[i + 1] === 1) ? 1 : 0;
  }
  return rising;
}

function isValley(rising: Uint8Array, position: number): boolean {
  return position > 0 && rising[position] === 1 && rising[position - 1] === 0;
}

function valleyPositions(rising: Uint8Array): Int32Array {
  let count = 0;
  for (let i = 1; i < rising.length; i += 1) if (isValley(rising, i)) count += 1;
  const valleys = new Int32Array(count);
  let filled = 0;
  for (let i = 1; i < rising.length; i += 1) {
    if (!isValley(rising, i)) continue;
    valleys[filled] = i;
    filled += 1;
  }
  return valleys;
}

/** `ends[c]`: one past the last slot of the suffixes that start with `c`; they start at `ends[c - 1]`. */
function bucketEnds(text: Int32Array, symbols: number): Int32Array {
  const ends = new Int32Array(symbols);
  for (const symbol of text) ends[symbol] = at(ends, symbol) + 1;
  for (let c = 1; c < symbols; c += 1) ends[c] = at(ends, c) + at(ends, c - 1);
  return ends;
}

/** Sorts all suffixes from an order of the valleys: falling ones left to right, then rising ones right to left. */
function induce(
  text: Int32Array,
  rising: Uint8Array,
  ends: Int32Array,
  valleys: Int32Array,
): Int32Array {
  const length = text.length;
  const order = new Int32Array(length).fill(-1);
  const tails = ends.slice();
  for (let i = valleys.length - 1; i >= 0; i -= 1) {
    pushFront(order, tails, text, at(valleys, i));
  }
  const heads = new Int32Array(ends.length);
  heads.set(ends.subarray(0, -1), 1);
  pushBack(order, heads, text, length - 1);
  for (let i = 0; i < length; i += 1) {
    const before = at(order, i) - 1;
    if (before >= 0 && rising[before] === 0) pushBack(order, heads, text, before);
  }
  tails.set(ends);
  for (let i = length - 1; i >= 0; i -= 1) {
    const before = at(order, i) - 1;
    if (before >= 0 && rising[before] === 1) pushFront(order, tails, text, before);
  }
  return order;
}

function pushFront(order: Int32Array, tails: Int32Array, text: Int32Array, start: number): void {
  const symbol = at(text, start);
  const slot = at(tails, symbol) - 1;
  tails[symbol] = slot;
  order[slot] = start;
}

function pushBack(order: Int32Array, heads: Int32Array, text: Int32Array, start: number): void {
  const symbol = at(text, start);
  const slot = at(heads, symbol);
  heads[symbol] = slot + 1;
  order[slot] = start;
}

interface ValleyNames {
  /** Valleys, sorted by the text up to the next valley. */
  readonly order: Int32Array;
  /** By position in the text: equal for valleys whose text up to the next valley is equal, rising in that order. */
  readonly nameAt: Int32Array;
  readonly count: number;
}

function nameValleys(
  text: Int32Array,
  rising: Uint8Array,
  roughly: Int32Array,
  valleys: Int32Array,
): ValleyNames {
  const nextAt = new Int32Array(text.length);
  valleys.forEach((position, i) => {
    nextAt[position] = valleys[i + 1] ?? text.length;
  });
  const order = roughly.filter((position) => isValley(rising, position));
  const nameAt = new Int32Array(text.length);
  let count = 0;
  for (let i = 0; i < order.length; i += 1) {
    const here = at(order, i);
    if (i > 0 && !sameStretch(text, nextAt, at(order, i - 1), here)) count += 1;
    nameAt[here] = count;
  }
  return { order, nameAt, count: order.length === 0 ? 0 : count + 1 };
}

function sameStretch(text: Int32Array, nextAt: Int32Array, a: number, b: number): boolean {
  const length = at(nextAt, a) - a;
  if (length !== at(nextAt, b) - b) return false;
  if (a + length === text.length || b + length === text.length) return false;
  for (let i = 0; i <= length; i += 1) if (text[a + i] !== text[b + i]) return false;
  return true;
}
