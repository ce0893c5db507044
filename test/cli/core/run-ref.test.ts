import { describe, expect, it } from 'vitest';
import { belowTop, matchRun, ownPart } from '../../../src/cli/core/run-ref.ts';

const RUNS = [
  'run_abc',
  'run_abc/delegate/01',
  'run_abc/delegate/02',
  'run_abc/plan/03-review',
  'run_abc/delegate/01/delegate/01',
  'run_abd',
  'run_x',
  'run_xy',
];

describe('the run that a person means', () => {
  it.each([
    ['run_abc', 'run_abc'],
    ['run_abd', 'run_abd'],
    ['run_x', 'run_x'],
    ['run_xy', 'run_xy'],
    ['run_abc/delegate/01', 'run_abc/delegate/01'],
    ['run_abc/delegate/02', 'run_abc/delegate/02'],
    ['run_abc/plan/03', 'run_abc/plan/03-review'],
    ['run_abc/d/02', 'run_abc/delegate/02'],
    ['run_abc/delegate/01/delegate/01', 'run_abc/delegate/01/delegate/01'],
  ])('%s is %s', (asked, runId) => {
    expect(matchRun(asked, RUNS)).toEqual({ kind: 'one', runId });
  });

  it.each([
    ['run_ab', ['run_abc', 'run_abd']],
    ['run_abc/delegate/0', ['run_abc/delegate/01', 'run_abc/delegate/02']],
  ])('%s may be any of %j', (asked, runIds) => {
    expect(matchRun(asked, RUNS)).toEqual({ kind: 'many', runIds });
  });

  it.each(['run_q', 'abc', '', 'run_abc/', 'run_abc/delegate', '/'])('%j is none', (asked) => {
    expect(matchRun(asked, RUNS)).toEqual({ kind: 'none' });
  });

  it('shows the part of an id that its place does not tell', () => {
    expect(ownPart('run_abc/delegate/01', 'run_abc')).toBe('delegate/01');
    expect(ownPart('run_abc', null)).toBe('run_abc');
    expect(belowTop('run_abc', 'run_abc')).toBe('');
    expect(belowTop('run_abc/delegate/01/delegate/02', 'run_abc')).toBe('delegate/01/delegate/02');
    expect(belowTop('run_abcd', 'run_abc')).toBe('run_abcd');
  });
});
