import { describe, expect, it } from 'vitest';
import { recallBudgets } from '../../src/runtime/budget-recall.ts';
import { Budgets } from '../../src/runtime/budgets.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { CallVerdict } from '../../src/runtime/core/run-event.ts';
import type { RunBudget, RunSpec } from '../../src/runtime/core/run-spec.ts';
import { createMemoryJournal } from '../../src/runtime/memory-journal.ts';
import { delegateTo, readTool, specOf, writeTool } from '../support/run-fixtures.ts';
import { TurnedClock } from '../support/turned-clock.ts';

const HOUR_MS = 3_600_000;

function limits(actions: number, cents = 1e9, own?: boolean): { readonly budget: RunBudget } {
  const budget = { actions_per_hour_max: actions, cost_per_day_max_cents: cents };
  return { budget: own === undefined ? budget : { ...budget, own } };
}

function agent(id: string, budget: { readonly budget?: RunBudget }, more: Partial<RunSpec> = {}) {
  return specOf({ agent_id: id, ...budget, ...more });
}

const sub = { is_subagent: true, origin: 'subagent' } as const;

/** How many of these calls a run is promised until one is refused; `null` = all of a hundred. */
function promises(
  budgets: Budgets,
  runId: string,
  verdict: CallVerdict = writeTool,
): number | null {
  for (let promised = 0; promised < 100; promised += 1) {
    if (budgets.promise(runId, verdict) !== null) return promised;
  }
  return null;
}

describe('what a run draws from', () => {
  it('S4: a narrowed sub-agent is held to its own limit, and what it does is missing from its parent’s', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(5)), null);
    budgets.open('r/subagent/01', agent('lead', limits(2), sub), 'r');
    expect(promises(budgets, 'r/subagent/01')).toBe(2);
    expect(promises(budgets, 'r')).toBe(3);
    budgets.open('r/subagent/02', agent('lead', limits(2), sub), 'r');
    expect(promises(budgets, 'r/subagent/02'), 'a new one has nothing that its parent lacks').toBe(
      0,
    );
    budgets.forget('r/subagent/01');
    expect(promises(budgets, 'r/subagent/02')).toBe(2);
  });

  it('S4: the refusal of a narrowed sub-agent names the call that narrowed it', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(5)), null);
    budgets.open('r/subagent/01', agent('lead', limits(0), sub), 'r');
    expect(budgets.promise('r/subagent/01', writeTool)?.words).toContain(
      'sub-agent r/subagent/01 has used 0 of 0 actions in the last hour (max_actions_per_hour = 0, policy of its spawn_subagent call)',
    );
  });

  it('S4: a delegate below a narrowed sub-agent has what that has left, and its agent what its agent has', () => {
    const budgets = new Budgets(new TurnedClock());
    const agentOwn = { actions_per_hour_max: 4, cost_per_day_max_cents: 1e9 };
    const narrowed = { budget: { ...limits(2).budget, agent: agentOwn } };
    budgets.open('w', agent('worker', limits(4)), null);
    expect([1, 2, 3].map(() => budgets.promise('w', writeTool))).toEqual([null, null, null]);
    budgets.open('r', agent('lead', limits(9)), null);
    budgets.open('r/subagent/01', agent('lead', limits(2), sub), 'r');
    budgets.open('r/subagent/01/delegate/01', agent('worker', narrowed), 'r/subagent/01');
    expect(promises(budgets, 'r/subagent/01/delegate/01')).toBe(1);
    budgets.forget('w');
    expect(promises(budgets, 'r/subagent/01/delegate/01')).toBe(1);
    expect(promises(budgets, 'r/subagent/01')).toBe(0);
  });

  it('G8: an independent delegate has the bucket of its agent, and its caller’s is left alone', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(2)), null);
    budgets.open('r/delegate/01', agent('free', limits(4, 1e9, true)), 'r');
    budgets.open('r/delegate/01/subagent/01', agent('free', limits(4), sub), 'r/delegate/01');
    expect(promises(budgets, 'r/delegate/01/subagent/01')).toBe(4);
    expect(promises(budgets, 'r')).toBe(2);
    budgets.open('s', agent('free', limits(4)), null);
    expect(promises(budgets, 's'), 'it is the bucket of every run of that agent').toBe(0);
  });

  it('G8: who delegates in a circle is charged once an action', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(3)), null);
    budgets.open('r/delegate/01', agent('peer', limits(9)), 'r');
    budgets.open('r/delegate/01/delegate/01', agent('lead', limits(3)), 'r/delegate/01');
    expect(promises(budgets, 'r/delegate/01/delegate/01')).toBe(3);
  });

  it('G1: inline agents share the bucket of their risk profile, and no other', () => {
    const budgets = new Budgets(new TurnedClock());
    const inline = (profile: string) =>
      agent('inline', limits(1), { raw: true, risk_profile: profile });
    budgets.open('r', inline('a'), null);
    budgets.open('s', inline('a'), null);
    budgets.open('t', inline('b'), null);
    expect(['r', 's', 't'].map((id) => promises(budgets, id))).toEqual([1, 0, 1]);
  });

  it('J2: a run whose record is older than budgets has no limit', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', {}), null);
    expect(promises(budgets, 'r')).toBeNull();
  });

  it('X2: money that is spent forbids launches, and no tool', () => {
    const clock = new TurnedClock();
    const budgets = new Budgets(clock);
    budgets.open('r', agent('lead', limits(9, 0)), null);
    expect(budgets.promise('r', delegateTo('a'))).toMatchObject({ errorType: 'cost_budget' });
    expect(budgets.promise('r', writeTool)).toBeNull();
    expect(budgets.promise('r', readTool)).toBeNull();
    expect(budgets.overspent('r', 0)?.words).toContain(
      'max_cost_per_day_cents = 0, [risk_profiles.p]). 0 allows none: raise it to allow any.',
    );
  });
});

