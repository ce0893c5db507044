import { describe, expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { answerOf, type SaidCall } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const agent = {
  model_provider: 'openai-compatible.sim',
  risk_profile: 'p',
  runtime_profile: 'r',
};

function configOf(order: 'fifo' | 'eager', width: number, depth = 2): object {
  return {
    providers: PROVIDERS,
    agents: { lead: agent, a: agent, b: agent, c: agent },
    risk_profiles: { p: { autonomy: 'full', delegation_policy: { mode: 'allow' } } },
    runtime_profiles: {
      r: {
        max_delegation_width: width,
        max_delegation_depth: depth,
        delegation_order: order,
        max_turns: 3,
      },
    },
  };
}

/** Any graph of tasks, some of them reviewers, now and then one that is refused. */
function wildPlan(random: ReturnType<typeof seededRandom>): object {
  const count = 1 + random.int(6);
  const tasks = Array.from({ length: count }, (_, at) => {
    const earlier = Array.from({ length: at }, (_none, index) => `t${index}`);
    const some = earlier.filter(() => random.unit() < 0.4);
    const isReviewer = some.length > 0 && random.unit() < 0.4;
    return {
      id: `t${at}`,
      agent_id: random.unit() < 0.03 ? 'nobody' : (['a', 'b', 'c'][random.int(3)] as string),
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
    if (init.tools.some((tool) => tool.name === 'submit_review') && random.unit() < 0.6) {
      return answerOf('', [
        wildReview(random, init),
        ...(random.unit() < 0.2 ? [{ name: 'work' }] : []),
      ]);
    }
    if (chance < 0.3 || turn >= 3) return answerOf(`answer of ${init.agentId}`);
    const calls = Array.from({ length: 1 + random.int(5) }, (): SaidCall => {
      const kind = random.unit();
      if (kind < 0.5) {
        const target = ['a', 'b', 'c', 'lead', 'nobody'][random.int(5)] as string;
        return { name: 'delegate', args: { agent_id: target, prompt: `p${random.int(3)}` } };
      }
      if (kind < 0.63) return { name: 'plan', args: wildPlan(random) };
      if (kind < 0.68) return { name: 'spawn_subagent', args: { prompt: `s${random.int(2)}` } };
      if (kind < 0.73) return { name: 'agents' };
      return {
        name: ['work', 'act', 'missing'][random.int(3)] as string,
        args: { n: random.int(3) },
      };
    });
    return answerOf('', calls);
  };
}

/** One seeded world: some roots, a wild model, and now and then a cancel, a note or a thread that dies. */
async function play(seed: number): Promise<SimWorld> {
  const random = seededRandom(seed);
  const order = random.unit() < 0.5 ? 'fifo' : 'eager';
  const world = new SimWorld({
    config: configOf(order, 1 + random.int(4)),
    random,
    model: wildModel(random),
  });
  for (let root = 0; root < 1 + random.int(3); root += 1) world.start('lead');
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
  await world.engine.runDry();
  return world;
}

describe('simulation', () => {
  const seeds = Number(process.env['SIM_SEEDS'] ?? 300);
  const first = Number(process.env['SIM_FIRST'] ?? 1);

  it(`every run ends once, within its width, with one result a call, in ${seeds} seeded schedules`, async () => {
    for (let seed = first; seed < first + seeds; seed += 1) {
      try {
        const world = await play(seed);
        audit(world.events);
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
    expect(two.events).toEqual(one.events);
  });
});

describe('the simulation itself', () => {
  it('reaches everything that it is meant to try', async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 120; seed += 1) {
      for (const event of (await play(seed)).events) {
        const plan = event.type === 'plan.task.skipped' ? `skipped ${event.data['reason']}` : '';
        for (const what of [event.type, plan]) seen.set(what, (seen.get(what) ?? 0) + 1);
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
      'skipped upstream_failed',
    ];
    expect(wanted.filter((what) => (seen.get(what) ?? 0) === 0)).toEqual([]);
  }, 120_000);
});
