import type { Seeded } from './seeded-random.ts';
import { SIM_TOOLS } from './sim-tools.ts';

type ConfigOf = (disabled: string | null) => object;

interface Written {
  readonly agents: Readonly<Record<string, { readonly delegates?: readonly unknown[] }>>;
  readonly risk_profiles: object;
}

/** Agent `b` gets a risk profile of its own, and some of the others reach it as an independent delegate. */
export function withIndependence(random: Seeded, configOf: ConfigOf): ConfigOf {
  const profile = {
    autonomy: random.pick(['full', 'full', 'supervised']),
    delegation_policy: { mode: 'allow' },
    ...(random.chance(0.15) && { always_ask: ['mend'] }),
    ...(random.chance(0.3) && { excluded_tools: ['fetch', 'spawn_subagent'] }),
  };
  const modes = new Map(
    ['lead', 'a', 'c'].map((name) => [name, random.pick(['bounded', 'independent'])]),
  );
  const delegatesOf = (name: string) => {
    const mode = modes.get(name);
    return mode === undefined ? ['lead', 'a', 'c'] : [{ agent: 'b', mode }];
  };
  return (disabled) => {
    const written = configOf(disabled) as Written;
    const agents = Object.entries(written.agents).map(([name, agent]) => [
      name,
      {
        ...agent,
        delegates: [...new Set([...(agent.delegates ?? []), ...delegatesOf(name)])],
        ...(name === 'b' && { risk_profile: 'own' }),
      },
    ]);
    return {
      ...written,
      agents: Object.fromEntries(agents),
      risk_profiles: { ...written.risk_profiles, own: profile },
    };
  };
}

/** What a model may ask of its sub-agent: mostly nothing, else anything, also what it cannot give. */
export function wildNarrowing(random: Seeded): object {
  if (random.chance(0.4)) return {};
  const names = ['spawn_subagent', 'delegate', 'plan', 'agents', ...SIM_TOOLS.keys()];
  const some = (rate: number) => names.filter(() => random.chance(rate));
  const field = (): readonly [string, unknown] =>
    random.pick<readonly [string, unknown]>([
      ['autonomy', random.pick(['read_only', 'supervised', 'full'])],
      ['allowed_tools', some(0.6)],
      ['excluded_tools', some(0.3)],
      ['auto_approve', some(0.3)],
      ['always_ask', some(0.8)],
      ['delegation_policy', { mode: random.pick(['allow', 'forbidden']) }],
      ['allowed_roots_read_only', [random.pick(['.', '/elsewhere'])]],
      ['forbidden_paths', ['secret']],
      ['max_actions_per_hour', random.pick([0, 3, 1000])],
      ['colour', 'red'],
    ]);
  const fields = Array.from({ length: 1 + random.int(2) }, field);
  const policy = Object.fromEntries(fields.map(([name, value]) => [name, value]));
  return { policy, ...(random.chance(0.3) && { allowed_agent_aliases: ['lead'] }) };
}