describe('what was promised', () => {
  it('X2: is free for others once its run has ended, whatever became of it', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(2)), null);
    budgets.open('s', agent('lead', limits(2)), null);
    expect([promises(budgets, 'r'), promises(budgets, 's')]).toEqual([2, 0]);
    budgets.forget('r');
    expect(promises(budgets, 's')).toBe(2);
    expect(budgets.promised).toBe(2);
  });

  it('SPEC P12: is given back where the launch fails', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(1)), null);
    expect(budgets.promise('r', delegateTo('a'))).toBeNull();
    const fails = () =>
      budgets.launching('r', false, () => {
        throw new Error('no such agent');
      });
    expect(fails).toThrow('no such agent');
    expect(promises(budgets, 'r')).toBe(1);
  });

  it('P8: holds for the first run of a task alone; a rework asks anew', () => {
    const budgets = new Budgets(new TurnedClock());
    budgets.open('r', agent('lead', limits(1)), null);
    expect(budgets.promise('r', delegateTo('a'))).toBeNull();
    expect(budgets.launching('r', false, () => 'launched')).toBe('launched');
    expect(() => budgets.launching('r', true, () => 'launched')).toThrow(
      expect.objectContaining({ code: 'run.limit', detail: { error_type: 'action_budget' } }),
    );
  });
});

