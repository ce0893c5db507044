import { describe, expect, it } from 'vitest';
import { plain } from '../../../src/cli/core/paint.ts';
import { textWidth } from '../../../src/cli/core/text-width.ts';
import type { TreeNode } from '../../../src/cli/core/tree-layout.ts';
import { type TreeOptions, treeLines } from '../../../src/cli/core/tree-rows.ts';
import type { ReviewVerdict } from '../../../src/runtime/core/plan-event.ts';
import type { PlanSpec, PlanTask } from '../../../src/runtime/core/plan-spec.ts';
import type { Launch } from '../../../src/runtime/core/plan-state.ts';
import { planView } from '../../../src/runtime/core/plan-view.ts';
import type { ChildOutcome } from '../../../src/runtime/core/run-event.ts';
import { accept, PlanPlay, planOf, reviewer, rework, task } from '../../support/plan-fixtures.ts';

const OPTIONS: TreeOptions = {
  paint: plain,
  width: 80,
  rowsMax: null,
  now: Date.parse('2026-03-01T12:01:07.000Z'),
  parseTime: Date.parse,
};
const STARTED = '2026-03-01T12:00:00.000Z';

function nodeOf(runId: string, change: Partial<TreeNode> = {}): TreeNode {
  return {
    run_id: runId,
    parent_run_id: null,
    agent_id: 'lead',
    status: 'running',
    turns: 1,
    started_at: STARTED,
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

/** The runs of the plan's tasks as the tree has them, each a second longer than the one before it. */
function childOf({ child_run_id, agent_id, task_id, status, ordinal }: Launch): TreeNode {
  const isRunning = status === 'running';
  return nodeOf(child_run_id, {
    parent_run_id: 'run_r',
    agent_id,
    task_id,
    status,
    ended_at: isRunning ? null : `2026-03-01T12:00:${String(ordinal).padStart(2, '0')}.000Z`,
    doing: isRunning ? 'model' : '',
    error: status === 'failed' ? 'too slow' : null,
  });
}

function rootOf(play: PlanPlay, change: Partial<TreeNode> = {}): TreeNode {
  const isEnded = (change.ended_at ?? null) !== null;
  return nodeOf('run_r', {
    plans: [planView(play.state, isEnded) ?? []].flat(),
    children: play.state.launches.map(childOf),
    width: { running: play.running().length, max: 8 },
    doing: isEnded ? '' : 'plan',
    ...change,
  });
}

function linesOf(play: PlanPlay, change: Partial<TreeOptions> = {}): string[] {
  return treeLines(rootOf(play), { ...OPTIONS, ...change });
}

type Step = readonly [id: string, change?: Partial<ChildOutcome>, verdict?: ReviewVerdict];

function played(
  tasks: readonly PlanTask[],
  spec: Partial<PlanSpec>,
  steps: readonly Step[],
): PlanPlay {
  const play = new PlanPlay(planOf(tasks, spec));
  for (const [id, change, verdict] of steps) play.end(id, change, verdict ?? null);
  return play;
}

const FAILED = { status: 'failed', error_type: 'model.timeout', error: 'too slow' } as const;
const REVIEWED = [task('a'), task('b'), reviewer('c', ['a', 'b']), task('d', ['c'])];
const SENT_BACK: readonly Step[] = [['a'], ['b'], ['c', {}, rework({ b: 'Say it shorter.' })]];

describe('a plan in the tree', () => {
  it('K1: has its tasks with status, round and arrows, the runs of each, and who sent what back why', () => {
    const play = played(REVIEWED, { goal: 'Two texts' }, [
      ...SENT_BACK,
      ['b'],
      ['c', {}, accept('good')],
      ['d'],
    ]);
    expect(linesOf(play)).toEqual([
      'lead run_r             running     1 turn  1m07s     -  0/8  plan',
      '└─ plan turn-1/call-1  completed  4 tasks: 4 completed',
      '   │  Two texts',
      '   ├─ a agent-a        completed',
      '   │  └─ plan/01-a     completed   1 turn   1.0s     -',
      '   ├─ b agent-b        completed  round 2',
      '   │  ├─ plan/02-b     completed   1 turn   2.0s     -       round 1',
      '   │  │     sent back by c: Say it shorter.',
      '   │  └─ plan/04-b     completed   1 turn   4.0s     -       round 2',
      '   ├─ c agent-c        completed  round 2; accept; ← a, b',
      '   │  ├─ plan/03-c     completed   1 turn   3.0s     -       round 1',
      '   │  └─ plan/05-c     completed   1 turn   5.0s     -       round 2',
      '   └─ d agent-d        completed  ← c',
      '      └─ plan/06-d     completed   1 turn   6.0s     -',
    ]);
  });

  it.each<[string, Partial<PlanSpec>, readonly PlanTask[], readonly Step[], readonly RegExp[]]>([
    [
      'P4: a skip names its cause and the task at the root of it',
      {},
      [task('a'), task('b', ['a']), task('c', ['b'])],
      [['a', FAILED]],
      [
        /plan \S+ +completed +3 tasks: 1 failed, 2 skipped$/,
        /├─ a agent-a +failed +model\.timeout$/,
        /└─ plan\/01-a +failed .*too slow$/,
        /├─ b agent-b +skipped +upstream_failed, blocked by a; ← a$/,
        /└─ c agent-c +skipped +upstream_failed, blocked by a; ← b$/,
      ],
    ],
    [
      'P4: a task without an answer says why',
      {},
      [task('a')],
      [['a', { status: 'incomplete', reason: 'turn_limit' }]],
      [/a agent-a +incomplete +turn_limit$/],
    ],
    [
      'P5: a stopped plan names the task that stopped it, while the rest still runs',
      { on_failure: 'stop' },
      [task('a'), task('b'), task('c', ['b'])],
      [['a', FAILED]],
      [
        /plan \S+ +stopped +because of a; /,
        /b agent-b +running/,
        /c agent-c +skipped +plan_stopped/,
      ],
    ],
    [
      'P5: so does an aborted one',
      { on_failure: 'abort' },
      [task('a'), task('b')],
      [
        ['a', FAILED],
        ['b', { status: 'cancelled', stopped_by: 'parent' }],
      ],
      [/plan \S+ +aborted +because of a; /, /b agent-b +incomplete +plan_aborted$/],
    ],
    [
      'P6: a wave shows what it leaves',
      { mode: 'wave' },
      [task('a'), task('b', ['a'])],
      [['a']],
      [/first wave; 2 tasks: 1 completed, 1 not started$/, /b agent-b +not started +← a$/],
    ],
    [
      'P7: a verdict by default is told from one that was given',
      {},
      [task('a'), reviewer('b', ['a'])],
      [['a'], ['b', FAILED]],
      [/b agent-b +completed +accept by default; ← a$/],
    ],
    [
      'P9: a task that was sent back too often says so, with the last remarks',
      { max_rework: 0 },
      [task('a'), reviewer('b', ['a'])],
      [['a'], ['b', {}, rework({ a: 'no' })]],
      [
        /a agent-a +failed +rework_exhausted$/,
        /^ +│ +│ +sent back 1 time, at most 0 allowed \(max_rework\); last by 'b': no$/,
        /^ +│ +sent back by b: no$/,
        /b agent-b +skipped +upstream_rework_exhausted, blocked by a; ← a$/,
      ],
    ],
  ])('%s', (_title, spec, tasks, steps, expected) => {
    const lines = linesOf(played(tasks, spec, steps), { width: 100 });
    for (const pattern of expected) {
      expect(
        lines.filter((line) => pattern.test(line)),
        String(pattern),
      ).toHaveLength(1);
    }
  });

  it('P10: a plan that ran out of time says so', () => {
    const play = new PlanPlay(planOf([task('a'), task('b', ['a'])]));
    play.say({ type: 'out-of-time' });
    play.end('a');
    const lines = linesOf(play, { width: 100 });
    expect(lines[1]).toMatch(/run_time_limit; 2 tasks: 1 completed, 1 skipped$/);
    expect(lines.at(-1)).toMatch(/b agent-b +skipped +run_time_limit; ← a$/);
  });

  it('a plan whose run ended before it is unfinished, and what never began is not pending', () => {
    const cut = new PlanPlay(planOf([task('a'), task('b', ['a'])]));
    const ended = { status: 'cancelled', ended_at: '2026-03-01T12:00:09.000Z', children: [] };
    const lines = treeLines(rootOf(cut, ended), OPTIONS);
    expect(lines[1]).toMatch(/plan \S+ +unfinished/);
    expect(lines.at(-1)).toMatch(/b agent-b +not started/);
  });

  it('no plan is shown as running where no host carries its run on', () => {
    const play = new PlanPlay(planOf([task('a'), task('b', ['a'])]));
    const interrupted = new Set(['run_r', 'run_r/plan/01-a']);
    const lines = linesOf(play, { interrupted });
    expect(lines.filter((line) => / running\b/.test(line))).toEqual([]);
    expect(lines.filter((line) => / interrupted\b/.test(line))).toHaveLength(4);
  });

  it('a task stands below all that it builds on, whatever the order of the plan', () => {
    const play = new PlanPlay(planOf([task('c', ['b']), task('b', ['a']), task('x'), task('a')]));
    const names = linesOf(play).flatMap((line) => /─ (\w) agent-/.exec(line)?.[1] ?? []);
    expect(names).toEqual(['x', 'a', 'b', 'c']);
  });

  it('a plan stands among the other children where its first task was launched', () => {
    const play = new PlanPlay(planOf([task('a')]), { firstOrdinal: 2 });
    const other = (id: string) => nodeOf(id, { parent_run_id: 'run_r', agent_id: 'part' });
    const children = [
      other('run_r/delegate/01'),
      ...play.state.launches.map(childOf),
      other('run_r/delegate/03'),
    ];
    const lines = treeLines(rootOf(play, { children }), OPTIONS);
    expect(lines.flatMap((line) => /[├└]─ (.+?) {2}/.exec(line)?.[1] ?? [])).toEqual([
      'part delegate/01',
      'plan turn-1/call-1',
      'a agent-a',
      'plan/02-a',
      'part delegate/03',
    ]);
  });

  it('no line is wider than the terminal, whatever its width and whatever the remarks', () => {
    const remarks = `long \u001b[2J ${'漢字 words '.repeat(60)}`;
    const play = played(REVIEWED, { goal: remarks }, [
      ['a'],
      ['b'],
      ['c', {}, rework({ b: remarks })],
    ]);
    for (let width = 1; width < 100; width += 1) {
      for (const line of linesOf(play, { width })) {
        expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(line).not.toContain('\u001b');
      }
    }
    const prose = linesOf(play).filter((line) => /sent back by c|漢字/.test(line));
    expect(prose.length).toBeGreaterThan(2);
    expect(prose.at(-1)).toMatch(/…$/);
  });
});

describe('a plan in the live tree', () => {
  it('K1: has one line a task, with what its run does or what it waits for', () => {
    const play = played(REVIEWED, {}, SENT_BACK);
    expect(linesOf(play, { compact: true })).toEqual([
      'lead run_r             running     1 turn  1m07s     -  1/8  plan',
      '└─ plan turn-1/call-1  running    4 tasks: 1 completed, 1 running, 2 pending',
      '   ├─ a agent-a        completed   1 turn   1.0s     -',
      '   ├─ b agent-b        running     1 turn  1m07s     -       model; round 2, se…',
      '   ├─ c agent-c        pending    ← a, b',
      '   └─ d agent-d        pending    ← c',
    ]);
  });

  it('a run that was called off is shown until it has ended, below its pending task', () => {
    const tasks = [task('a'), reviewer('r', ['a']), task('x', ['a'])];
    const play = played(tasks, {}, [['a'], ['r', {}, rework({ a: 'no' })]]);
    expect(linesOf(play, { compact: true }).slice(-2)).toEqual([
      '   └─ x agent-x        pending    ← a',
      '      └─ plan/03-x     running     1 turn  1m07s     -       model',
    ]);
  });

  it('where rows are few, running tasks stay, then pending ones, then those that ended last', () => {
    const tasks = Array.from({ length: 16 }, (_, at) =>
      task(`t${at}`, at < 8 ? [] : [`t${at - 8}`]),
    );
    const play = played(tasks, {}, [['t0'], ['t1'], ['t2']]);
    const shown = (rowsMax: number) => {
      const lines = linesOf(play, { compact: true, rowsMax });
      expect(lines).toHaveLength(rowsMax);
      return (status: string) => lines.filter((line) => line.includes(` ${status} `)).length;
    };
    const many = shown(17);
    expect([many('running'), many('pending'), many('completed')]).toEqual([10, 5, 1]);
    const few = shown(11);
    expect([few('running'), few('pending'), few('completed')]).toEqual([10, 0, 0]);
  });
});
