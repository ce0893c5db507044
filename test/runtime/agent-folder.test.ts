import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkConfig, loadConfig } from '../../src/runtime/load-config.ts';
import { configFolder } from '../support/config-folder.ts';

const MODEL = '[providers.models.scripted.s]\nfile = "s.json"\n';

const TOML = `
[agents.lead]
name = "Lead"
purpose = "leads"
model_provider = "scripted.s"
capabilities = { delegation = true }
delegates = ["b", { agent = "c", mode = "independent" }]
max_turns = 30
tools = ["read_file", "shell"]
workspace.dir = "w"
system_prompt = """
You lead.

Well.
"""
`;
const MARKDOWN = `---
name: Lead
purpose: leads
model_provider: scripted.s
capabilities:
  delegation: true
delegates:
  - b
  - agent: c
    mode: independent
max_turns: 30
tools: [read_file, shell]
workspace:
  dir: w
---

You lead.

Well.
`;
const REST = `${MODEL}[agents.b]\nmodel_provider = "scripted.s"\n[agents.c]\nmodel_provider = "scripted.s"\n`;

describe('agents in files', () => {
  test('C3: give the same agent as a table of the configuration', () => {
    const folder = configFolder({ 's.json': '', 'troupe.toml': `${REST}${TOML}` });
    const fromToml = loadConfig(join(folder, 'troupe.toml')).agents.get('lead');
    const other = configFolder({ 's.json': '', 'troupe.toml': REST, 'agents/lead.md': MARKDOWN });
    const fromFile = loadConfig(join(other, 'troupe.toml'), { baseDir: folder }).agents.get('lead');
    expect(fromToml).toBeDefined();
    expect(fromFile).toEqual(fromToml);
  });

  test('C3: stand beside the configuration, or where they are said to be', () => {
    const agent = '---\nmodel_provider: scripted.s\n---\nHi\n';
    const folder = configFolder({
      's.json': '',
      'troupe.toml': MODEL,
      'agents/a.md': agent,
      'crew/b.md': agent,
      'agents/notes.txt': 'x',
    });
    const file = join(folder, 'troupe.toml');
    expect([...loadConfig(file).agents.keys()]).toEqual(['a']);
    expect([...loadConfig(file, { agentsDir: join(folder, 'crew') }).agents.keys()]).toEqual(['b']);
    expect(() => loadConfig(file, { agentsDir: join(folder, 'none') })).toThrow(
      'found no such file, expected a folder of agents',
    );
  });

  test('C3: are read for a configuration in code only where a folder is named', () => {
    const folder = configFolder({ 'agents/a.md': '---\nmodel_provider: scripted.s\n---\nHi\n' });
    const source = { providers: { models: { scripted: { s: { file: 'x' } } } } };
    expect(loadConfig(source, { baseDir: folder }).agents.size).toBe(0);
    expect(loadConfig(source, { agentsDir: join(folder, 'agents') }).agents.size).toBe(1);
  });
});

describe('agents in files are refused', () => {
  test('C3: for `tools:` with nothing behind it, naming file and line: never all tools', () => {
    for (const written of ['tools:', 'tools: []', 'tools: read_file']) {
      const folder = configFolder({
        's.json': '',
        'troupe.toml': MODEL,
        'agents/a.md': `---\nmodel_provider: scripted.s\n${written}\n---\nHi\n`,
      });
      const { faults } = checkConfig(join(folder, 'troupe.toml'));
      expect(faults).toMatchObject([
        {
          file: join(folder, 'agents/a.md'),
          line: 3,
          path: 'agents.a.tools',
          expected: 'a list with at least one entry',
        },
      ]);
    }
  });

  test('C3: for an unknown key, at its line, with the nearest known one', () => {
    const folder = configFolder({
      's.json': '',
      'troupe.toml': MODEL,
      'agents/a.md': '---\nmodel_provider: scripted.s\ntool: [x]\n---\nHi\n',
    });
    const { faults } = checkConfig(join(folder, 'troupe.toml'));
    expect(faults).toMatchObject([
      {
        file: join(folder, 'agents/a.md'),
        line: 3,
        path: 'agents.a.tool',
        hint: 'did you mean `tools`?',
      },
    ]);
  });

  test('C3: for an id that is taken, by a table or by another file', () => {
    const agent = '---\nid: lead\nmodel_provider: scripted.s\n---\nHi\n';
    const table = '[agents.lead]\nmodel_provider = "scripted.s"\n';
    const folder = configFolder({
      's.json': '',
      'troupe.toml': `${MODEL}${table}`,
      'agents/a.md': agent,
      'agents/b.md': agent,
    });
    const { faults } = checkConfig(join(folder, 'troupe.toml'));
    expect(faults.map((fault) => fault.file)).toEqual([
      join(folder, 'agents/a.md'),
      join(folder, 'agents/b.md'),
    ]);
    expect(faults[0]?.found).toBe(
      `a second agent "lead"; the first is in ${join(folder, 'troupe.toml')}:3`,
    );
  });

  test('once where a file is broken, not once more for everybody who names its agent', () => {
    const table = '[agents.lead]\nmodel_provider = "scripted.s"\ndelegates = ["a"]\n';
    const folder = configFolder({
      's.json': '',
      'troupe.toml': `${MODEL}${table}`,
      'agents/a.md': 'no front matter',
    });
    const { faults } = checkConfig(join(folder, 'troupe.toml'));
    expect(faults.map((fault) => fault.path)).toEqual(['agents.a']);
  });
});
