import { commonPrefixes, suffixArray } from './suffix-array.ts';

/**
 * Everything that stands at least twice in a text and is at least so long, each as long as it can be: `lengths[i]`
 * symbols that start at `starts[from[i]] … starts[to[i]]`, both included, in no particular order.
 *
 * A start is left out where the same `minLength` symbols also start fewer than `minLength` symbols earlier: there the
 * text repeats itself with a short period (a table of numbers, a list of like lines), and its inner starts, of which
 * there can be a million, say nothing that its first period does not. A repeat may therefore begin later than it could;
 * extend it to the left.
 */
export interface MaximalRepeats {
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Near linear in `text.length`; symbols are in `[0, symbols)`. */
export function maximalRepeats(
  text: Int32Array,
  symbols: number,
  minLength: number,
): MaximalRepeats {
  const order = suffixArray(text, symbols);
  const shared = commonPrefixes(text, order);
  const periodic = periodicStarts(windowClasses(order, shared, minLength), minLength);
  const sparse = withoutPeriodic(order, shared, periodic);
  return repeatsOf(sparse, leftChanges(text, sparse.starts, periodic), minLength);
}

/** By position: equal for positions at which the same `minLength` symbols stand, if they stand twice; else -1. */
function windowClasses(order: Int32Array, shared: Int32Array, minLength: number): Int32Array {
  const classes = new Int32Array(order.length).fill(-1);
  for (let i = 1; i < order.length; i += 1) {
    if ((shared[i] as number) < minLength) continue;
    const before = order[i - 1] as number;
    if (classes[before] === -1) classes[before] = i;
    classes[order[i] as number] = classes[before] as number;
  }
  return classes;
}

/** 0: the start may begin a repeat; 1: its symbols also start a little earlier; 2: they stand only once. */
function periodicStarts(classes: Int32Array, minLength: number): Uint8Array {
  const marks = new Uint8Array(classes.length);
  const lastOf = new Int32Array(classes.length + 1).fill(-1);
  classes.forEach((klass, position) => {
    if (klass === -1) {
      marks[position] = 2;
      return;
    }
    const last = lastOf[klass] as number;
    if (last >= 0 && position - last < minLength) marks[position] = 1;
    lastOf[klass] = position;
  });
  return marks;
}

interface SparseOrder {
  readonly starts: Int32Array;
  readonly shared: Int32Array;
}

function withoutPeriodic(order: Int32Array, shared: Int32Array, marks: Uint8Array): SparseOrder {
  let count = 0;
  for (const mark of marks) if (mark === 0) count += 1;
  const starts = new Int32Array(count);
  const between = new Int32Array(count);
  let filled = 0;
  let least = 0;
  for (let i = 0; i < order.length; i += 1) {
    least = Math.min(least, shared[i] as number);
    const start = order[i] as number;
    if (marks[start] !== 0) continue;
    starts[filled] = start;
    between[filled] = least;
    filled += 1;
    least = Number.MAX_SAFE_INTEGER;
  }
  return { starts, shared: between };
}

/** Running count of neighbours in `starts` that different symbols precede (or a start that was left out). */
function leftChanges(text: Int32Array, starts: Int32Array, marks: Uint8Array): Int32Array {
  const changes = new Int32Array(starts.length);
  let count = 0;
  let before = -1;
  starts.forEach((start, i) => {
    const fixed = start === 0 || marks[start - 1] === 1;
    const left = fixed ? -1 : (text[start - 1] as number);
    if (left === -1 || left !== before) count += 1;
    changes[i] = count;
    before = left;
  });
  return changes;
}

/** The intervals of the suffix order that share more than their surroundings and differ on their left. */
function repeatsOf(order: SparseOrder, changes: Int32Array, minLength: number): MaximalRepeats {
  const lengths: number[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const open: { length: number; from: number }[] = [];
  const count = order.starts.length;
  for (let i = 1; i <= count; i += 1) {
    const length = i < count ? (order.shared[i] as number) : 0;
    let first = i - 1;
    for (let top = open.at(-1); top !== undefined && top.length > length; top = open.at(-1)) {
      open.pop();
      first = top.from;
      if (changes[first] === changes[i - 1]) continue;
      lengths.push(top.length);
      from.push(first);
      to.push(i - 1);
    }
    if (length >= minLength && open.at(-1)?.length !== length) open.push({ length, from: first });
  }
  return {
    starts: order.starts,
    lengths: Int32Array.from(lengths),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
  };
}
