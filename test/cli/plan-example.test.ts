import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { openCli } from '../support/cli-fixture.ts';

const config = fileURLToPath(new URL('../../examples/plan-review/troupe.toml', import.meta.url));
const source = fileURLToPath(new URL('../../src/base', import.meta.url));

/** Places of journals and clocks; the rest of a tree is the same in every run. */
function steady(text: string): string[] {
  return text
    .trimEnd()
    .replace(/\brun_[\w-]{12}/g, 'run_x')
    .split('\n')
    .map((line) => line.replace(/ {2,}(\d+ turns?) +\S+s +\S+/, ' | $1').replace(/ {2,}/g, ' | '));
}

describe('the plan-review example at the command line', () => {
  it('K1: run, tree and log tell who sent what back, and what was done again', async () => {
    const stage = await openCli();
    const asked = ['run', 'lead', 'Describe it.', '--config', config, '--workspace', source];
    const run = await stage.cli(...asked);
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/lines of comments\. Checked: \d+ files/);
    expect(run.err).toMatch(
      /plan\.task\.rejected +numbers sent back by review in round 1: Say how/,
    );
    const [, runId = ''] = /^run (\S+)$/m.exec(run.err) ?? [];

    const [tree, json, log] = await Promise.all([
      stage.cli('tree', runId),
      stage.cli('tree', runId, '--json'),
      stage.cli('log', runId, '--json'),
    ]);
    expect(steady(tree.out)).toEqual([
      'lead run_x | completed | 3 turns',
      '└─ plan turn-2/call-1 | completed | 4 tasks: 4 completed',
      ' | │ | Describe it.',
      ' | ├─ layout writer | completed',
      ' | │ | └─ plan/01-layout | completed | 2 turns',
      ' | ├─ numbers writer | completed | round 2',
      ' | │ | ├─ plan/02-numbers | completed | 2 turns | round 1',
      ' | │ | │ | sent back by review: Say how many of the lines are comments.',
      ' | │ | └─ plan/04-numbers | completed | 2 turns | round 2',
      ' | ├─ review reviewer | completed | round 2; accept; ← layout, numbers',
      ' | │ | ├─ plan/03-review | completed | 1 turn | round 1',
      ' | │ | └─ plan/05-review | completed | 1 turn | round 2',
      ' | └─ qa qa | completed | ← review, numbers',
      ' | └─ plan/06-qa | completed | 2 turns',
    ]);

    const view = JSON.parse(json.out);
    expect(view.children.map((child: { task_id: string }) => child.task_id)).toEqual([
      'layout',
      'numbers',
      'review',
      'numbers',
      'review',
      'qa',
    ]);
    expect(view.plans).toMatchObject([
      {
        status: 'completed',
        goal: 'Describe it.',
        tasks: [
          { id: 'layout', round: 1, rejections: [] },
          {
            id: 'numbers',
            round: 2,
            child_run_ids: [`${runId}/plan/02-numbers`, `${runId}/plan/04-numbers`],
            rejections: [{ by: 'review', round: 1 }],
          },
          { id: 'review', round: 2, verdict: 'accept', verdict_source: 'submit_review' },
          { id: 'qa', depends_on: ['review', 'numbers'], skip: null },
        ],
      },
    ]);
    const events = log.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalEvent);
    expect(events.filter(({ type }) => type === 'plan.completed')).toHaveLength(1);
  });
});
