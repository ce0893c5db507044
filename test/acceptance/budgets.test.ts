import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { gate } from '../support/model-server.ts';
import {
  calls,
  configOf,
  delegate,
  ofType,
  openStage,
  type Stage,
  type StageOptions,
} from '../support/troupe-fixture.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const HOUR_MS = 3_600_000;

const tool = (name: string, effect: 'read' | 'idempotent' | 'effectful') =>
  defineTool<{ n?: number }>({
    name,
    description: name,
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    effect,
    run: ({ n = 0 }) => `${name} ${n}`,
  });

const hostTools = [tool('look', 'read'), tool('set', 'idempotent'), tool('act', 'effectful')];

const act = (n: number) => ({ name: 'act', args: { n } });

const risk = (more: object) => ({
  autonomy: 'full',
  delegation_policy: { mode: 'allow' },
  ...more,
});

/** Each test has agents of its own: what one of them did counts for an hour. */
const OPTIONS: StageOptions = {
  agents: {
    two: { risk_profile: 'two' },
    none: { risk_profile: 'none' },
    kinds: { risk_profile: 'three' },
    sharing: { risk_profile: 'three' },
    spread: { risk_profile: 'spread', delegates: ['d1', 'd2', 'd3', 'd4'] },
    left: { risk_profile: 'left', delegates: ['d1'] },
    d1: { risk_profile: 'p' },
    d2: { risk_profile: 'p' },
    d3: { risk_profile: 'p' },
    d4: { risk_profile: 'p' },
    helper: { risk_profile: 'three' },
    boss: { risk_profile: 'p', delegates: ['small'] },
    small: { risk_profile: 'two' },
    planner: { risk_profile: 'three' },
    doer: { risk_profile: 'three' },
    chief: { risk_profile: 'three' },
    maker: { risk_profile: 'three' },
    asked: { risk_profile: 'asking' },
    racer: { risk_profile: 'one' },
    again: { risk_profile: 'two' },
    local: { risk_profile: 'two', project: 'web' },
    aide: { risk_profile: 'two', project: 'web' },
  },
  blocks: {
    projects: { web: { daily_runs: 2 } },
    risk_profiles: {
      none: risk({ max_actions_per_hour: 0 }),
      one: risk({ max_actions_per_hour: 1 }),
      two: risk({ max_actions_per_hour: 2 }),
      three: risk({ max_actions_per_hour: 3, delegation_policy: { mode: 'allow' } }),
      spread: risk({ max_actions_per_hour: 3 }),
      left: risk({ max_actions_per_hour: 2 }),
      asking: risk({ max_actions_per_hour: 1, always_ask: ['act'] }),
    },
  },
};

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    ...OPTIONS,
    troupe: {
      threads: 1,
      hostTools,
      onApproval: ({ args }) => args['n'] !== 1,
    },
  });
});

afterAll(() => stage.close());

