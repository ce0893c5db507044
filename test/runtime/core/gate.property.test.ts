import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResolvedConfig } from '../../../src/runtime/core/config.ts';
import {
  type Caller,
  findTarget,
  reachableTargets,
  roster,
} from '../../../src/runtime/core/gate.ts';
import { configOf } from '../../support/agent-config.ts';

/** Ids that no sentence holds by chance. */
const IDS = ['zq-0', 'zq-1', 'zq-2', 'zq-3', 'zq-4', 'zq-5'];
const PROJECTS = ['north', 'south'];

const maybe = <Value>(values: readonly Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined });

const agentTable = fc.record({
  name: maybe(['Ada', 'ADA', 'Ben', 'zq-1']),
  enabled: fc.boolean(),
  project: maybe(PROJECTS),
  risk_profile: maybe(['p', 'q']),
  delegate_same_risk_profile: fc.boolean(),
  listed: fc.subarray(IDS),
  mode: fc.constantFrom('bounded', 'independent'),
});

const rosters = fc
  .array(agentTable, { minLength: 1, maxLength: IDS.length })
  .map((written): ResolvedConfig => {
    const ids = IDS.slice(0, written.length);
    const entries = written.map(({ listed, mode, ...fields }, index) => [
      ids[index],
      {
        ...fields,
        delegates: listed
          .filter((id) => id !== ids[index] && ids.includes(id))
          .map((id) => ({ agent: id, mode })),
      },
    ]);
    return configOf(Object.fromEntries(entries), {
      risk_profiles: { p: {}, q: {} },
      projects: { north: {}, south: {} },
    });
  });

const callers = fc.constantFrom<Caller>(...IDS, { raw: true });
const projects = fc.constantFrom(null, ...PROJECTS);

test('G4: a target is found by its id exactly where it is reachable, and in the same mode', () => {
  fc.assert(
    fc.property(rosters, callers, projects, (config, caller, project) => {
      const reachable = new Map(
        reachableTargets(config, caller, project).map(({ agent: { id }, mode }) => [id, mode]),
      );
      if (typeof caller === 'string' && !config.agents.has(caller)) return;
      for (const [id, agent] of config.agents) {
        if (agent.project !== null && agent.project !== project) continue;
        const found = findTarget(config, caller, project, id);
        expect(found.ok).toBe(reachable.has(id));
        if (found.ok) expect(found).toEqual({ ok: true, agent, mode: reachable.get(id) });
      }
    }),
    { numRuns: 300 },
  );
});

test('G4: a reachable target is enabled, in sight of the project, and never the caller', () => {
  fc.assert(
    fc.property(rosters, callers, projects, (config, caller, project) => {
      const targets = reachableTargets(config, caller, project);
      for (const { agent: target } of targets) {
        expect(target.enabled).toBe(true);
        expect([null, project]).toContain(target.project);
        expect(target.id).not.toBe(caller);
      }
      const ids = targets.map(({ agent: target }) => target.id);
      expect(ids).toEqual([...ids].sort());
      const at = { depth: 0, depthMax: 2 };
      expect(roster(config, caller, project, at).map((entry) => entry.agent_id)).toEqual(ids);
    }),
  );
});

test('G5: no refusal holds the id of an agent of another project, nor tells it from one that does not exist', () => {
  const asked = fc.constantFrom('Ada', 'ben', 'nobody at all', ...IDS);
  fc.assert(
    fc.property(rosters, callers, projects, asked, (config, caller, project, name) => {
      const found = findTarget(config, caller, project, name);
      if (found.ok) return;
      for (const hidden of config.agents.values()) {
        if (hidden.project === null || hidden.project === project) continue;
        if (hidden.id === name || hidden.id === caller) continue;
        expect(found.words).not.toContain(hidden.id);
      }
      expect(findTarget(withoutHidden(config, caller, project), caller, project, name)).toEqual(
        found,
      );
    }),
    { numRuns: 300 },
  );
});

/** The same configuration as if the agents of other projects, but for the caller, had never been. */
function withoutHidden(
  config: ResolvedConfig,
  caller: Caller,
  project: string | null,
): ResolvedConfig {
  const kept = [...config.agents].filter(
    ([id, { project: own }]) => id === caller || own === null || own === project,
  );
  return { ...config, agents: new Map(kept) };
}
