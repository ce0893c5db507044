import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeCommand } from '../../../src/tools/core/command-line.ts';
import { COMMAND_RISKS } from '../../../src/tools/core/command-risk.ts';
import { LOOSE, SAFE } from '../../support/command-scope.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const rows = [...readme.matchAll(/^\| (low|medium|high) \| [^|]+ \| ([^|]+) \|/gm)];
const examples = rows.flatMap(([, risk = '', cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, line = '']) => [risk, line] as const),
);

describe('X1: the table of risks that users read is the one in force', () => {
  test('has every level, each with examples', () => {
    expect(rows.map(([, risk]) => risk)).toEqual(['low', 'medium', 'high']);
    expect(examples.length).toBeGreaterThan(15);
  });

  test.each(examples)('%s: %s', (risk, line) => {
    const allowed = [...LOOSE.allowed, line.split(' ')[0] ?? ''];
    const verdict = judgeCommand({ ...LOOSE, allowed }, line);
    expect(verdict.ok ? verdict.risk.risk : verdict.words).toBe(risk);
    expect(judgeCommand({ ...SAFE, allowed }, line).ok).toBe(risk !== 'high');
  });

  test('names no program twice', () => {
    const names = COMMAND_RISKS.flatMap(({ programs }) => programs);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