describe('actions of an hour', () => {
  it('X2: the call past the limit is refused with the limit, its key and when it frees; the run goes on', async () => {
    let read: readonly string[] = [];
    stage.play({
      two: ({ turn, results }) => {
        read = results;
        return turn <= 3 ? calls(act(turn)) : 'done';
      },
    });
    const { outcome, events } = await stage.run('two');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'done' });
    expect(read.slice(0, 1)).toEqual([
      expect.stringMatching(
        /^Rate limit exceeded: action budget exhausted\. agent 'two' has used 2 of 2 actions in the last hour \(max_actions_per_hour = 2, \[risk_profiles\.two\]\)\. It frees at \d{4}-.*Z, in \d+ s\.$/,
      ),
    ]);
    const [refused] = ofType(events, 'tool.failed');
    expect(refused?.data).toMatchObject({ error_type: 'action_budget', effect: 'none' });
    expect(ofType(events, 'tool.started')).toHaveLength(2);
  });

  it('X2, D8: a parallel call needs an action for each of its agents, or none of them starts', async () => {
    const parallel = (...agents: string[]) => ({
      name: 'delegate',
      args: { parallel: agents, prompt: 'part' },
    });
    const read: string[] = [];
    stage.play({
      spread: ({ turn, results }) => {
        read.push(...results.slice(-1));
        if (turn === 1) return calls(parallel('d1', 'd2', 'd3', 'd4'));
        return turn === 2 ? calls(parallel('d1', 'd1', 'd2')) : turn === 3 ? calls(act(1)) : 'done';
      },
      d1: 'one',
      d2: 'two',
    });
    const { events } = await stage.run('spread');
    expect(read).toEqual([
      expect.stringContaining("agent 'spread' has used 0 of 3 actions in the last hour"),
      expect.stringContaining('[Parallel delegation: 3 agents]'),
      expect.stringContaining("agent 'spread' has used 3 of 3 actions in the last hour"),
    ]);
    expect(read[0]).toContain('4 are needed at once. No wait allows so many.');
    expect(ofType(events, 'delegation.started')).toHaveLength(3);
  });

  it('X2, D9: a background run is one action, and asking about it is none', async () => {
    const ask = { name: 'delegate', args: { action: 'list_results' } };
    let read: readonly string[] = [];
    stage.play({
      left: ({ turn, results }) => {
        read = results;
        if (turn === 1) return delegate('d1', 'part', { background: true });
        return turn <= 3 ? calls(ask) : turn <= 5 ? calls(act(turn)) : 'done';
      },
      d1: 'one',
    });
    const { events } = await stage.run('left');
    expect(
      ofType(events, 'tool.started').filter(({ data }) => data['name'] === 'act'),
    ).toHaveLength(1);
    expect(read.at(-1)).toContain("agent 'left' has used 2 of 2 actions in the last hour");
  });

  it('X2: neither another root of the agent nor another project fills it again', async () => {
    stage.play({
      again: ({ turn, results }) => (turn === 1 ? calls(act(1), act(2)) : (results.at(-1) ?? '')),
    });
    expect((await stage.run('again')).outcome.answer).toBe('act 2');
    expect((await stage.run('again')).outcome.answer).toContain("agent 'again' has used 2 of 2");
  });

  it('X2: 0 allows none, and says so', async () => {
    stage.play({ none: ({ turn, results }) => (turn === 1 ? calls(act(1)) : (results[0] ?? '')) });
    const { outcome } = await stage.run('none');
    expect(outcome.answer).toContain('max_actions_per_hour = 0, [risk_profiles.none]');
    expect(outcome.answer).toContain('0 allows none: raise it to allow any.');
  });

  it('X2: reading is free, an idempotent call is none the less an action, and a refused call costs nothing', async () => {
    let read: readonly string[] = [];
    stage.play({
      kinds: ({ turn, results }) => {
        if (turn === 2) read = results;
        return turn === 1
          ? calls(
              { name: 'look' },
              { name: 'set' },
              { name: 'act', args: { n: 'no number' } },
              { name: 'nothing' },
              act(1),
              act(1),
              { name: 'delegate', args: { agent_id: 'nobody', prompt: 'x' } },
              act(2),
              act(3),
            )
          : 'done';
      },
    });
    const { events } = await stage.run('kinds');
    const started = ofType(events, 'tool.started').map(({ data }) => data['name']);
    expect(started).toEqual(['look', 'set', 'act', 'act']);
    expect(read[5]).toContain('Skipped duplicate tool call');
    expect(read[7]).toBe('act 2');
    expect(read[8]).toContain(
      "agent 'kinds' has used 0 of 3 actions in the last hour, 3 more wait",
    );
  });

  it('S5: launches count, and a delegate and a sub-agent draw from the bucket of their caller', async () => {
    let read: readonly string[] = [];
    stage.play({
      sharing: ({ turn, prompt, results }) => {
        if (prompt === 'sub') return turn === 1 ? calls(act(7)) : (results[0] ?? '');
        if (turn > 1) read = [...read, ...results];
        if (turn === 1) return delegate('helper', 'help');
        return turn === 2 ? calls({ name: 'spawn_subagent', args: { prompt: 'sub' } }) : 'done';
      },
      helper: ({ turn, results }) => (turn === 1 ? calls(act(1)) : (results[0] ?? '')),
    });
    const { events } = await stage.run('sharing');
    expect(read[0]).toContain('act 1');
    expect(read[1], 'two launches and the act of the delegate').toContain(
      "agent 'sharing' has used 3 of 3",
    );
    expect(ofType(events, 'run.started')).toHaveLength(3);
  });

  it('G8: a bounded delegate with a smaller limit of its own is held to that as well', async () => {
    stage.play({
      boss: ({ turn, results }) => (turn === 1 ? delegate('small', 'work') : (results[0] ?? '')),
      small: ({ turn, results }) =>
        turn === 1 ? calls(act(1), act(2), act(3)) : (results.at(-1) ?? ''),
    });
    const { outcome } = await stage.run('boss');
    expect(outcome.answer).toContain("agent 'small' has used 0 of 2");
  });

  it('X2: a call that approval denies costs nothing', async () => {
    stage.play({
      asked: ({ turn, results }) => (turn <= 2 ? calls(act(turn)) : (results[0] ?? '')),
    });
    const { outcome, events } = await stage.run('asked');
    expect(outcome.answer).toBe('act 2');
    expect(ofType(events, 'tool.failed').map(({ data }) => data['error_type'])).toEqual([
      'approval_denied',
    ]);
  });

  it('X2: two runs that ask at once never both get the last action', async () => {
    const both = gate();
    let waiting = 0;
    stage.play({
      racer: async ({ turn, results }) => {
        if (turn > 1) return results[0] ?? '';
        waiting += 1;
        if (waiting === 2) both.open();
        await both.opened;
        return calls(act(1));
      },
    });
    const told = await Promise.all([stage.run('racer'), stage.run('racer')]);
    const answers = told.map(({ outcome }) => outcome.answer.slice(0, 5)).sort();
    expect(answers).toEqual(['Rate ', 'act 1']);
  });

  it('X2: a plan is refused whole where its tasks need more than is left, and nothing of it starts', async () => {
    const task = (id: string) => ({ id, agent_id: 'doer', prompt: id });
    let read = '';
    stage.play({
      planner: ({ turn, results }) => {
        if (turn > 1) read = results[0] ?? '';
        const tasks = ['a', 'b', 'c', 'd'].slice(0, turn === 1 ? 4 : 3).map(task);
        return turn <= 2 ? calls({ name: 'plan', args: { tasks } }) : 'done';
      },
      doer: 'did it',
    });
    const { events } = await stage.run('planner');
    const [refused] = ofType(events, 'tool.failed');
    expect(refused?.data['error']).toContain('4 are needed at once. No wait allows so many.');
    expect(ofType(events, 'plan.task.started')).toHaveLength(3);
    expect(read).toContain('completed');
  });
});

