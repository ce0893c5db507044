import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startPlan } from '../../../src/runtime/core/plan-answers.ts';
import { readPlanCall } from '../../../src/runtime/core/plan-call.ts';
import { causeOfPlanEvent } from '../../../src/runtime/core/plan-cause.ts';
import { endTask } from '../../../src/runtime/core/plan-decide.ts';
import type { PlanEvent, ReviewVerdict } from '../../../src/runtime/core/plan-event.ts';
import { evolvePlan } from '../../../src/runtime/core/plan-evolve.ts';
import { followPlan } from '../../../src/runtime/core/plan-follow.ts';
import { cyclesOf } from '../../../src/runtime/core/plan-graph.ts';
import { type PlanCommand, planMachine } from '../../../src/runtime/core/plan-machine.ts';
import { promptOf } from '../../../src/runtime/core/plan-prompt.ts';
import type { PlanSpec } from '../../../src/runtime/core/plan-spec.ts';
import {
  cancelledChildren,
  liveLaunches,
  PENDING_PLAN,
  type PlanState,
  taskOf,
} from '../../../src/runtime/core/plan-state.ts';
import { summaryOf } from '../../../src/runtime/core/plan-summary.ts';
import type { ChildOutcome } from '../../../src/runtime/core/run-event.ts';
import { walk } from '../../support/machine-laws.ts';
import { FRAME, outcomeOf, planOf, task } from '../../support/plan-fixtures.ts';
import { PlanOracle } from '../../support/plan-oracle.ts';

interface DraftTask {
  readonly needs: readonly number[];
  readonly reviews: boolean;
}

/** Acyclic by construction: a task may need only earlier ones; the plan's own order is then shifted. */
const anyTasks = fc.array(
  fc.record({ needs: fc.array(fc.nat(15), { maxLength: 4 }), reviews: fc.boolean() }),
  { minLength: 1, maxLength: 16, size: 'max' },
);

/** Reviewers of reviewers: the shape that runs out of launches. */
const ladder = fc.integer({ min: 2, max: 6 }).map((rungs) =>
  Array.from({ length: rungs }, (_, at) => ({
    needs: at === 0 ? [] : [at - 1],
    reviews: at > 0,
  })),
);

const graph = fc.tuple(
  fc.oneof({ weight: 3, arbitrary: anyTasks }, { weight: 1, arbitrary: ladder }),
  fc.nat(),
);

const scene = fc.record({
  graph,
  max_rework: fc.nat(4),
  on_failure: fc.constantFrom('continue', 'continue', 'continue', 'stop', 'abort'),
  mode: fc.constantFrom('full', 'full', 'full', 'full', 'full', 'wave'),
  width: fc.integer({ min: 1, max: 8 }),
  /** How often runs fail and reviewers send back, of 100. */
  failing: fc.constantFrom(0, 0, 4, 20),
  rejecting: fc.constantFrom(0, 30, 45, 60, 100),
  /** Slots of the parent's width that others hold, by step. */
  taken: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
  chances: fc.array(fc.nat(9999), { minLength: 8, maxLength: 64 }),
  /** Step at which the run's time is up; mostly never. */
  timeUpAt: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.nat(30) },
  ),
});

type Scene = typeof scene extends fc.Arbitrary<infer Made> ? Made : never;

function specOf(made: Scene): PlanSpec {
  const [drafts, turn] = made.graph;
  const tasks = drafts.map((draft: DraftTask, at) => {
    const needs = [...new Set(draft.needs.map((need) => need % (at + 1)))].filter(
      (need) => need < at,
    );
    const ids = needs.map((need) => `t${need}`);
    return task(`t${at}`, ids, { review_of: draft.reviews ? ids.slice(0, 3) : [] });
  });
  const shift = turn % tasks.length;
  return planOf([...tasks.slice(shift), ...tasks.slice(0, shift)], {
    max_rework: made.max_rework,
    on_failure: made.on_failure,
    mode: made.mode,
  });
}

/** The list of chances over and over, each time a little different. */
function dice(chances: readonly number[]): (below: number) => number {
  let rolls = 0;
  return (below) => {
    const rolled = (chances[rolls % chances.length] ?? 0) + rolls * 7;
    rolls += 1;
    return rolled % below;
  };
}

