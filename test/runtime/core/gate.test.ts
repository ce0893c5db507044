import { describe, expect, test } from 'vitest';
import {
  type Caller,
  depthRefusal,
  findTarget,
  judgeDelegation,
  reachableTargets,
} from '../../../src/runtime/core/gate.ts';
import { agentOf, configOf } from '../../support/agent-config.ts';

describe('G1, G2: whether a caller may delegate', () => {
  const modes = { forbidden: 'forbidden', allow: 'allow', unset: undefined } as const;
  const forbidden =
    'delegation is forbidden for caller "c" by risk profile "p" delegation_policy; set [risk_profiles.p].delegation_policy mode = "allow" or [agents.c.capabilities] delegation = true';
  const denied =
    'delegation is forbidden for caller "c" by its own capabilities; set [agents.c.capabilities] delegation = true';

  test.each([
    [undefined, 'unset', forbidden],
    [undefined, 'forbidden', forbidden],
    [undefined, 'allow', null],
    [true, 'unset', null],
    [true, 'forbidden', forbidden],
    [true, 'allow', null],
    [false, 'unset', denied],
    [false, 'forbidden', forbidden],
    [false, 'allow', denied],
  ] as const)('capability %s under a policy %s: %s', (delegation, mode, words) => {
    const config = configOf(
      { c: { risk_profile: 'p', capabilities: { delegation } } },
      { risk_profiles: { p: { delegation_policy: { mode: modes[mode] } } } },
    );
    expect(judgeDelegation(config, 'c')).toEqual(
      words === null ? { allowed: true } : { allowed: false, words },
    );
  });

  test('without a risk profile needs the agent’s own yes, and is told both ways to it', () => {
    const config = configOf({ c: {}, d: { capabilities: { delegation: true } } });
    expect(judgeDelegation(config, 'd')).toEqual({ allowed: true });
    expect(judgeDelegation(config, 'c')).toEqual({
      allowed: false,
      words:
        'delegation is forbidden for caller "c", which has no risk profile; set [agents.c.capabilities] delegation = true or give it a risk_profile whose delegation_policy mode = "allow"',
    });
  });

  test('is a yes for a raw root run, but for an explicit no in its own definition', () => {
    const config = configOf(
      { plain: {}, denied: { capabilities: { delegation: false } }, closed: { risk_profile: 'p' } },
      { risk_profiles: { p: { delegation_policy: { mode: 'forbidden' } } } },
    );
    const raw = (id: string): Caller => ({ raw: true, definition: agentOf(config, id) });
    expect(judgeDelegation(config, { raw: true })).toEqual({ allowed: true });
    expect(judgeDelegation(config, raw('plain'))).toEqual({ allowed: true });
    expect(judgeDelegation(config, raw('denied')).allowed).toBe(false);
    expect(judgeDelegation(config, raw('closed')).allowed).toBe(false);
  });

  test('is a no for an agent that has left the configuration', () => {
    expect(judgeDelegation(configOf({}), 'gone')).toEqual({
      allowed: false,
      words:
        'delegation is forbidden for caller "gone", which is not present in the loaded agents config',
    });
  });
});

test('G3: the refusal at the depth limit names both levels', () => {
  expect(depthRefusal(2, 2)).toBe('Delegation depth limit reached (2/2)');
});

const HOUSE = configOf(
  {
    lead: {
      name: 'Lead',
      risk_profile: 'p',
      delegates: ['far', { agent: 'peer', mode: 'independent' }],
    },
    peer: { name: 'Peer', risk_profile: 'p' },
    zeta: { name: 'Writer', risk_profile: 'p' },
    alpha: { name: 'WRITER', risk_profile: 'p' },
    far: { name: 'Far', risk_profile: 'q' },
    other: { name: 'Other', risk_profile: 'q' },
    off: { name: 'Off', risk_profile: 'q', enabled: false },
    bare: { name: 'Bare' },
    web: { name: 'Web', risk_profile: 'p', project: 'site' },
    secret: { name: 'Secret', risk_profile: 'p', project: 'vault' },
    loner: {
      name: 'Loner',
      risk_profile: 'p',
      delegate_same_risk_profile: false,
      delegates: ['off'],
    },
    nobody: { name: 'Nobody' },
  },
  { risk_profiles: { p: {}, q: {} }, projects: { site: {}, vault: {} } },
);

describe('G4: the reachable targets', () => {
  const reach = (caller: Caller, project: string | null) =>
    reachableTargets(HOUSE, caller, project).map(({ agent, mode }) => `${agent.id}:${mode}`);

  test('are the peers and the explicit delegates of the project, by id, an explicit mode first', () => {
    expect(reach('lead', null)).toEqual([
      'alpha:bounded',
      'far:bounded',
      'loner:bounded',
      'peer:independent',
      'zeta:bounded',
    ]);
    expect(reach('lead', 'site')).toContain('web:bounded');
  });

  test('are no peers where both have no profile, where peers are switched off, or where the target is disabled', () => {
    expect(reach('bare', null)).toEqual([]);
    expect(reach('loner', null)).toEqual([]);
  });

  test('of a raw caller are all enabled agents of its project', () => {
    const visible = ['alpha', 'bare', 'far', 'lead', 'loner', 'nobody', 'other', 'peer', 'zeta'];
    expect(reach({ raw: true }, null)).toEqual(visible.map((id) => `${id}:bounded`));
    expect(reach({ raw: true }, 'vault')).toContain('secret:bounded');
    const definition = agentOf(HOUSE, 'lead');
    expect(reach({ raw: true, definition }, null)).toContain('peer:independent');
  });

  test('of an agent that has left are none', () => {
    expect(reach('gone', null)).toEqual([]);
  });
});

