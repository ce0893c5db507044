import { describe, expect, it } from 'vitest';
import { inColour, plain } from '../../../src/cli/core/paint.ts';
import { textWidth } from '../../../src/cli/core/text-width.ts';
import type { TreeNode } from '../../../src/cli/core/tree-layout.ts';
import { type TreeOptions, treeLines } from '../../../src/cli/core/tree-rows.ts';

function node(runId: string, change: Partial<TreeNode> = {}): TreeNode {
  const slash = runId.lastIndexOf('/delegate/');
  return {
    run_id: runId,
    parent_run_id: slash === -1 ? null : runId.slice(0, slash),
    agent_id: 'lead',
    status: 'running',
    turns: 1,
    started_at: '2026-03-01T12:00:00.000Z',
    ended_at: null,
    cost_cents: null,
    width: { running: 0, max: 8 },
    doing: '',
    error: null,
    reason: null,
    task_id: null,
    plans: [],
    children: [],
    ...change,
  };
}

function done(runId: string, endedAt: string, change: Partial<TreeNode> = {}): TreeNode {
  const ended_at = `2026-03-01T12:00:${endedAt}.000Z`;
  return node(runId, { status: 'completed', ended_at, agent_id: 'part', ...change });
}

const OPTIONS: TreeOptions = {
  paint: plain,
  width: null,
  rowsMax: null,
  now: Date.parse('2026-03-01T12:01:07.000Z'),
  parseTime: Date.parse,
};

const TREE = node('run_a', {
  turns: 2,
  doing: 'delegate',
  width: { running: 2, max: 8 },
  children: [
    done('run_a/delegate/01', '04', { cost_cents: 1.5 }),
    node('run_a/delegate/02', {
      agent_id: 'part',
      doing: 'model',
      children: [
        done('run_a/delegate/02/delegate/01', '03', {
          status: 'failed',
          error: 'no\nway\u001b[31m',
        }),
      ],
    }),
    node('run_a/delegate/03', { agent_id: 'part', doing: 'code_stats', turns: 3 }),
  ],
});

describe('a tree in lines', () => {
  it('K1: shows agent, status, turns, elapsed, cost, width in use and what a run does', () => {
    expect(treeLines(TREE, OPTIONS)).toEqual([
      'lead run_a              running    2 turns  1m07s     -  2/8  delegate',
      '├─ part delegate/01     completed   1 turn   4.0s  1.5¢',
      '├─ part delegate/02     running     1 turn  1m07s     -  0/8  model',
      '│  └─ part delegate/01  failed      1 turn   3.0s     -       no way\\x1b[31m',
      '└─ part delegate/03     running    3 turns  1m07s     -       code_stats',
    ]);
  });

  it('no line is wider than the terminal, whatever its width', () => {
    for (let width = 1; width < 90; width += 1) {
      for (const line of treeLines(TREE, { ...OPTIONS, width })) {
        expect(textWidth(line)).toBeLessThanOrEqual(width);
      }
    }
  });

  it('where rows are few, those that go on stay and the longest ended go first', () => {
    expect(agentsOf(treeLines(TREE, { ...OPTIONS, rowsMax: 5 }))).toHaveLength(5);
    const lines = treeLines(TREE, { ...OPTIONS, rowsMax: 4 });
    expect(lines.slice(0, 3).join('\n')).not.toContain('completed');
    expect(lines[3]).toBe('… 2 more rows');
  });

  it('a run that no host carries on is not shown as running', () => {
    const [line] = treeLines(node('run_a'), { ...OPTIONS, interrupted: new Set(['run_a']) });
    expect(line).toBe('lead run_a  interrupted   1 turn      -     -');
  });

  it('colours the status and nothing that it measures', () => {
    const [line] = treeLines(node('run_a'), { ...OPTIONS, paint: inColour });
    expect(line).toContain('\u001b[36mrunning  \u001b[0m');
  });
});

function agentsOf(lines: readonly string[]): string[] {
  return lines.filter((line) => / (run_a|delegate\/\d\d) /.test(line));
}
