/**
 * The known word that a person most likely meant, or `null` where none is close. A dash counts as an underscore and
 * case does not count; words that begin alike (`api_key` and `api_key_env`, `delegate` and `delegation`) are close.
 */
export function nearest(asked: string, known: readonly string[]): string | null {
  const wanted = plain(asked);
  let best: string | null = null;
  let bestDistance = bound(wanted) + 1;
  for (const candidate of known) {
    const distance = apart(wanted, plain(candidate));
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** The shortest beginning that can make two words forms of one. */
const STEM_CHARS_MIN = 4;
/** How far apart such words count at most. */
const STEM_DISTANCE = 2;

/** How many typing errors a word of this length may hold: one in three letters, at least two in longer words. */
function bound(word: string): number {
  return word.length < STEM_CHARS_MIN ? 1 : Math.max(2, Math.floor(word.length / 3));
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}

function apart(a: string, b: string): number {
  const long = Math.max(a.length, b.length);
  const short = Math.min(a.length, b.length);
  const stem = sharedStem(a, b);
  const related = stem >= STEM_CHARS_MIN && (stem === short || stem * 2 >= long);
  const distance = editDistance(a, b);
  return related ? Math.min(STEM_DISTANCE, distance) : distance;
}

function sharedStem(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? Number.POSITIVE_INFINITY) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
