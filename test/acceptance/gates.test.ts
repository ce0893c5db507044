import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calls,
  delegate,
  ofRun,
  ofType,
  openStage,
  PROVIDER,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  const q = { risk_profile: 'q' };
  stage = await openStage({
    agents: {
      lead: { delegates: ['abroad'] },
      worker: { name: 'The Worker', purpose: 'works' },
      twin1: { name: 'Twin' },
      twin2: { name: 'twin' },
      off: { enabled: false },
      foreign: q,
      abroad: q,
      loner: { delegate_same_risk_profile: false },
      red1: { project: 'red', name: 'Red One' },
      blue1: { project: 'blue', name: 'Blue One' },
      silent: { risk_profile: 'unset' },
      eager: { risk_profile: 'unset', capabilities: { delegation: true } },
      denied: { risk_profile: 'no', capabilities: { delegation: true } },
      shy: { capabilities: { delegation: false } },
      shallow: { runtime_profile: 'shallow' },
      middle: {},
      cut: { risk_profile: 'cut', delegates: ['worker'] },
    },
    blocks: {
      projects: { red: {}, blue: {} },
      risk_profiles: {
        q: { autonomy: 'full', delegation_policy: { mode: 'allow' } },
        unset: { autonomy: 'full' },
        no: { autonomy: 'full', delegation_policy: { mode: 'forbidden' } },
        cut: { excluded_tools: ['delegate'], delegation_policy: { mode: 'allow' } },
      },
      runtime_profiles: { shallow: { max_delegation_depth: 1 } },
    },
    troupe: { threads: 1 },
  });
});

afterAll(() => stage.close());

/** `from` delegates to `target`: what it read, the tools its model was offered, and what was journaled. */
async function ask(from: string, target: string, more: { project?: string } = {}) {
  let read = '';
  stage.play({
    worker: 'worked',
    abroad: 'worked',
    red1: 'worked',
    [from]: ({ turn, results }) => {
      if (turn === 1) return delegate(target, 'part');
      read = results[0] ?? '';
      return 'done';
    },
  });
  const { run, events } = await stage.run(from, 'go', more);
  const refusal = ofType(ofRun(events, run.id), 'tool.failed')[0]?.data;
  const offered = stage.requestsOf(from).at(-1)?.tools ?? [];
  return { read, offered, refusal, started: ofType(events, 'delegation.started').length };
}

const DELEGATION_TOOLS = ['agents', 'delegate'];

describe('who may delegate', () => {
  it.each([
    ['lead', true],
    ['eager', true],
    ['silent', false],
    ['denied', false],
    ['shy', false],
  ])('G1, G2: %s is offered the delegation tools: %s', async (from, allowed) => {
    const { offered, started, refusal } = await ask(from, 'worker');
    expect(offered.filter((name) => DELEGATION_TOOLS.includes(name))).toEqual(
      allowed ? DELEGATION_TOOLS : [],
    );
    if (allowed) return;
    expect(started).toBe(0);
    expect(refusal).toMatchObject({ error_type: 'delegation_forbidden', effect: 'none' });
  });

  it.each([
    ['silent', 'unset'],
    ['denied', 'no'],
  ])('G2: the refusal of %s names caller and profile %s and the way out', async (from, profile) => {
    const { read } = await ask(from, 'worker');
    expect(read).toBe(
      `delegation is forbidden for caller "${from}" by risk profile "${profile}" delegation_policy; set [risk_profiles.${profile}].delegation_policy mode = "allow" or [agents.${from}.capabilities] delegation = true`,
    );
  });

  it('G2: agents is refused where delegate is', async () => {
    let read = '';
    stage.play({
      silent: ({ turn, results }) => {
        if (turn === 1) return calls({ name: 'agents' });
        read = results[0] ?? '';
        return 'done';
      },
    });
    await stage.run('silent');
    expect(read).toContain('delegation is forbidden for caller "silent"');
  });

  it('G9: a profile that excludes delegate by name does not offer it and refuses the call', async () => {
    const { offered, read, started } = await ask('cut', 'worker');
    expect(offered).not.toContain('delegate');
    expect(read).toContain("Tool not available to agent 'cut': delegate");
    expect(started).toBe(0);
  });

  it('G1: a root with an inline definition may delegate, unless it says no', async () => {
    const inline = { model_provider: PROVIDER, system_prompt: 'agent:inline' };
    stage.play({
      inline: ({ turn, results }) => (turn === 1 ? delegate('worker', 'part') : (results[0] ?? '')),
      worker: 'worked',
    });
    const yes = await stage.end(
      await stage.troupe.start({ agent: inline, prompt: 'go', workspace: stage.dir }),
    );
    expect(yes.outcome.answer).toContain("[Agent 'worker'");
    const definition = { ...inline, capabilities: { delegation: false } };
    const no = await stage.end(
      await stage.troupe.start({ agent: definition, prompt: 'go', workspace: stage.dir }),
    );
    expect(no.outcome.answer).toContain('delegation is forbidden for caller "inline"');
    expect(ofType(no.events, 'delegation.started')).toEqual([]);
  });
});

