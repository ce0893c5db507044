import { describe, expect, it } from 'vitest';
import { cutText, padText, textWidth, wrapText } from '../../../src/cli/core/text-width.ts';

describe('widths in columns', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['né', 2],
    ['ne\u0301', 2],
    ['漢字', 4],
    ['한국', 4],
    ['👍', 2],
    ['👩‍💻', 2],
    ['🇫🇷', 2],
    ['❤️', 2],
    ['├─ ', 3],
    ['…', 1],
    ['¢', 1],
  ])('%j takes %i', (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });

  it.each([
    ['plain', 5, 'plain'],
    ['plain', 4, 'pla…'],
    ['plain', 1, '…'],
    ['plain', 0, ''],
    ['漢字漢字', 6, '漢字…'],
    ['漢字漢字', 7, '漢字漢…'],
    ['ne\u0301e', 2, 'n…'],
  ])('%j cut to %i columns is %j', (text, columns, cut) => {
    expect(cutText(text, columns)).toBe(cut);
    expect(textWidth(cut)).toBeLessThanOrEqual(columns);
  });

  it('fills up to a width by columns, not by characters, and never cuts', () => {
    expect(padText('漢', 4)).toBe('漢  ');
    expect(padText('12', 4, 'right')).toBe('  12');
    expect(padText('longer', 3)).toBe('longer');
  });

  it.each<[string, number, number, readonly string[]]>([
    ['one line', 8, 3, ['one line']],
    ['two short lines', 9, 3, ['two short', 'lines']],
    ['what does not fit is cut', 9, 2, ['what does', 'not fit …']],
    ['unbreakable word', 5, 3, ['unbr…', 'word']],
    ['漢字 漢字', 4, 2, ['漢字', '漢字']],
    ['', 4, 2, ['']],
  ])('%j over lines of %i columns, %i at most, is %j', (text, columns, linesMax, lines) => {
    expect(wrapText(text, columns, linesMax)).toEqual(lines);
  });
});

describe('a text of millions of characters', () => {
  it('is cut without being read to its end', () => {
    const cut = cutText('é'.repeat(3_000_000), 20);
    expect(cut).toBe(`${'é'.repeat(19)}…`);
  });
});
