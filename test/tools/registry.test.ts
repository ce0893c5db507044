import { expect, test } from 'vitest';
import { actorTools } from '../../src/tools/actor-tools.ts';
import { computeTools } from '../../src/tools/compute-tools.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { memoryTools } from '../../src/tools/memory-tools.ts';
import { BUILTIN_TOOLS, hostTools } from '../../src/tools/registry.ts';
import { Shells } from '../../src/tools/shell.ts';

const EXPECTED = {
  file_read: ['actor', 'read'],
  file_write: ['actor', 'idempotent'],
  file_edit: ['actor', 'effectful'],
  list_dir: ['actor', 'read'],
  glob_search: ['actor', 'read'],
  content_search: ['actor', 'read'],
  code_stats: ['compute', 'read'],
  find_duplicates: ['compute', 'read'],
  shell: ['host', 'effectful'],
  memory_store: ['host', 'idempotent'],
  memory_recall: ['host', 'read'],
  memory_forget: ['host', 'idempotent'],
};

test('the built-in tools are these, each with its place and effect', () => {
  const found = BUILTIN_TOOLS.map(({ name, place, effect }) => [name, [place, effect]]);
  expect(Object.fromEntries(found)).toEqual(EXPECTED);
  expect(found).toHaveLength(Object.keys(EXPECTED).length);
});

const nobody = () => Promise.reject(new Error('not asked here'));

test('every built-in tool has its code at its place, and nowhere else', () => {
  const places = {
    actor: actorTools,
    compute: computeTools,
    host: hostTools(new Shells('test'), memoryTools(nobody, Date.now)),
  };
  for (const [place, tools] of Object.entries(places)) {
    const names = BUILTIN_TOOLS.filter((tool) => tool.place === place).map(({ name }) => name);
    expect([...tools.keys()].sort()).toEqual(names.sort());
  }
});

test.each(BUILTIN_TOOLS)('$name is plain data that would pass as a tool of an author', (tool) => {
  expect(structuredClone(tool)).toEqual(tool);
  expect(() => defineTool({ ...tool, run: () => 'x' })).not.toThrow();
});
