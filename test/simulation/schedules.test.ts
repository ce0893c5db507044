import { describe, expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import type { RunEvent } from '../../src/runtime/core/run-event.ts';
import { evolveRun } from '../../src/runtime/core/run-evolve.ts';
import { pendingRun, type RunState } from '../../src/runtime/core/run-state.ts';
import { answerOf, type SaidCall } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const agent = {
  model_provider: 'openai-compatible.sim',
  risk_profile: 'p',
  runtime_profile: 'r',
};

interface WildConfig {
  readonly order: 'fifo' | 'eager';
  readonly width: number;
  readonly runsMax: number;
  readonly runSecs: number | null;
  readonly parallel: boolean;
}

function configOf({ order, width, runsMax, runSecs, parallel }: WildConfig): object {
  return {
    providers: PROVIDERS,
    runtime: { max_runs_per_root: runsMax },
    agents: { lead: agent, a: agent, b: agent, c: agent },
    risk_profiles: { p: { autonomy: 'full', delegation_policy: { mode: 'allow' } } },
    runtime_profiles: {
      r: {
        max_delegation_width: width,
        max_delegation_depth: 2,
        delegation_order: order,
        max_turns: 3,
        parallel_tools: parallel,
        ...(runSecs === null ? {} : { max_run_secs: runSecs }),
      },
    },
  };
}

/** Any graph of tasks, some of them reviewers, now and then one that is refused. */
function wildPlan(random: ReturnType<typeof seededRandom>, caller: string): object {
  const targets = ['a', 'b', 'c', 'lead'].filter((id) => id !== caller);
  const count = 1 + random.int(6);
  const tasks = Array.from({ length: count }, (_, at) => {
    const earlier = Array.from({ length: at }, (_none, index) => `t${index}`);
    const some = earlier.filter(() => random.unit() < 0.4);
    const isReviewer = some.length > 0 && random.unit() < 0.4;
    return {
      id: `t${at}`,
      agent_id: random.unit() < 0.03 ? 'nobody' : (targets[random.int(3)] as string),
      prompt: `do ${at}`,
      ...(isReviewer ? { review_of: some } : { depends_on: some }),
    };
  });
  return {
    tasks,
    max_rework: random.int(3),
    on_failure: ['continue', 'stop', 'abort'][random.int(3)],
    mode: random.unit() < 0.15 ? 'wave' : 'full',
  };
}

/** What a reviewer may say; now and then something that is no verdict. */
function wildReview(random: ReturnType<typeof seededRandom>, init: AgentInit): SaidCall {
  const spec = init.tools.find((tool) => tool.name === 'submit_review');
  const text = JSON.stringify(spec?.parameters ?? {});
  const reviewed = [...text.matchAll(/work of '([^']+)'/g)].map((match) => match[1] as string);
  const remarks = reviewed.filter(() => random.unit() < 0.5).map((id) => [id, 'again']);
  const verdict = random.unit() < 0.5 ? 'accept' : 'rework';
  const feedback = random.unit() < 0.1 ? { stranger: 'x' } : Object.fromEntries(remarks);
  return { name: 'submit_review', args: { verdict, feedback } };
}

/** A model that does anything a model may do, by chance. */
function wildModel(random: ReturnType<typeof seededRandom>) {
  return (init: AgentInit, _history: readonly Message[], turn: number): ModelAnswer => {
    const chance = random.unit();
    if (chance < 0.05) throw new Error('the model broke');
    if (init.tools.some((tool) => tool.name === 'submit_review') && random.unit() < 0.8) {
      return answerOf('', [
        wildReview(random, init),
        ...(random.unit() < 0.2 ? [{ name: 'work' }] : []),
      ]);
    }
    // Tasks mostly answer, or graphs would seldom get as far as their reviewers.
    const isTask = /\/plan\/[^/]+$/.test(init.runId);
    if (chance < (isTask ? 0.7 : 0.3) || turn >= 3) return answerOf(`answer of ${init.agentId}`);
    const calls = Array.from({ length: 1 + random.int(5) }, (): SaidCall => {
      const kind = random.unit();
      if (kind < 0.5) {
        const target = ['a', 'b', 'c', 'lead', 'nobody'][random.int(5)] as string;
        return { name: 'delegate', args: { agent_id: target, prompt: `p${random.int(3)}` } };
      }
      if (kind < 0.66) return { name: 'plan', args: wildPlan(random, init.agentId) };
      if (kind < 0.7) return { name: 'spawn_subagent', args: { prompt: `s${random.int(2)}` } };
      if (kind < 0.74) return { name: 'agents' };
      return {
        name: ['work', 'act', 'missing'][random.int(3)] as string,
        args: { n: random.int(3) },
      };
    });
    return answerOf('', calls);
  };
}

/** One seeded world: some roots, a wild model, and now and then a cancel, a note or a thread that dies. */
async function play(seed: number) {
  const random = seededRandom(seed);
  const order = random.unit() < 0.5 ? 'fifo' : 'eager';
  const runsMax = random.unit() < 0.3 ? 1 + random.int(12) : 256;
  const world = new SimWorld({
    config: configOf({
      order,
      width: 1 + random.int(4),
      runsMax,
      runSecs: random.unit() < 0.3 ? 0.05 + random.int(300) / 1000 : null,
      parallel: random.unit() < 0.7,
    }),
    random,
    model: wildModel(random),
  });
  const roots = [world.start('lead')];
  for (let root = random.int(3); root > 0; root -= 1) roots.push(world.start('lead'));
  const { clock } = world.engine;
  const anyRun = () => {
    const live = world.tree.live();
    return live[random.int(live.length)];
  };
  for (let blow = 0; blow < random.int(6); blow += 1) {
    clock.after(random.int(200), () => {
      const kind = random.unit();
      if (kind < 0.4) anyRun()?.cancel('by chance', 'user');
      else if (kind < 0.8) anyRun()?.note({ note_id: random.id(), text: 'psst' });
      else [...world.engine.live.values()][0]?.die('thread exited');
    });
  }
  noteWhenDropped(world, random);
  await world.engine.runDry();
  return { world, roots, runsMax };
}

/** Now and then a note comes while a plan's dropped runs are stopping, which by chance alone it seldom would. */
function noteWhenDropped(
  { engine, tree }: SimWorld,
  random: ReturnType<typeof seededRandom>,
): void {
  engine.journal.subscribe((events) => {
    for (const { type, run_id } of events) {
      if (type !== 'plan.task.invalidated' && type !== 'plan.aborted') continue;
      if (random.unit() < 0.5) continue;
      const note = { note_id: random.id(), text: 'psst' };
      engine.clock.after(random.int(20), () => void tree.find(run_id)?.note(note));
    }
  });
}

/** SPEC P14: the fold of what was journaled is the state that every decision was made on. */
function foldOf(world: SimWorld, runId: string): RunState {
  return world.eventsOf(runId).reduce((state, { type, frame_id: frame, data }) => {
    return evolveRun(state, { type, frame, data } as unknown as RunEvent);
  }, pendingRun(runId));
}

describe('simulation', () => {
  const seeds = Number(process.env['SIM_SEEDS'] ?? 300);
  const first = Number(process.env['SIM_FIRST'] ?? 1);

  it(`every run ends once, within its width, with one result a call, in ${seeds} seeded schedules`, async () => {
    for (let seed = first; seed < first + seeds; seed += 1) {
      try {
        const { world, roots, runsMax } = await play(seed);
        audit(world.events);
        for (const { runId, state } of roots) {
          expect(foldOf(world, runId), 'the journal folds to the state').toEqual(state);
          const launched = world.events.filter(
            ({ type, run_id }) => type === 'run.started' && run_id.startsWith(`${runId}/`),
          );
          expect(launched.length, 'a root launches what it may').toBeLessThanOrEqual(runsMax);
        }
        expect(world.tree.live(), 'all runs are forgotten').toEqual([]);
        expect(world.engine.live.size, 'no actor is left').toBe(0);
      } catch (thrown) {
        const again = `SIM_FIRST=${seed} SIM_SEEDS=1 npx vitest run test/simulation`;
        throw new Error(`seed ${seed} fails; again: ${again}`, { cause: thrown });
      }
    }
  }, 1_800_000);

  it('the same seed gives the same journal', async () => {
    const [one, two] = [await play(7), await play(7)];
    expect(two.world.events).toEqual(one.world.events);
  });
});

describe('the simulation itself', () => {
  it('reaches everything that it is meant to try', async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 120; seed += 1) {
      for (const event of (await play(seed)).world.events) {
        const plan = event.type === 'plan.task.skipped' ? `skipped ${event.data['reason']}` : '';
        const failed = event.type.endsWith('.failed') ? `failed ${event.data['error_type']}` : '';
        for (const what of [event.type, plan, failed]) seen.set(what, (seen.get(what) ?? 0) + 1);
      }
    }
    const wanted = [
      'run.cancelled',
      'run.failed',
      'run.incomplete',
      'note.read',
      'note.dead_letter',
      'note.too_late',
      'delegation.failed',
      'plan.task.rejected',
      'plan.task.reopened',
      'plan.task.invalidated',
      'plan.task.discarded',
      'plan.task.failed',
      'plan.stopped',
      'plan.aborted',
      'plan.completed',
      'plan.time_limit',
      'skipped upstream_failed',
      'skipped run_time_limit',
      'failed run_time_limit',
      'failed runs_limit',
    ];
    expect(wanted.filter((what) => (seen.get(what) ?? 0) === 0)).toEqual([]);
  }, 120_000);
});
