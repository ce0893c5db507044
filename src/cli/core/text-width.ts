/** Widths in columns of a terminal: East Asian wide characters and emoji take two, combining marks none. */

const ASCII = /^[ -~]*$/;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
const WITHOUT_WIDTH = /^[\p{M}\p{Cf}]+$/u;

/** More UTF-16 units than this in one column are not written by any language. */
const UNITS_A_COLUMN = 16;

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** `text` in at most `columns`; where it is longer it ends with `…`. */
export function cutText(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (text.length <= columns && ASCII.test(text)) return text;
  // Finding graphemes costs more than the length of a text: of a long one only what could be shown is looked at.
  const isLong = text.length > columns * UNITS_A_COLUMN;
  const head = isLong ? text.slice(0, columns * UNITS_A_COLUMN) : text;
  if (!isLong && textWidth(head) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const { segment } of segmenter.segment(head)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** `text` with blanks after it, or before it, to fill `columns`. */
export function padText(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, columns - textWidth(text)));
  return side === 'left' ? text + blanks : blanks + text;
}

function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  if (EMOJI.test(grapheme) || WIDE.test(grapheme)) return 2;
  return WITHOUT_WIDTH.test(grapheme) ? 0 : 1;
}

/** One line of text over several of at most `columns`, broken at blanks; what `linesMax` have no room for is cut. */
export function wrapText(text: string, columns: number, linesMax: number): string[] {
  const lines: string[] = [];
  let line = '';
  const words = text.split(' ');
  for (const [at, word] of words.entries()) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) <= columns || line === '') {
      line = longer;
      continue;
    }
    if (lines.length === linesMax - 1) {
      return [...lines, cutText(`${line} ${words.slice(at).join(' ')}`, columns)];
    }
    lines.push(cutText(line, columns));
    line = word;
  }
  return [...lines, cutText(line, columns)];
}