describe('a new host', () => {
  const NOW_MS = Date.parse('2026-03-05T00:20:00.000Z');
  let place = 0;
  const event = (atMs: number, run: string, type: string, data: object): JournalEvent => {
    place += 1;
    const above = run.slice(0, Math.max(0, run.lastIndexOf('/', run.lastIndexOf('/') - 1)));
    return {
      seq: place,
      event_id: `${run}#${place}`,
      run_id: run,
      parent_run_id: above === '' ? null : above,
      parent_event_id: null,
      frame_id: null,
      ts: new Date(atMs).toISOString(),
      type: type as JournalEvent['type'],
      v: 1,
      data: data as JournalEvent['data'],
    };
  };
  const started = (atMs: number, run: string, spec: RunSpec) =>
    event(atMs, run, 'run.started', spec);
  const acted = (atMs: number, run: string, name = 'act', effect_class = 'effectful') =>
    event(atMs, run, 'tool.started', { name, effect_class });
  const paid = (atMs: number, run: string, cost_cents: number | null) =>
    event(atMs, run, 'model.completed', { cost_cents });

  it('X2, S5, R10: counts what the journal holds of the hour and of the day, for all that the runs drew from', async () => {
    place = 0;
    const lead = agent('lead', limits(8, 100), { project: 'web' });
    const ago = (ms: number) => NOW_MS - ms;
    const events = [
      started(ago(30 * HOUR_MS), 'run_a', lead),
      acted(ago(HOUR_MS), 'run_a'),
      acted(ago(HOUR_MS - 1), 'run_a'),
      paid(ago(25 * 60_000), 'run_a', 70),
      started(ago(19 * 60_000), 'run_a/delegate/01', agent('small', limits(3, 100))),
      acted(ago(60_000), 'run_a/delegate/01', 'set', 'idempotent'),
      acted(ago(60_000), 'run_a/delegate/01', 'look', 'read'),
      acted(ago(60_000), 'run_a/delegate/01', 'delegate'),
      paid(ago(60_000), 'run_a/delegate/01', 12.5),
      paid(ago(50_000), 'run_a/delegate/01', null),
      started(ago(40_000), 'run_b', lead),
    ];
    const clock = new TurnedClock();
    clock.turn(NOW_MS - clock.now());
    const budgets = new Budgets(clock);
    await recallBudgets(budgets, createMemoryJournal({ events }), NOW_MS);
    budgets.open('l', lead, null);
    budgets.open('s', agent('small', limits(3, 100)), null);
    expect(promises(budgets, 'l'), 'one of its own, a launch, one of its delegate').toBe(5);
    expect(promises(budgets, 's')).toBe(2);
    expect(budgets.overspent('l', 87.5)?.words).toContain('has spent 100 of 100 cents today');
    expect(budgets.overspent('l', 87)).toBeNull();
    const web = new Map([['web', { id: 'web', name: 'web', dailyRuns: 1 }]]);
    expect(() => budgets.admitRoot(web, 'web')).toThrow('has started 1 of 1 root runs today');
  });

  it('S4, D9: what a narrowed sub-agent used is known as long as anything of its tree goes on, and no longer', async () => {
    place = 0;
    const at = NOW_MS - 1000;
    const events = [
      started(at, 'run_a', agent('lead', limits(9))),
      started(at, 'run_a/subagent/01', agent('lead', limits(2), sub)),
      acted(at, 'run_a/subagent/01'),
      started(at, 'run_a/subagent/02', agent('lead', limits(2), sub)),
      acted(at, 'run_a/subagent/02'),
      event(at, 'run_a/subagent/02', 'run.completed', {}),
      started(at, 'run_b', agent('lead', limits(9))),
      started(at, 'run_b/subagent/01', agent('lead', limits(2), sub)),
      acted(at, 'run_b/subagent/01'),
      event(at, 'run_b/subagent/01', 'run.completed', {}),
      event(at, 'run_b', 'run.completed', {}),
    ];
    const clock = new TurnedClock();
    clock.turn(NOW_MS - clock.now());
    const budgets = new Budgets(clock);
    await recallBudgets(budgets, createMemoryJournal({ events }), NOW_MS);
    const inUse = (key: string) => budgets.account(key).actions.inUse(NOW_MS);
    expect(inUse('lead')).toBe(6);
    expect(inUse('run:run_a/subagent/01')).toBe(1);
    expect(inUse('run:run_a/subagent/02')).toBe(1);
    expect(inUse('run:run_b/subagent/01')).toBe(0);
    budgets.forgetTree('run_a');
    expect(inUse('run:run_a/subagent/02')).toBe(0);
    expect(inUse('lead')).toBe(6);
  });

  it('X2: is not misled by a clock that was set back for a while', async () => {
    place = 0;
    const lead = agent('lead', limits(4));
    const DAY_MS = 24 * 3_600_000;
    const events = [
      started(NOW_MS - 20_000, 'run_a', lead),
      acted(NOW_MS - 19_000, 'run_a'),
      acted(NOW_MS - 18_000, 'run_a'),
      acted(NOW_MS - 17_000, 'run_a'),
      ...Array.from({ length: 50 }, (_, at) => started(NOW_MS - 3 * DAY_MS, `run_b${at}`, lead)),
      started(NOW_MS - 10_000, 'run_c', lead),
    ];
    const clock = new TurnedClock();
    clock.turn(NOW_MS - clock.now());
    const budgets = new Budgets(clock);
    await recallBudgets(budgets, createMemoryJournal({ events }), NOW_MS);
    expect(budgets.account('lead').actions.inUse(NOW_MS)).toBe(3);
  });

  it('finds the part of the journal that it needs without reading the rest', async () => {
    place = 0;
    const lead = agent('lead', limits(9));
    const old = [started(0, 'run_a', lead)];
    for (let at = 0; at < 5000; at += 1) old.push(acted(at * 1000, 'run_a'));
    const events = [...old, acted(NOW_MS - 1, 'run_a')];
    const journal = createMemoryJournal({ events });
    let read = 0;
    const counted = {
      lastSeq: journal.lastSeq,
      async *read(filter: Parameters<typeof journal.read>[0]) {
        for await (const each of journal.read(filter)) {
          read += 1;
          yield each;
        }
      },
    };
    const budgets = new Budgets(new TurnedClock());
    await recallBudgets(budgets, counted, NOW_MS);
    expect(budgets.account('lead').actions.inUse(NOW_MS)).toBe(1);
    expect(read, 'found by halves, and a look at what is before').toBeLessThan(2030);
  });
});
