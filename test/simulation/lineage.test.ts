import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import { answerOf, type SaidCall } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const IDS = ['lead', 'a', 'b'] as const;
type Way = 'delegate' | 'spawn_subagent' | 'plan';

const modes = fc.constantFrom('bounded', 'independent');
const limits = fc.constantFrom(0, 1, 2, 3, 5);
const ways = fc.constantFrom<Way>('delegate', 'spawn_subagent', 'plan');

const worlds = fc.record({
  seed: fc.nat(),
  /** Of the agents in order; a root's is what its chain may not pass. */
  depths: fc.tuple(limits, limits, limits),
  modes: fc.tuple(modes, modes, modes),
  /** What a run tries in each of its turns, by its own depth. */
  tries: fc.array(fc.array(ways, { minLength: 1, maxLength: 3 }), { minLength: 8, maxLength: 8 }),
});

function call(way: Way, from: string, turn: number): SaidCall {
  const target = IDS[(IDS.indexOf(from as (typeof IDS)[number]) + turn) % IDS.length] ?? 'a';
  if (way === 'spawn_subagent') return { name: way, args: { prompt: 'deeper' } };
  if (way === 'delegate') return { name: way, args: { agent_id: target, prompt: 'deeper' } };
  return { name: way, args: { tasks: [{ id: 't', agent_id: target, prompt: 'deeper' }] } };
}

it('S2, G3: no chain of spawn_subagent, delegate and plan, in whatever mode and order, grows past the limit plus one', async () => {
  let atLimit = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async ({ seed, depths, modes: written, tries }) => {
      const model = (init: AgentInit, _history: unknown, turn: number): ModelAnswer => {
        const depth = init.runId.split('/').length >> 1;
        const way = tries[depth % tries.length]?.[turn - 1];
        return answerOf(
          way === undefined ? 'done' : '',
          way ? [call(way, init.agentId, turn)] : [],
        );
      };
      const entries = IDS.map((id, at) => [
        id,
        {
          model_provider: 'openai-compatible.sim',
          risk_profile: 'p',
          runtime_profile: `r${at}`,
          delegates: IDS.filter((each) => each !== id).map((agent) => ({
            agent,
            mode: written[at],
          })),
        },
      ]);
      const profiles = depths.map((depth, at) => [`r${at}`, { max_delegation_depth: depth }]);
      const world = new SimWorld({
        config: {
          providers: PROVIDERS,
          agents: Object.fromEntries(entries),
          risk_profiles: { p: { autonomy: 'full', delegation_policy: { mode: 'allow' } } },
          runtime_profiles: Object.fromEntries(profiles),
        },
        random: seededRandom(seed),
        model,
      });
      world.start('lead');
      await world.runDry();
      audit(world.events);
      const limit = depths[0];
      for (const { type, data } of world.events) {
        if (type !== 'run.started') continue;
        const spec = data as unknown as RunSpec;
        expect(spec.depth).toBeLessThanOrEqual(spec.is_subagent ? limit + 1 : limit);
        expect(spec.depth_max).toBeLessThanOrEqual(limit);
        if (spec.depth === limit + 1) atLimit += 1;
      }
    }),
    { numRuns: 200 },
  );
  expect(atLimit, 'chains that went as far as they may').toBeGreaterThan(20);
});
