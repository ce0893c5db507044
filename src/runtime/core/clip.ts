/**
 * A long text with its middle left out, and a mark that says how much is missing and where all of it is (SPEC R12). A text
 * that was cut before, with the same `fullPath`, is cut further at the same place: it has one mark, which counts all.
 */
export function clip(text: string, charsMax: number, fullPath: string | null): string {
  if (text.length <= charsMax) return text;
  const gap = gapIn(text, fullPath);
  const chars = gap?.chars ?? text.length;
  const room = Math.max(0, charsMax - mark(chars, chars, fullPath).length);
  const headMax = Math.ceil((room * 2) / 3);
  const head = gap?.head ?? text.slice(0, wholeCharacter(text, headMax));
  const tail = gap?.tail ?? text.slice(head.length);
  const headEnd = wholeCharacter(head, Math.min(head.length, headMax));
  const tailStart = wholeCharacter(tail, Math.max(0, tail.length - Math.floor(room / 3)));
  const missing = (gap?.missing ?? 0) + head.length - headEnd + tailStart;
  return head.slice(0, headEnd) + mark(missing, chars, fullPath) + tail.slice(tailStart);
}

function mark(missing: number, chars: number, fullPath: string | null): string {
  return `\n[... ${missing} of ${chars}${placeWords(fullPath)}`;
}

function placeWords(fullPath: string | null): string {
  const place =
    fullPath === null ? 'the full text was not kept' : `the full text is in ${fullPath}`;
  return ` characters left out here; ${place} ...]\n`;
}

/** The mark of an earlier cut and what stands around it; the path of the result's own file tells it from quoted ones. */
function gapIn(text: string, fullPath: string | null) {
  const words = placeWords(fullPath);
  const at = text.indexOf(words);
  const counts = /\n\[\.\.\. (\d+) of (\d+)$/.exec(
    text.slice(Math.max(0, at - 60), Math.max(0, at)),
  );
  if (counts === null) return null;
  const head = text.slice(0, at - counts[0].length);
  return {
    head,
    tail: text.slice(at + words.length),
    missing: Number(counts[1]),
    chars: Number(counts[2]),
  };
}

/**
 * How much of `total` each of several texts may take: everybody gets what it needs up to an equal share, and what the
 * short ones leave over goes to the long ones.
 */
export function fairShares(lengths: readonly number[], total: number): number[] {
  const shares = lengths.map(() => 0);
  const order = lengths
    .map((_, index) => index)
    .sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  let rest = total;
  order.forEach((index, done) => {
    const share = Math.min(lengths[index] ?? 0, Math.floor(rest / (order.length - done)));
    shares[index] = share;
    rest -= share;
  });
  return shares;
}

/** Below this length no result of a turn with `calls` calls can be cut, neither alone nor for its turn's sake. */
export function surelyWhole(resultCharsMax: number, turnCharsMax: number, calls: number): number {
  return Math.min(resultCharsMax, Math.floor(turnCharsMax / Math.max(1, calls)));
}

/** `at`, moved back by one where it would part a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  const parts = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return parts ? at - 1 : at;
}