describe('whom it may reach', () => {
  const notReachable = (target: string, from = 'lead') =>
    `delegate target "${target}" is not reachable from "${from}"`;

  it.each([
    ['lead', 'off', `${notReachable('off')}: the target agent is disabled`],
    [
      'lead',
      'foreign',
      `${notReachable('foreign')}: different risk profile (caller uses "p", target uses "q"). delegate_same_risk_profile only reaches agents with the same risk profile; add an explicit [agents.lead].delegates entry with the intended mode, or change one agent's risk_profile.`,
    ],
    [
      'loner',
      'worker',
      `${notReachable('worker', 'loner')}: delegate_same_risk_profile is disabled and the target is not listed in [agents.loner].delegates`,
    ],
    [
      'lead',
      'lead',
      `${notReachable('lead')}; add it to [agents.lead].delegates or share a risk profile with delegate_same_risk_profile enabled`,
    ],
    ['lead', 'Twin', "Agent name 'Twin' is ambiguous. Use one of these agent ids: twin1, twin2"],
  ])('G4, G5: from %s to %s: the refusal names the cause', async (from, target, words) => {
    const { read, started, refusal } = await ask(from, target);
    expect(read).toBe(words);
    expect(started).toBe(0);
    expect(refusal).toMatchObject({ effect: 'none' });
  });

  it('G4: an explicit entry reaches over risk profiles', async () => {
    expect((await ask('lead', 'abroad')).read).toContain("[Agent 'abroad'");
  });

  it('G5: a display name is found whatever its case', async () => {
    expect((await ask('lead', 'the WORKER ')).read).toContain("[Agent 'worker'");
  });

  it('G5: agents of another project are named by no error and no list', async () => {
    const unknown = (target: string) =>
      new RegExp(`^Unknown agent '${target}'\\. Available agents: `);
    for (const target of ['blue1', 'Blue One', 'nobody']) {
      const { read } = await ask('lead', target, { project: 'red' });
      expect(read).toMatch(unknown(target));
      expect(read.replace(target, '')).not.toMatch(/blue/i);
      expect(read).toContain('red1');
    }
    expect((await ask('lead', 'red1', { project: 'red' })).read).toContain("[Agent 'red1'");
    expect((await ask('lead', 'red1')).read).toMatch(unknown('red1'));
    const offered = JSON.stringify(stage.requestsOf('lead').at(-1)?.body['tools']);
    expect(offered).not.toMatch(/red1|blue1/);
  });

  it('A1, G4: the description of agent_id lists the reachable ids and nobody else', async () => {
    await ask('lead', 'worker');
    const tools = stage.requestsOf('lead').at(-1)?.body['tools'] as {
      function: { name: string; parameters: { properties: { agent_id: { description: string } } } };
    }[];
    const spec = tools.find((tool) => tool.function.name === 'delegate');
    const words = spec?.function.parameters.properties.agent_id.description ?? '';
    expect(words).toContain('abroad, loner, middle, shallow, shy, twin1, twin2, worker');
  });

  it('A1: the roster gives id, name, purpose, capability, model and whether each could delegate where it would run', async () => {
    let roster: { agents: Record<string, unknown>[] } = { agents: [] };
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) return calls({ name: 'agents' });
        roster = JSON.parse(results[0] ?? '');
        return 'done';
      },
    });
    await stage.run('lead');
    const worker = roster.agents.find(({ agent_id }) => agent_id === 'worker');
    expect(worker).toEqual({
      agent_id: 'worker',
      name: 'The Worker',
      purpose: 'works',
      capability_profile: expect.stringContaining('full autonomy'),
      model: `${PROVIDER}/m`,
      can_delegate: true,
    });
    const can = Object.fromEntries(roster.agents.map((a) => [a['agent_id'], a['can_delegate']]));
    expect(can).toMatchObject({ shy: false, shallow: false, middle: true });
    expect(stage.troupe.agentsFrom('lead').map(({ agent_id }) => agent_id)).toEqual(
      roster.agents.map(({ agent_id }) => agent_id),
    );
  });
});

describe('how deep', () => {
  it('G3: a run at the limit is not offered delegation, and a call all the same is refused with depth and limit', async () => {
    let deepest = '';
    stage.play({
      lead: [delegate('middle', 'a'), 'done'],
      middle: [delegate('worker', 'b'), 'done'],
      worker: ({ turn, results }) => {
        if (turn === 1) return delegate('twin1', 'c');
        deepest = results[0] ?? '';
        return 'done';
      },
    });
    const { run, events } = await stage.run('lead');
    expect(deepest).toBe('Delegation depth limit reached (2/2)');
    expect(stage.requestsOf('worker').at(-1)?.tools).not.toContain('delegate');
    expect(stage.requestsOf('middle').at(-1)?.tools).toContain('delegate');
    const bottom = `${run.id}/delegate/01/delegate/01`;
    expect(ofRun(events, bottom)[0]?.data).toMatchObject({ depth: 2, depth_max: 2 });
    expect(ofType(ofRun(events, bottom), 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'depth_limit',
      effect: 'none',
    });
  });

  it('G3: a child lowers the cap by its own profile and a root with a lower one cannot be raised by its child', async () => {
    let read = '';
    const worker = ({ turn, results }: { turn: number; results: readonly string[] }) => {
      if (turn === 1) return delegate('twin1', 'c');
      read = results[0] ?? '';
      return 'done';
    };
    stage.play({ lead: [delegate('shallow', 'a'), 'done'], shallow: worker });
    await stage.run('lead');
    expect(read).toBe('Delegation depth limit reached (1/1)');
    read = '';
    stage.play({ shallow: [delegate('worker', 'a'), 'done'], worker });
    await stage.run('shallow');
    expect(read).toBe('Delegation depth limit reached (1/1)');
  });

  it('G10: a child whose own definition says no cannot delegate, though depth remains', async () => {
    let read = '';
    stage.play({
      lead: [delegate('shy', 'a'), 'done'],
      shy: ({ turn, results }) => {
        if (turn === 1) return delegate('worker', 'b');
        read = results[0] ?? '';
        return 'done';
      },
    });
    const { events } = await stage.run('lead');
    expect(read).toContain('delegation is forbidden for caller "shy"');
    expect(ofType(events, 'delegation.started')).toHaveLength(1);
  });
});
