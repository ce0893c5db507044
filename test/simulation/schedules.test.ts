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

/** A model that does anything a model may do, by chance. */
function wildModel(random: ReturnType<typeof seededRandom>) {
  return (init: AgentInit, _history: readonly Message[], turn: number): ModelAnswer => {
    const chance = random.unit();
    if (chance < 0.05) throw new Error('the model broke');
    if (chance < 0.3 || turn >= 3) return answerOf(`answer of ${init.agentId}`);
    const calls = Array.from({ length: 1 + random.int(5) }, (): SaidCall => {
      const kind = random.unit();
      if (kind < 0.55) {
        const target = ['a', 'b', 'c', 'lead', 'nobody'][random.int(5)] as string;
        return { name: 'delegate', args: { agent_id: target, prompt: `p${random.int(3)}` } };
      }
      if (kind < 0.65) return { name: 'spawn_subagent', args: { prompt: `s${random.int(2)}` } };
      if (kind < 0.7) return { name: 'agents' };
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
