import { describe, expect, it } from 'vitest';
import { inColour, plain, statusColour } from '../../../src/cli/core/paint.ts';
import { type Column, tableLines } from '../../../src/cli/core/table.ts';

interface Row {
  readonly name: string;
  readonly count: number;
  readonly words: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', cell: (row) => row.name },
  { title: 'N', cell: (row) => String(row.count), right: true },
  { title: 'WORDS', cell: (row) => row.words },
];
const ROWS = [
  { name: '漢字', count: 7, words: 'one two three four five six' },
  { name: 'longer', count: 123, words: '' },
];

describe('tables', () => {
  it('aligns by columns of the terminal and leaves no blanks at the end', () => {
    expect(tableLines(COLUMNS, ROWS, { paint: plain, width: null })).toEqual([
      'NAME      N  WORDS',
      '漢字      7  one two three four five six',
      'longer  123',
    ]);
  });

  it('cuts the last column where the terminal ends', () => {
    const lines = tableLines(COLUMNS, ROWS, { paint: plain, width: 24 });
    expect(lines[1]).toBe('漢字      7  one two th…');
  });

  it('has its titles where there is no row', () => {
    expect(tableLines(COLUMNS, [], { paint: plain, width: 80 })).toEqual(['NAME  N  WORDS']);
  });

  it('colours after it has aligned, so that escapes take no room', () => {
    const [first = { title: '', cell: () => '' }, ...rest] = COLUMNS;
    const painted = [
      { ...first, paint: (_row: Row, text: string) => inColour('red', text) },
      ...rest,
    ];
    const lines = tableLines(painted, ROWS, { paint: plain, width: null });
    expect(lines[2]).toBe('\u001b[31mlonger\u001b[0m  123');
  });

  it('every status has a colour, and an empty text takes none', () => {
    for (const status of ['pending', 'running', 'completed', 'failed', 'cancelled', 'incomplete']) {
      expect(inColour(statusColour(status), 'x')).toContain('x');
    }
    expect(inColour('red', '')).toBe('');
  });
});
