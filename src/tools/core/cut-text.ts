/** White space runs become one space; what is longer than `charsMax` loses its end and says so with `…`. */
export function cutEnd(text: string, charsMax: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= charsMax ? line : `${wholeChars(line.slice(0, charsMax - 1))}…`;
}

/** A path that is longer than `charsMax` loses its middle, because its end says which file it is. */
export function cutMiddle(path: string, charsMax: number): string {
  if (path.length <= charsMax) return path;
  const head = Math.trunc((charsMax - 1) / 3);
  const tail = charsMax - 1 - head;
  const end = path.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '');
  return `${wholeChars(path.slice(0, head))}…${end}`;
}

/** Without the half of a surrogate pair that a cut may leave at the end. */
function wholeChars(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}
