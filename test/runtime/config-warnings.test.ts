import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NOT_IN_FORCE } from '../../src/runtime/core/not-in-force.ts';
import { checkConfig } from '../../src/runtime/load-config.ts';
import { configFolder } from '../support/config-folder.ts';

const MODEL = '[providers.models.scripted.s]\nfile = "s.json"\n';
const AGENT = 'model_provider = "scripted.s"\n';

function warningsOf(text: string): readonly string[] {
  const file = join(configFolder({ 'troupe.toml': text, 's.json': '' }), 'troupe.toml');
  const { faults, warnings, config } = checkConfig(file);
  expect(faults).toEqual([]);
  expect(config).toBeDefined();
  return warnings.map((warning) => `${warning.line}: ${warning.message}`);
}

describe('a setting that is not in force yet', () => {
  const EACH = `${MODEL}native_tools = false
fallback = ["scripted.t"]
[providers.models.scripted.t]
file = "s.json"
[risk_profiles.r]
require_approval_for_medium_risk = true
[runtime_profiles.t]
isolation = "thread"
strict_tool_parsing = true
[agents.a]
${AGENT}skills = ["x"]
mcp_servers = ["m"]
workspace.read_memory_from = ["b"]
delegates = ["b", { agent = "c", mode = "independent" }]
[agents.b]
${AGENT}[agents.c]
${AGENT}[mcp_servers.m]
command = "m"
[[cron]]
id = "c"
schedule = "* * * * *"
agent = "a"
prompt = "p"
`;

  test('is warned of at its line, every one of the list, and no limit is ignored in silence', () => {
    const warnings = warningsOf(EACH);
    expect(
      warnings.map((line) => line.replace(/: accepted, but not in force in this version.*/, '')),
    ).toEqual([
      '4: providers.models.scripted.s.fallback',
      '3: providers.models.scripted.s.native_tools',
      '10: runtime_profiles.t.isolation',
      '11: runtime_profiles.t.strict_tool_parsing',
      '14: agents.a.skills',
      '15: agents.a.mcp_servers',
      '22: mcp_servers.m',
    ]);
    expect(warnings).toHaveLength(NOT_IN_FORCE.length);
  });

  test('is not warned of where nobody wrote it, or where what was written asks for nothing', () => {
    const text = `${MODEL}native_tools = true
[risk_profiles.r]
[runtime_profiles.t]
isolation = "host"
strict_tool_parsing = false
[agents.a]
${AGENT}skills = []
delegates = ["b", { agent = "c", mode = "bounded" }]
[agents.b]
${AGENT}[agents.c]
${AGENT}`;
    expect(warningsOf(text)).toEqual([]);
  });
});

describe('G5: a display name', () => {
  const two = (a: string, b: string) =>
    warningsOf(
      `${MODEL}[projects.p]\n[projects.q]\n[agents.a]\n${AGENT}${a}[agents.b]\n${AGENT}${b}`,
    );

  test('that two agents of one project share is a warning, not a fault', () => {
    expect(two('name = "Writer"\n', 'name = "WRITER"\n')).toEqual([
      '10: agents.b.name: the display name "WRITER" is also that of agent "a"; delegating by this name is refused as ambiguous, by id it works',
    ]);
  });

  test('that a global agent shares with one of a project is warned of too', () => {
    expect(two('name = "Writer"\n', 'name = "Writer"\nproject = "p"\n')).toHaveLength(1);
  });

  test('that agents of two projects share is nothing', () => {
    expect(two('name = "W"\nproject = "p"\n', 'name = "W"\nproject = "q"\n')).toEqual([]);
  });

  test('that is the id of another agent counts as shared where that one has no other name', () => {
    expect(two('', 'name = "A"\n')).toHaveLength(1);
  });
});

test('G4: a delegate of another project is warned of: it can never be reached', () => {
  const agents = `[agents.a]\n${AGENT}project = "p"\ndelegates = ["b"]\n[agents.b]\n${AGENT}project = "q"\n`;
  expect(warningsOf(`${MODEL}[projects.p]\n[projects.q]\n${agents}`)).toEqual([
    '8: agents.a.delegates[0].agent: agent "b" belongs to another project and is never reachable from "a"',
  ]);
});

test('G8: an independent entry whose target always asks is warned of: it can never be called', () => {
  const risks =
    '[risk_profiles.wary]\nalways_ask = ["shell"]\n[risk_profiles.calm]\nalways_ask = []\n';
  const to = (mode: string, profile: string) =>
    warningsOf(
      `${MODEL}${risks}[agents.a]\n${AGENT}delegates = [{ agent = "b", mode = "${mode}" }]\n[agents.b]\n${AGENT}risk_profile = "${profile}"\n`,
    );
  expect(to('independent', 'wary')).toEqual([
    '9: agents.a.delegates[0].mode: risk profile "wary" of this target has always_ask entries, so that every call of it is refused; use "bounded" or another risk profile',
  ]);
  expect([...to('bounded', 'wary'), ...to('independent', 'calm')]).toEqual([]);
});

test('a scenario that is not there yet is warned of', () => {
  const [warning] = warningsOf('[providers.models.scripted.s]\nfile = "later.json"\n');
  expect(warning).toMatch(
    /^2: providers\.models\.scripted\.s\.file: there is no file .*later\.json/,
  );
});