function outcomeBy(
  roll: (below: number) => number,
  made: Scene,
  state: PlanState,
  ordinal: number,
) {
  const launch = liveLaunches(state).find((each) => each.ordinal === ordinal);
  const id = launch?.task_id ?? '';
  const isCancelled = cancelledChildren(state).includes(ordinal) && roll(3) > 0;
  const change: Partial<ChildOutcome> = isCancelled
    ? { status: 'cancelled', stopped_by: 'parent' }
    : roll(100) >= made.failing
      ? {}
      : ((
          [
            { status: 'failed', error_type: 'actor_crashed' },
            { status: 'failed', error_type: 'agent_resolution_failed' },
            { status: 'incomplete', reason: 'turn_limit' },
            { status: 'cancelled', stopped_by: 'user' },
          ] as const
        )[roll(4)] ?? {});
  const reviewed = taskOf(state, id)?.task.review_of ?? [];
  return {
    outcome: outcomeOf(id, launch?.round ?? 0, change),
    verdict: change.status === undefined ? verdictBy(roll, made, reviewed) : null,
  };
}

function verdictBy(
  roll: (below: number) => number,
  made: Scene,
  reviewed: readonly string[],
): ReviewVerdict | null {
  if (roll(10) === 0) return null;
  if (roll(100) >= made.rejecting) return { verdict: 'accept', feedback: {}, summary: null };
  const named = reviewed.filter((_, at) => at === 0 || roll(2) === 0);
  const feedback = Object.fromEntries(named.map((id) => [id, `mend ${id}`]));
  return { verdict: 'rework', feedback, summary: null };
}

/** Every answer in a prompt is the one that its dependency stands by, and none is left from an earlier round. */
function checkPrompts(state: PlanState, started: readonly PlanEvent[]): void {
  for (const event of started) {
    if (event.type !== 'plan.task.started') continue;
    const prompt = promptOf(state, event.data.ordinal, 1000) ?? '';
    for (const need of event.data.depends_on) {
      const answer = taskOf(state, need)?.answer?.answer ?? '';
      expect(answer).not.toBe('');
      expect(prompt).toContain(answer);
    }
  }
}

/** A plan in a parent that has other things running, watched by the oracle; the steps it took, and what it journaled. */
function embed(made: Scene): { events: PlanEvent[]; state: PlanState } {
  const spec = specOf(made);
  const oracle = new PlanOracle(spec, made.width);
  const roll = dice(made.chances);
  const events: PlanEvent[] = [];
  let state = PENDING_PLAN;
  let nextOrdinal = 3;
  const append = (batch: readonly PlanEvent[]) => {
    for (const event of batch) {
      const cause = causeOfPlanEvent(state, event);
      expect(cause ?? 1).toBeGreaterThan(0);
      expect(cause ?? 0).toBeLessThanOrEqual(events.length);
      oracle.watch(event);
      events.push(event);
      state = evolvePlan(state, event);
      if (event.type === 'plan.task.started') nextOrdinal += 1 + roll(2);
    }
  };
  append([startPlan(spec, { operationId: 'o', frame: FRAME, book: [] })]);
  for (let step = 0; step < 600; step += 1) {
    const isTimeUp = made.timeUpAt !== null && step >= made.timeUpAt;
    const live = liveLaunches(state);
    // Others may hold every slot for a while, but not while the plan has nothing that could end.
    const taken = live.length === 0 ? 0 : (made.taken[step % made.taken.length] ?? 0);
    const following = followPlan(state, {
      free: Math.max(0, made.width - live.length - taken),
      nextOrdinal,
      childDepth: 1,
      parentRunId: 'run_r',
      nothingNew: isTimeUp ? 'run_time_limit' : null,
    });
    append(following);
    checkPrompts(state, following);
    if (state.ended !== null) return { events, state };
    const now = liveLaunches(state);
    if (now.length > 0 && (following.length === 0 || roll(3) === 0)) {
      const ordinal = now[roll(now.length)]?.ordinal ?? 0;
      const { outcome, verdict } = outcomeBy(roll, made, state, ordinal);
      append(endTask(state, ordinal, outcome, verdict));
      expect(endTask(state, ordinal, outcome, verdict)).toEqual([]);
    }
  }
  throw new Error('the plan did not end in 600 steps');
}

const EVERYTHING = [
  'plan.task.started',
  'plan.task.completed',
  'plan.task.incomplete',
  'plan.task.rejected',
  'plan.task.reopened',
  'plan.task.invalidated',
  'plan.task.discarded',
  'plan.stopped',
  'plan.aborted',
  'plan.time_limit',
  'plan.completed',
  'failed: actor_crashed',
  'failed: rework_exhausted',
  'skipped: upstream_failed',
  'skipped: upstream_incomplete',
  'skipped: upstream_rework_exhausted',
  'skipped: plan_stopped',
  'skipped: plan_aborted',
  'skipped: run_time_limit',
  'skipped: execution_budget',
];

