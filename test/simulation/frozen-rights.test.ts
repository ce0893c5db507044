import { describe, expect, it } from 'vitest';
import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import { auditJournal } from '../../src/runtime/core/audit.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { freezeSecurity } from '../../src/runtime/resolve-run.ts';
import { OPEN_FILES } from '../support/launches.ts';
import { answerOf } from '../support/run-fixtures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit, PROVIDERS, SimWorld } from '../support/sim-world.ts';

const agent = { model_provider: 'openai-compatible.sim', risk_profile: 'p' };

function configOf(risk: object, alone: object = {}): object {
  return {
    providers: PROVIDERS,
    agents: {
      lead: { ...agent, delegates: [{ agent: 'alone', mode: 'independent' }] },
      worker: agent,
      alone: { ...agent, risk_profile: 'alone', ...alone },
    },
    risk_profiles: {
      p: { autonomy: 'full', delegation_policy: { mode: 'allow' }, ...risk },
      alone: { autonomy: 'full' },
    },
  };
}

/** In its second turn, which is after the crash, the root launches in all three ways. */
function model(init: AgentInit, _history: readonly Message[], turn: number): ModelAnswer {
  if (init.agentId !== 'lead' || init.runId.includes('/')) return answerOf('done');
  if (turn === 1) return answerOf('', [{ name: 'work' }]);
  if (turn > 2) return answerOf('done');
  return answerOf('', [
    { name: 'delegate', args: { agent_id: 'worker', prompt: 'a' } },
    { name: 'delegate', args: { agent_id: 'alone', prompt: 'b' } },
    { name: 'spawn_subagent', args: { prompt: 'c', policy: { excluded_tools: ['post'] } } },
  ]);
}

/** As it was written before runs could be narrowed, be independent, or have a budget or a memory. */
function asOfBefore(event: JournalEvent): JournalEvent {
  const { data } = event;
  if (event.type !== 'run.started') return event;
  const { independent, narrowings, budget, memory, ...rest } = data;
  const { require_approval_for_medium_risk: _later, ...before } = rest;
  expect([independent, narrowings, budget, memory]).not.toContain(undefined);
  return { ...event, data: before };
}

/** A root whose host dies in its first turn and whose next host has another configuration. */
async function resumedUnder(later: object, fields: 'all' | 'those of before' = 'all') {
  const first = new SimWorld({ config: configOf({}), random: seededRandom(1), model });
  const lead = first.tree.config.agents.get('lead');
  if (lead === undefined) throw new Error('no lead');
  const files = { ...OPEN_FILES, workspaceDir: '/', forbidden: ['/frozen'] };
  const root = first.tree.startRoot({
    agent: lead,
    raw: false,
    prompt: 'go',
    origin: 'user',
    project: null,
    security: freezeSecurity('ada', 'research', files),
    workspaceDir: '/',
    maxTurns: null,
    calledOff: null,
    cron: null,
  });
  while (!first.events.some(({ type }) => type === 'tool.started')) await first.runFor(1);
  const events = fields === 'all' ? first.events : first.events.map(asOfBefore);
  const world = new SimWorld({
    config: later,
    random: seededRandom(2),
    model,
    events,
    log: first.engine.log,
  });
  world.engine.log.hostEnds.push(events.length);
  world.recover();
  await world.runDry();
  audit(world.events);
  const specs = new Map(
    world.events
      .filter(({ type }) => type === 'run.started')
      .map(({ run_id, data }) => [run_id.slice(root.runId.length), data as unknown as RunSpec]),
  );
  return { specs, events: world.events, root };
}

