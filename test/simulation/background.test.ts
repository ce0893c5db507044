import { describe, expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { answerOf, type SaidCall } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SimEngine } from '../support/sim-engine.ts';
import { CALM } from '../support/sim-faults.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const agent = { model_provider: 'openai-compatible.sim', risk_profile: 'p', runtime_profile: 'r' };

function configOf(more: { risk?: object; runtime?: object; agents?: object } = {}): object {
  return {
    providers: PROVIDERS,
    agents: { lead: agent, worker: agent, ...more.agents },
    risk_profiles: {
      p: { autonomy: 'full', delegation_policy: { mode: 'allow' }, ...more.risk },
      narrow: { autonomy: 'full' },
    },
    runtime_profiles: { r: { ...more.runtime } },
    runtime: { max_runs_per_root: 1000 },
  };
}

const start = (prompt: string): SaidCall => ({
  name: 'delegate',
  args: { agent_id: 'worker', prompt, background: true },
});

const ask = (args: object): SaidCall => ({ name: 'delegate', args });

function resultsIn(history: readonly Message[]): readonly string[] {
  const last = history.findLast((message) => message.role === 'tool');
  return last?.role === 'tool' ? last.results.map(({ text }) => text) : [];
}

const idIn = (text = '') => /task_id: (\S+)/.exec(text)?.[1] ?? '';

type Lead = (turn: number, results: readonly string[], init: AgentInit) => ModelAnswer;

function worldOf(
  lead: Lead,
  config = configOf(),
  options: Partial<ConstructorParameters<typeof SimWorld>[0]> = {},
) {
  const seen: AgentInit[] = [];
  const model = (init: AgentInit, history: readonly Message[], turn: number) => {
    if (init.agentId === 'lead') return lead(turn, resultsIn(history), init);
    seen.push(init);
    return answerOf(`worked by ${init.runId}`);
  };
  const world = new SimWorld({ config, random: seededRandom(1), model, ...options });
  return { world, seen };
}

/** How long what a worker is asked takes. */
const slow = { delayMs: (what: 'ask' | 'run') => (what === 'ask' ? 100 : 0) };