describe('launches of a plan', () => {
  it('X2, P8: a rework is an action too, and its task fails in plain words where nothing is left', async () => {
    const tasks = [
      { id: 'write', agent_id: 'maker', prompt: 'write' },
      { id: 'review', agent_id: 'maker', prompt: 'review', review_of: ['write'] },
    ];
    let read = '';
    stage.play({
      chief: ({ turn, results }) => {
        read = results[0] ?? '';
        return turn === 1 ? calls({ name: 'plan', args: { tasks } }) : 'done';
      },
      maker: ({ prompt }) =>
        prompt.startsWith('write')
          ? 'a text'
          : calls({
              name: 'submit_review',
              args: { verdict: 'rework', feedback: { write: 'longer' } },
            }),
    });
    const { outcome, events } = await stage.run('chief');
    expect(outcome.status).toBe('completed');
    expect(ofType(events, 'run.started'), 'the chief, two tasks, one of them again').toHaveLength(
      4,
    );
    const [failed] = ofType(events, 'plan.task.failed');
    expect(failed?.data).toMatchObject({ task_id: 'review', error_type: 'action_budget' });
    expect(read).toContain("agent 'chief' has used 3 of 3 actions in the last hour");
  });
});

describe('root runs of a project', () => {
  it('R10: past daily_runs a start is refused with the limit and when it frees; delegated runs count for nothing', async () => {
    stage.play({
      local: ({ turn }) => (turn === 1 ? delegate('aide', 'help') : 'hi'),
      aide: 'helped',
    });
    for (const _ of [1, 2]) {
      const { events } = await stage.run('local');
      expect(ofType(events, 'run.started').map(({ data }) => data['project'])).toEqual([
        'web',
        'web',
      ]);
    }
    await expect(stage.start('local')).rejects.toMatchObject({
      code: 'project.quota',
      message: expect.stringMatching(
        /^project 'web' has started 2 of 2 root runs today, a day of UTC \(\[projects\.web\] daily_runs = 2\); it frees at .*T00:00:00\.000Z, in \d+ s$/,
      ),
    });
  });
});