describe('a tree that goes on after its configuration changed', () => {
  it('R9: holds everybody in it to the snapshot of its journal, an independent run too', async () => {
    const { specs } = await resumedUnder(configOf({ forbidden_paths: ['/later'] }));
    const frozen = specs.get('')?.security;
    expect(frozen).toMatchObject({
      principal: 'ada',
      org_position: 'research',
      files: { forbidden: ['/frozen'] },
    });
    expect([...specs.keys()].sort()).toEqual(['', '/delegate/01', '/delegate/02', '/subagent/03']);
    for (const { security, scope } of specs.values()) {
      expect(security).toEqual(frozen);
      expect(scope.files).toContainEqual(frozen?.files);
    }
    expect(specs.get('/delegate/02')?.independent).toBe(true);
  });

  it('G7, S4: gives a delegate its new policy, and a sub-agent what both it and its parent allow', async () => {
    const widened = { allowed_commands: ['rm'], forbidden_paths: ['/later'], always_ask: ['act'] };
    const { specs } = await resumedUnder(configOf(widened));
    expect(specs.get('/delegate/01')?.scope.commands.allowed).toEqual(['rm']);
    const sub = specs.get('/subagent/03');
    expect(sub?.scope.commands.allowed).toEqual([]);
    expect(sub?.always_ask).toEqual(['act']);
    expect(sub?.scope.files.map(({ forbidden }) => forbidden)).toEqual([
      ['/later'],
      ['/frozen'],
      [],
    ]);
    expect(sub?.narrowings).toEqual([{ excluded_tools: ['post'] }]);
    expect(sub?.tools).not.toContain('post');
  });

  it('J2: goes on from a record of before as from one of now', async () => {
    const { specs, events } = await resumedUnder(configOf({}), 'those of before');
    expect(auditJournal(events).filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(specs.get('/subagent/03')).toMatchObject({
      narrowings: [{ excluded_tools: ['post'] }],
      budget: { actions_per_hour_max: 1000 },
      memory: { own: 'lead', readable: ['lead'] },
    });
    expect(specs.get('/delegate/02')?.independent).toBe(true);
  });

  it('G8: starts no independent run that the new configuration no longer lets be one', async () => {
    const wary = {
      ...configOf({}),
      risk_profiles: {
        p: { autonomy: 'full', delegation_policy: { mode: 'allow' } },
        alone: { always_ask: ['act'] },
      },
    };
    const { specs, events } = await resumedUnder(wary);
    expect([...specs.keys()]).not.toContain('/delegate/02');
    const failed = events.find(({ type }) => type === 'tool.failed');
    expect(failed?.data['error']).toContain('cannot run in independent mode from "lead"');
  });
});

describe('a delegate that waits for its turn while the configuration changes', () => {
  /** Two delegations at width 1: the configuration changes while the first of them runs. */
  async function launchedAfter(later: object) {
    const one = { runtime_profiles: { r: { max_delegation_width: 1 } } };
    const narrow = (config: object) => {
      const { agents } = config as { agents: { lead: object } };
      const lead = { ...agents.lead, runtime_profile: 'r' };
      return { ...config, ...one, agents: { ...agents, lead } };
    };
    const world = new SimWorld({
      config: narrow(configOf({})),
      random: seededRandom(1),
      model: (init, _history, turn) => {
        if (init.agentId === 'worker') {
          world.tree.reconfigure(loadConfig(narrow(later), { baseDir: '/' }));
        }
        if (init.agentId !== 'lead' || turn > 1) return answerOf('done');
        return answerOf('', [
          { name: 'delegate', args: { agent_id: 'worker', prompt: 'a' } },
          { name: 'delegate', args: { agent_id: 'alone', prompt: 'b' } },
        ]);
      },
    });
    const root = world.start('lead');
    await world.runDry();
    audit(world.events);
    const own = world.eventsOf(root.runId);
    const [started] = world.eventsOf(`${root.runId}/delegate/02`);
    return { own, spec: started?.data as unknown as RunSpec | undefined };
  }

  it('G8: is not launched where its profile has come to ask always', async () => {
    const { own, spec } = await launchedAfter({
      ...configOf({}),
      risk_profiles: {
        p: { autonomy: 'full', delegation_policy: { mode: 'allow' } },
        alone: { always_ask: ['act'] },
      },
    });
    expect(spec).toBeUndefined();
    expect(own.find(({ type }) => type === 'delegation.failed')?.data).toMatchObject({
      error_type: 'agent_resolution_failed',
      effect: 'none',
    });
  });

  it('G8: is bounded where its entry has come to say so', async () => {
    const { agents, ...rest } = configOf({}) as { agents: { lead: object } };
    const lead = { ...agents.lead, delegates: ['alone'] };
    const { spec } = await launchedAfter({ ...rest, agents: { ...agents, lead } });
    expect(spec).toMatchObject({ agent_id: 'alone', independent: false });
  });
});