describe('background tasks', () => {
  it('D9, R11: at most 128 are in flight in a host, whichever runs began them, and one that has ended makes room', async () => {
    const read: string[][] = [[], [], []];
    const many = Array.from({ length: 100 }, (_, at) => start(`p${at}`));
    const lead: Lead = (turn, results) => {
      read[turn - 1]?.push(...results);
      if (turn === 1) return answerOf('', many);
      return turn === 2 ? answerOf('', [start('again')]) : answerOf('done');
    };
    const { world } = worldOf(lead, configOf(), slow);
    const roots = [world.start('lead'), world.start('lead')];
    await world.runDry();
    audit(world.events);
    expect(roots.map(({ state }) => state.status)).toEqual(['completed', 'completed']);
    const [, first = [], second = []] = read;
    const words =
      'Too many background delegations in flight (limit 128). Wait for some to finish (check_result) or cancel one (cancel_task) before starting more.';
    expect(first.filter((text) => idIn(text) !== '')).toHaveLength(128);
    expect(first.filter((text) => text === words)).toHaveLength(72);
    expect(second.filter((text) => idIn(text) !== '')).toHaveLength(2);
    expect(world.tree.live()).toEqual([]);
  });

  it('R11: they count towards the runs that a root may launch, also once it has ended', async () => {
    const config = { ...configOf(), runtime: { max_runs_per_root: 2 } };
    let read: readonly string[] = [];
    const { world } = worldOf((turn, results) => {
      if (turn === 1) return answerOf('', [start('a'), start('b'), start('c')]);
      read = results;
      return answerOf('done');
    }, config);
    world.start('lead');
    await world.runDry();
    expect(read[2]).toContain('has launched 2 of 2 runs');
  });

  it('D10: what was started may be asked for and called off after delegation was forbidden', async () => {
    let read: readonly string[] = [];
    const { world } = worldOf(
      (turn, results) => {
        if (turn === 1) return answerOf('', [start('a')]);
        if (turn === 2) {
          const config = configOf({ risk: { delegation_policy: { mode: 'forbidden' } } });
          world.tree.reconfigure(loadConfig(config, { baseDir: '/' }));
          const task_id = idIn(results[0]);
          return answerOf('', [
            ask({ action: 'check_result', task_id }),
            ask({ action: 'cancel_task', task_id }),
            start('b'),
          ]);
        }
        read = results;
        return answerOf('done');
      },
      configOf(),
      slow,
    );
    world.start('lead');
    await world.runDry();
    expect(read[0]).toContain('"status"');
    expect(read[1]).toMatch(/aborted|not running/);
    expect(read[2]).toContain('delegation is forbidden for caller "lead"');
  });

  it('G2: a run that is not offered the tool cannot ask either', async () => {
    let read = '';
    const { world } = worldOf(
      (turn, results) => {
        if (turn === 1) return answerOf('', [ask({ action: 'list_results' })]);
        read = results[0] ?? '';
        return answerOf('done');
      },
      configOf({ risk: { delegation_policy: { mode: 'forbidden' } } }),
    );
    world.start('lead');
    await world.runDry();
    expect(read).toContain('delegation is forbidden for caller "lead"');
  });

  it('D11: a wait ends with the last of its tasks, and no sooner than that or its time', async () => {
    const at: number[] = [];
    const { world } = worldOf(
      (turn, results) => {
        at.push(world.engine.world.now());
        if (turn === 1) return answerOf('', [start('a'), start('b')]);
        const task_ids = results.map(idIn);
        if (turn === 2) {
          return answerOf('', [ask({ action: 'await_sessions', task_ids, timeout_ms: 5000 })]);
        }
        return answerOf('done');
      },
      configOf(),
      slow,
    );
    const run = world.start('lead');
    await world.runDry();
    const [wait] = world
      .eventsOf(run.runId)
      .filter(({ data }) => data['call_id'] === 'call_1')
      .slice(-1);
    expect(wait?.type).toBe('tool.completed');
    expect(JSON.parse(String(wait?.data['text']))).toMatchObject({
      status: 'complete',
      completed: 2,
    });
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeLessThan(1000);
  });

  it('D9, G9: a child gets no tool that its caller excludes, at depth 1 as in every other mode', async () => {
    const risk = { excluded_tools: ['post'] };
    const { world, seen } = worldOf(
      (turn) => answerOf(turn === 1 ? '' : 'done', turn === 1 ? [start('a')] : []),
      configOf({
        risk,
        runtime: { max_delegation_depth: 1 },
        agents: {
          worker: { ...agent, risk_profile: 'narrow' },
          lead: { ...agent, delegates: ['worker'] },
        },
      }),
    );
    world.start('lead');
    await world.runDry();
    expect(seen).toHaveLength(1);
    const names = seen[0]?.tools.map(({ name }) => name) ?? [];
    expect(names).toContain('work');
    expect(names).not.toContain('post');
    expect(names).not.toContain('delegate');
  });

  it('D7: is approved once, and where nobody can be asked it is denied in words that say so', async () => {
    let read = '';
    const { world } = worldOf(
      (turn, results) => {
        if (turn === 1) return answerOf('', [start('a')]);
        read = results[0] ?? '';
        return answerOf('done');
      },
      configOf({ risk: { always_ask: ['delegate'] } }),
      { faults: { ...CALM, approval: 'nobody' } },
    );
    world.start('lead');
    await world.runDry();
    expect(read).toMatch(/requires approval, and it was denied by runtime: nobody/);
    expect(idIn(read)).toBe('');
  });

  it('J5: a task of which the journal has no end and that nobody carries on is lost, not running for ever', () => {
    const { world } = worldOf(() => answerOf('done'));
    const { engine } = world as { engine: SimEngine };
    const spec = {
      agent_id: 'worker',
      started_at_ms: 0,
      background: { task_id: 't', results_dir: '/w' },
    };
    const state = { runId: 'run_x/delegate/01', spec, ended: null, calls: [] };
    world.tree.tasks.recover(
      [{ state, parentRunId: 'run_x', parentEventId: 'run_x#1', endedAt: null }] as never,
      () => undefined,
    );
    expect(world.tree.tasks.find('run_x', 't')).toMatchObject({ status: 'lost' });
    expect(engine.live.size).toBe(0);
  });
});