describe('G4, G5: a target that is found', () => {
  test.each([
    ['peer', 'peer', 'independent'],
    [' far ', 'far', 'bounded'],
    ['FAR', 'far', 'bounded'],
    ['peer', 'peer', 'independent'],
  ])('as %j is %s', (asked, id, mode) => {
    const found = findTarget(HOUSE, 'lead', null, asked);
    expect(found).toMatchObject({ ok: true, agent: { id }, mode });
  });

  test('by an exact id is that agent, whoever else has this name', () => {
    const config = configOf(
      {
        c: { risk_profile: 'p' },
        a: { name: 'b', risk_profile: 'p' },
        b: { name: 'x', risk_profile: 'p' },
      },
      { risk_profiles: { p: {} } },
    );
    expect(findTarget(config, 'c', null, 'b')).toMatchObject({ ok: true, agent: { id: 'b' } });
  });

  test('by a name is unique within its project, though another project has the same', () => {
    const agents = {
      c: { risk_profile: 'p' },
      a: { name: 'Writer', risk_profile: 'p', project: 'x' },
      b: { name: 'Writer', risk_profile: 'p', project: 'y' },
    };
    const config = configOf(agents, { risk_profiles: { p: {} }, projects: { x: {}, y: {} } });
    expect(findTarget(config, 'c', 'x', 'writer')).toMatchObject({ ok: true, agent: { id: 'a' } });
    expect(findTarget(config, 'c', 'y', 'writer')).toMatchObject({ ok: true, agent: { id: 'b' } });
  });
});

const LEAD_REACH = 'alpha, far, loner, peer, zeta';
const profile = (target: string) =>
  `delegate target "${target}" is not reachable from "lead": different risk profile (caller uses "p", target uses "q"). delegate_same_risk_profile only reaches agents with the same risk profile; add an explicit [agents.lead].delegates entry with the intended mode, or change one agent's risk_profile.`;
const otherwise = (caller: string, target: string) =>
  `delegate target "${target}" is not reachable from "${caller}"; add it to [agents.${caller}].delegates or share a risk profile with delegate_same_risk_profile enabled`;

const REFUSED: readonly (readonly [string, string, string, string])[] = [
  [
    'that is disabled, though its profile differs too',
    'lead',
    'off',
    'delegate target "off" is not reachable from "lead": the target agent is disabled',
  ],
  [
    'that is disabled, though listed',
    'loner',
    'off',
    'delegate target "off" is not reachable from "loner": the target agent is disabled',
  ],
  ['of another profile', 'lead', 'other', profile('other')],
  ['of another profile, asked for by name', 'lead', 'OTHER', profile('other')],
  [
    'that is not listed where peers are switched off',
    'loner',
    'peer',
    'delegate target "peer" is not reachable from "loner": delegate_same_risk_profile is disabled and the target is not listed in [agents.loner].delegates',
  ],
  ['that is the caller itself', 'lead', 'lead', otherwise('lead', 'lead')],
  ['that is the caller itself, peers switched off', 'loner', 'loner', otherwise('loner', 'loner')],
  ['without a profile', 'lead', 'bare', otherwise('lead', 'bare')],
  [
    'whose name two agents have',
    'lead',
    'writer',
    "Agent name 'writer' is ambiguous. Use one of these agent ids: alpha, zeta",
  ],
  [
    'that does not exist',
    'lead',
    'ghost',
    `Unknown agent 'ghost'. Available agents: ${LEAD_REACH}`,
  ],
  [
    'of another project, in the same words',
    'lead',
    'secret',
    `Unknown agent 'secret'. Available agents: ${LEAD_REACH}`,
  ],
  [
    'of another project by name, in the same words',
    'lead',
    'Secret',
    `Unknown agent 'Secret'. Available agents: ${LEAD_REACH}`,
  ],
  [
    'whose id is in another case',
    'lead',
    'PEERS',
    `Unknown agent 'PEERS'. Available agents: ${LEAD_REACH}`,
  ],
  [
    'that does not exist, where nobody is reachable',
    'nobody',
    'ghost',
    "Unknown agent 'ghost'. Available agents: (none)",
  ],
  [
    'by a caller that has left',
    'gone',
    'peer',
    'delegate target "peer" is not reachable because caller "gone" is not present in the loaded agents config',
  ],
];

describe('G4, G5: a target that is refused', () => {
  test.each(REFUSED)('%s', (_, caller, asked, words) => {
    expect(findTarget(HOUSE, caller, null, asked)).toEqual({ ok: false, words });
  });

  test('by a raw caller is disabled or unknown', () => {
    expect(findTarget(HOUSE, { raw: true }, null, 'off')).toMatchObject({
      words: 'delegate target "off" is not reachable from "raw run": the target agent is disabled',
    });
    expect(findTarget(HOUSE, { raw: true }, null, 'secret')).toMatchObject({
      words: expect.stringMatching(/^Unknown agent 'secret'\. /),
    });
  });
});