function count(seen: Map<string, number>, event: PlanEvent): void {
  const what =
    event.type === 'plan.task.failed'
      ? `failed: ${event.data.error_type}`
      : event.type === 'plan.task.skipped'
        ? `skipped: ${event.data.reason}`
        : event.type;
  seen.set(what, (seen.get(what) ?? 0) + 1);
}

describe('any plan at all', () => {
  it('P2–P10: keeps every rule of the oracle, whatever fails, is sent back, runs late or is crowded out', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(scene, (made) => {
        const { events, state } = embed(made);
        for (const event of events) count(seen, event);
        const { text, structured } = summaryOf(state, 16_000);
        for (const { task: each } of state.tasks) expect(text).toContain(`\n[${each.id}] `);
        expect(structured).toMatchObject({ statuses: state.ended?.statuses });
      }),
      { numRuns: 3000 },
    );
    // The scenes are worth something only if everything that can happen does happen in them.
    const rare = EVERYTHING.filter((what) => (seen.get(what) ?? 0) < 3);
    expect(rare).toEqual([]);
  });

  it('P14: events that went through JSON fold to the same state, from any prefix on', () => {
    fc.assert(
      fc.property(scene, fc.nat(), (made, at) => {
        const { events, state } = embed(made);
        const again = JSON.parse(JSON.stringify(events)) as PlanEvent[];
        const cut = at % events.length;
        const prefix = again
          .slice(0, cut)
          .reduce((now, event) => evolvePlan(now, event), PENDING_PLAN);
        const through = JSON.parse(JSON.stringify(prefix)) as PlanState;
        expect(through).toEqual(prefix);
        const rest = again.slice(cut).reduce((now, event) => evolvePlan(now, event), through);
        expect(rest).toEqual(state);
      }),
      { numRuns: 300 },
    );
  });

  it('P14: alone on its machine it keeps the laws of every machine', () => {
    fc.assert(
      fc.property(scene, (made) => {
        const machine = planMachine({
          parentRunId: 'run_r',
          width: made.width,
          childDepth: 1,
          firstOrdinal: 1,
        });
        const roll = dice(made.chances);
        const commands: PlanCommand[] = [];
        let state = machine.initial;
        const say = (command: PlanCommand) => {
          commands.push(command);
          for (const event of machine.decide(state, command)) state = machine.evolve(state, event);
        };
        say({ type: 'start', spec: specOf(made), operationId: 'o', frame: null, book: [] });
        for (let step = 0; state.ended === null; step += 1) {
          if (step === made.timeUpAt) say({ type: 'out-of-time' });
          const live = liveLaunches(state);
          const ordinal = live[roll(Math.max(1, live.length))]?.ordinal ?? 0;
          say({ type: 'task-ended', ordinal, ...outcomeBy(roll, made, state, ordinal) });
          if (step > 400) throw new Error('the plan did not end');
        }
        say({ type: 'task-ended', ordinal: 1, ...outcomeBy(roll, made, state, 1) });
        walk(machine, commands);
      }),
      { numRuns: 300 },
    );
  });

  it('P1: a call with a cycle anywhere is refused with a cycle that is one, and one without is taken', () => {
    fc.assert(
      fc.property(graph, fc.nat(), fc.nat(), (made, from, to) => {
        const [drafts] = made;
        const tasks = drafts.map((draft, at) => ({
          id: `t${at}`,
          agent_id: 'w',
          prompt: 'p',
          depends_on: draft.needs.map((need) => need % (at + 1)).filter((need) => need < at),
        }));
        const named = tasks.map((each) => ({
          ...each,
          depends_on: each.depends_on.map((need) => `t${need}`),
        }));
        const context = {
          answered: new Set<string>(),
          resolveAgent: (asked: string) => ({ ok: true, agentId: asked }) as const,
        };
        expect(readPlanCall({ tasks: named }, context).ok).toBe(true);
        const a = from % named.length;
        const b = to % named.length;
        if (a >= b) return;
        const knotted = named.map((each, at) => {
          if (at === a) return { ...each, depends_on: [...each.depends_on, `t${b}`] };
          return at === b ? { ...each, depends_on: [...each.depends_on, `t${a}`] } : each;
        });
        const said = readPlanCall({ tasks: knotted }, context);
        expect(said.ok).toBe(false);
        const needs = new Map(knotted.map((each) => [each.id, each.depends_on]));
        const cycles = cyclesOf(knotted);
        expect(cycles.length).toBeGreaterThan(0);
        for (const cycle of cycles) {
          const ids = cycle.split(' -> ');
          expect(ids.at(-1)).toBe(ids[0]);
          expect(new Set(ids).size).toBe(ids.length - 1);
          for (const [at, id] of ids.slice(1).entries()) {
            expect(needs.get(ids[at] ?? '')).toContain(id);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
