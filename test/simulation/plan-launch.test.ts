import { describe, expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { answerOf } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const agent = { model_provider: 'openai-compatible.sim', risk_profile: 'p' };

function configOf(agents: Readonly<Record<string, object>>): object {
  return {
    providers: PROVIDERS,
    agents: { lead: agent, a: agent, b: agent, c: agent, ...agents },
    projects: { elsewhere: {} },
    risk_profiles: {
      p: { autonomy: 'full', delegation_policy: { mode: 'allow' } },
      q: {},
      wary: { always_ask: ['act', 'post'] },
    },
  };
}

const task = (id: string, more: object = {}) => ({ id, agent_id: id, prompt: id, ...more });

/** `a`, then `b` beside `c`; the configuration changes while `a` answers. */
async function changed(agents: Readonly<Record<string, object>>, tasks?: readonly object[]) {
  let after: (() => void) | null = () =>
    world.tree.reconfigure(loadConfig(configOf(agents), { baseDir: '/' }));
  const graph = tasks ?? [
    task('a'),
    task('b', { depends_on: ['a'] }),
    task('c', { depends_on: ['a'] }),
    task('d', { agent_id: 'c', depends_on: ['b'] }),
  ];
  const model = (init: AgentInit, _history: unknown, turn: number): ModelAnswer => {
    if (init.agentId === 'lead') {
      return turn === 1
        ? answerOf('', [{ name: 'plan', args: { tasks: graph } }])
        : answerOf('done');
    }
    const isReviewer = init.tools.some(({ name }) => name === 'submit_review');
    if (init.agentId === 'a' || isReviewer) {
      after?.();
      const first = after !== null;
      after = null;
      if (isReviewer) {
        const args = first
          ? { verdict: 'rework', feedback: { b: 'again' } }
          : { verdict: 'accept' };
        return answerOf('', [{ name: 'submit_review', args }]);
      }
    }
    return answerOf(`${init.agentId} by ${init.system}`);
  };
  const world = new SimWorld({ config: configOf({}), random: seededRandom(1), model });
  const root = world.start('lead');
  await world.runDry();
  audit(world.events);
  const own = world.eventsOf(root.runId);
  const find = (type: string, id: string) =>
    own.findLast((event) => event.type === type && event.data['task_id'] === id)?.data;
  return { root, own, find, world };
}

describe('the configuration changes between the start of a plan and the launch of a task', () => {
  it('P12: an agent that was disabled fails its task alone, with agent_resolution_failed and no effect', async () => {
    const { find, root, world } = await changed({ b: { ...agent, enabled: false } });
    expect(find('plan.task.failed', 'b')).toMatchObject({
      error_type: 'agent_resolution_failed',
      effect: 'none',
      turns: 0,
      error: expect.stringContaining('the target agent is disabled'),
    });
    expect(find('plan.task.completed', 'c')).toBeDefined();
    expect(find('plan.task.skipped', 'd')).toMatchObject({
      reason: 'upstream_failed',
      blocked_by: 'b',
    });
    expect(root.state.status).toBe('completed');
    expect(world.events.filter(({ type }) => type === 'run.started')).toHaveLength(3);
  });

  it.each([
    [{ risk_profile: 'q' }, 'different risk profile'],
    [{ project: 'elsewhere' }, "Unknown agent 'b'"],
  ])('P12: an agent that became unreachable by %j fails its task alone', async (change, words) => {
    const { find } = await changed({ b: { ...agent, ...change } });
    expect(find('plan.task.failed', 'b')).toMatchObject({
      error_type: 'agent_resolution_failed',
      error: expect.stringContaining(words),
    });
  });

  it('P12, G8: an agent that has become an independent target runs as one, unless its profile always asks', async () => {
    const lead = { ...agent, delegates: [{ agent: 'b', mode: 'independent' }] };
    const { world } = await changed({ lead });
    const specs = world.events.filter(({ type }) => type === 'run.started').map(({ data }) => data);
    expect(specs.map((spec) => [spec['agent_id'], spec['independent']])).toEqual(
      expect.arrayContaining([
        ['a', false],
        ['b', true],
      ]),
    );
    const { find } = await changed({ lead, b: { ...agent, risk_profile: 'wary' } });
    expect(find('plan.task.failed', 'b')).toMatchObject({
      error_type: 'agent_resolution_failed',
      error:
        'delegate target "b" cannot run in independent mode from "lead": risk profile "wary" has always_ask entries (act, post). See the README, "What is not supported".',
    });
  });

  it('P12, G7: a definition that changed is the one the task runs with', async () => {
    const { find } = await changed({ b: { ...agent, system_prompt: 'new words' } });
    expect(find('plan.task.completed', 'b')).toMatchObject({ answer: 'b by new words' });
  });

  it('P12: a rework round resolves anew', async () => {
    const { find, own } = await changed({ b: { ...agent, system_prompt: 'new words' } }, [
      task('b'),
      task('c', { review_of: ['b'] }),
    ]);
    const answers = own
      .filter((event) => event.type === 'plan.task.completed' && event.data['task_id'] === 'b')
      .map(({ data }) => data['answer']);
    expect(answers).toEqual(['b by ', 'b by new words']);
    expect(find('plan.task.completed', 'c')).toMatchObject({ verdict: 'accept' });
  });

  it('P12: a reviewer that cannot be resolved any more fails, and is no default verdict', async () => {
    const { find } = await changed({ c: { ...agent, enabled: false } }, [
      task('a'),
      task('c', { review_of: ['a'] }),
    ]);
    expect(find('plan.task.failed', 'c')).toMatchObject({ error_type: 'agent_resolution_failed' });
  });
});

describe('the time of a run is up while its plan is going', () => {
  it('P10: calls of the same answer that had not begun by then are refused, whatever they wait for', async () => {
    const plan = (id: string) => ({ name: 'plan', args: { tasks: [task('a', { id })] } });
    const world = new SimWorld({
      config: {
        ...configOf({ lead: { ...agent, risk_profile: 'asking', runtime_profile: 'r' } }),
        risk_profiles: {
          p: { autonomy: 'full' },
          asking: { autonomy: 'full', always_ask: ['act'], delegation_policy: { mode: 'allow' } },
        },
        runtime_profiles: {
          r: { max_run_secs: 1, max_delegation_width: 1, parallel_tools: false },
        },
        agents: {
          a: agent,
          lead: { ...agent, risk_profile: 'asking', runtime_profile: 'r', delegates: ['a'] },
        },
      },
      random: seededRandom(1),
      approve: () => new Promise(() => undefined),
      delayMs: (what) => (what === 'run' ? 1500 : 600),
      model: (init, _history, turn) => {
        if (init.agentId !== 'lead') return answerOf('A');
        if (turn > 1) return answerOf('never said');
        return answerOf('', [
          plan('one'),
          { name: 'delegate', args: { agent_id: 'a', prompt: 'late' } },
          plan('two'),
          { name: 'act' },
          { name: 'work', args: { n: 1 } },
          { name: 'work', args: { n: 2 } },
        ]);
      },
    });
    const root = world.start('lead');
    await world.runDry();
    audit(world.events);
    const own = world.eventsOf(root.runId);
    const timeUp = own.findIndex(({ type }) => type === 'plan.time_limit');
    expect(timeUp).toBeGreaterThan(0);
    const later = own.slice(timeUp).filter(({ type }) => type.startsWith('tool.'));
    expect(
      later.map(({ type, data }) => `${type} ${data['name']} ${data['error_type'] ?? ''}`),
    ).toEqual([
      'tool.failed delegate run_time_limit',
      'tool.failed plan run_time_limit',
      'tool.failed act run_time_limit',
      'tool.failed work run_time_limit',
      'tool.completed plan ',
      'tool.completed work ',
    ]);
    expect(root.state).toMatchObject({ status: 'incomplete', ended: { reason: 'run_time_limit' } });
  });
});
