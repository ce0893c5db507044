/** A long text with its middle left out, and a mark that says how much is missing and where all of it is (SPEC R12). */
export function clip(text: string, charsMax: number, fullPath: string | null): string {
  if (text.length <= charsMax) return text;
  const mark = (missing: number) =>
    `\n[... ${missing} of ${text.length} characters left out here; ${
      fullPath === null ? 'the full text was not kept' : `the full text is in ${fullPath}`
    } ...]\n`;
  const room = Math.max(0, charsMax - mark(text.length).length);
  const headEnd = wholeCharacter(text, Math.ceil((room * 2) / 3));
  const tailStart = wholeCharacter(text, text.length - Math.floor(room / 3));
  return text.slice(0, headEnd) + mark(tailStart - headEnd) + text.slice(tailStart);
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
