/**
 * The known name that a mistyped one probably meant: fewest edits, at most a third of its length and never more than
 * three; `null` where nothing is near. Names longer than 64 characters have no neighbours.
 */
export function nearestName(wrong: string, known: Iterable<string>): string | null {
  if (wrong.length > 64) return null;
  let best: string | null = null;
  let bestEdits = Math.min(3, Math.max(1, Math.floor(wrong.length / 3))) + 1;
  for (const name of known) {
    if (name.length > 64) continue;
    const edits = editsBetween(squeezed(wrong), squeezed(name));
    if (edits < bestEdits) {
      best = name;
      bestEdits = edits;
    }
  }
  return best;
}

function squeezed(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '');
}

function editsBetween(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i += 1) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const change = (previous[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      row.push(Math.min(change, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
