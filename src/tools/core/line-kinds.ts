export interface CommentSpan {
  /** What stands between the comment's marks. */
  readonly text: string;
  /** Line of its first character, from 1. */
  readonly line: number;
  /** Offsets of the whole comment in the file's text; the end is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Every line is exactly one of the three. A line break at the very end opens no further line. */
export interface LineKinds {
  readonly lines: number;
  /** Lines with anything outside comments on them. */
  readonly codeLines: number;
  /** Lines with nothing but comments on them. */
  readonly commentLines: number;
  /** Lines of white space only, inside comments and template strings too. */
  readonly blankLines: number;
}

/** ECMAScript's line terminators. */
const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;

/** @param comments by their place in the text */
export function lineKinds(text: string, comments: readonly CommentSpan[]): LineKinds {
  let lines = 0;
  let codeLines = 0;
  let blankLines = 0;
  let comment = 0;
  for (const { start, end } of lineSpans(text)) {
    lines += 1;
    while ((comments[comment]?.end ?? end) < start) comment += 1;
    if (isBlank(text, start, end)) blankLines += 1;
    else if (hasCode(text, start, end, comments, comment)) codeLines += 1;
  }
  return { lines, codeLines, commentLines: lines - codeLines - blankLines, blankLines };
}

/** The texts of the lines of a comment, with their line numbers. */
export function commentLinesOf(comment: CommentSpan): readonly { line: number; text: string }[] {
  return comment.text
    .split(lineBreak)
    .map((text, index) => ({ line: comment.line + index, text: text.trim() }));
}

function* lineSpans(text: string): Generator<{ start: number; end: number }> {
  let start = 0;
  for (const match of text.matchAll(lineBreak)) {
    yield { start, end: match.index };
    start = match.index + match[0].length;
  }
  if (start < text.length) yield { start, end: text.length };
}

function hasCode(
  text: string,
  start: number,
  end: number,
  comments: readonly CommentSpan[],
  firstComment: number,
): boolean {
  let at = start;
  for (let i = firstComment; at < end; i += 1) {
    const comment = comments[i];
    if (comment === undefined || comment.start >= end) break;
    if (comment.start > at && !isBlank(text, at, comment.start)) return true;
    at = Math.max(at, comment.end);
  }
  return at < end && !isBlank(text, at, end);
}

function isBlank(text: string, start: number, end: number): boolean {
  return text.slice(start, end).trim() === '';
}