describe('a host after another', () => {
  let dir = '';
  let site: Stage;
  const clock = new TurnedClock();

  const open = () =>
    Troupe.open({
      config: configOf(
        {
          agents: {
            two: { risk_profile: 'two' },
            rich: { risk_profile: 'cents' },
            local: { risk_profile: 'two', project: 'web' },
          },
          blocks: {
            projects: { web: { daily_runs: 1 } },
            risk_profiles: {
              two: risk({ max_actions_per_hour: 2 }),
              cents: risk({ max_cost_per_day_cents: 1 }),
            },
          },
          provider: { price: { input: 1000, output: 60_000 } },
        },
        site.server.url,
      ),
      stateDir: join(dir, 'state'),
      hostTools,
      threads: 1,
      clock,
    });

  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-budget-')));
    site = await openStage({ agents: { two: {} } });
  });

  afterAll(async () => {
    await site.drop();
    rmSync(dir, { recursive: true, force: true });
  });

  let troupe: Troupe | null = null;
  afterEach(async () => {
    await troupe?.close({ cancel: 'the test is over' });
  });

  const answerOf = async (agent: string) => {
    troupe ??= await open();
    const run = await troupe.start({ agent, prompt: 'go', workspace: dir });
    return run.result();
  };
  const restart = async () => {
    await troupe?.close();
    troupe = null;
  };

  it('X2: begins with what the journal says of the last hour, no less and no more', async () => {
    site.play({
      two: ({ turn, results }) => (turn === 1 ? calls(act(1)) : (results[0] ?? '')),
    });
    expect((await answerOf('two')).answer).toBe('act 1');
    await restart();
    clock.turn(HOUR_MS / 2);
    expect((await answerOf('two')).answer).toBe('act 1');
    await restart();
    clock.turn(HOUR_MS / 2 - 1);
    expect((await answerOf('two')).answer).toContain('It frees at');
    await restart();
    clock.turn(1);
    expect((await answerOf('two')).answer).toBe('act 1');
    expect((await answerOf('two')).answer).toContain("agent 'two' has used 2 of 2");
  });

  it('R10: knows how many roots a project had today, and begins anew with the next day of UTC', async () => {
    await restart();
    site.play({ local: 'hi' });
    expect((await answerOf('local')).answer).toBe('hi');
    await restart();
    await expect(answerOf('local')).rejects.toMatchObject({ code: 'project.quota' });
    await restart();
    clock.turn(24 * HOUR_MS);
    expect((await answerOf('local')).answer).toBe('hi');
  });

  it('R3: a run that has spent the money of the day ends incomplete before its next turn, and the next one before its first', async () => {
    await restart();
    site.play({ rich: ({ turn }) => (turn < 9 ? calls({ name: 'look' }) : 'rich') });
    const first = await answerOf('rich');
    expect(first).toMatchObject({ status: 'incomplete', reason: 'cost_budget' });
    expect(first.turns).toBeLessThan(9);
    expect(first.cost).toBeGreaterThanOrEqual(1);
    expect(first.error?.message).toMatch(
      /^Cost budget exhausted: agent 'rich' has spent [\d.]+ of 1 cents today, a day of UTC \(max_cost_per_day_cents = 1, \[risk_profiles\.cents\]\)\. It frees at .*T00:00:00\.000Z/,
    );
    await restart();
    expect(await answerOf('rich')).toMatchObject({ status: 'incomplete', turns: 0, cost: 0 });
    await restart();
    clock.turn(24 * HOUR_MS);
    expect((await answerOf('rich')).turns).toBe(first.turns);
  });
});
