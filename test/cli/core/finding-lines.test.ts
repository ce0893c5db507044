import { describe, expect, it } from 'vitest';
import { findingLines, findingTotals } from '../../../src/cli/core/finding-lines.ts';
import { plain } from '../../../src/cli/core/paint.ts';
import { finding } from '../../../src/runtime/core/audit-finding.ts';

const at = (run_id: string, n: number) => ({ run_id, event_id: `${run_id}#${n}`, seq: n });

describe('findings as lines', () => {
  it('stand by tree, the directory first, with one advice for alike ones', () => {
    const found = [
      finding('call-open', at('run_b/delegate/01', 4), 'first'),
      finding('unfinished', at('run_a', 9), 'second'),
      finding('call-open', at('run_b', 7), 'third'),
      finding('lock-held', null, 'fourth'),
    ];
    expect(findingLines(found, plain)).toEqual([
      '',
      'state directory',
      '  info lock-held: fourth',
      '      nothing to do',
      '',
      'run run_b',
      '  error call-open at run_b/delegate/01#4 (seq 4): first',
      '  error call-open at run_b#7 (seq 7): third',
      '      something of the journal is gone: restore a copy of the state directory',
      '',
      'run run_a',
      '  info unfinished at run_a#9 (seq 9): second',
      '      `troupe resume` carries it on, unless its host still does',
    ]);
    expect(findingTotals(found)).toBe('2 errors, 0 warnings, 2 notices');
  });

  it('are bounded for each tree', () => {
    const many = Array.from({ length: 60 }, (_, n) => finding('frame', at('run_a', n + 1), 'x'));
    const lines = findingLines(many, plain);
    expect(lines).toHaveLength(54);
    expect(lines.at(-1)).toBe('  and 10 more; --json shows them');
  });

  it('send nothing of what a run says to the terminal as it is', () => {
    const lines = findingLines([finding('frame', at('run_\u001b[2J', 1), 'a\u001b[2Jb')], plain);
    expect(lines.join('\n')).not.toContain('\u001b');
  });
});
