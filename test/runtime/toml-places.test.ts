import fc from 'fast-check';
import { parse, stringify, type TomlTable } from 'smol-toml';
import { expect, test } from 'vitest';
import { formatPath, type KeyPath } from '../../src/runtime/core/key-path.ts';
import { tomlPlaces } from '../../src/runtime/toml-places.ts';

const TEXT = `# a comment with = and [brackets]
title = "x # not a comment"

[agents.lead]
name = 'it'
[agents."my.agent"]
  system_prompt = """
[not.a.table]
key = "no"
\\""" still inside
"""
  delegates = [ "a", # why
    { agent = "b", mode = 'bounded' },
  ]
  workspace.dir = "w"

[[cron]]
id = "one"
[[cron]]
id = "two"
[providers.models]
scripted.s = { file = "x.json", price = { input = 1, output = 2 } }
`;

test('C1: every key, header and list item has the line and column where it is written', () => {
  const places = tomlPlaces(TEXT);
  const at = (path: string) => {
    const place = places.get(path);
    return place === undefined ? null : `${place.line}:${place.column}`;
  };
  parse(TEXT);
  expect(at('title')).toBe('2:1');
  expect(at('agents.lead')).toBe('4:1');
  expect(at('agents.lead.name')).toBe('5:1');
  expect(at('agents."my.agent".system_prompt')).toBe('7:3');
  expect(at('not.a.table')).toBeNull();
  expect(at('agents."my.agent".delegates[0]')).toBe('12:17');
  expect(at('agents."my.agent".delegates[1].agent')).toBe('13:7');
  expect(at('agents."my.agent".workspace.dir')).toBe('15:3');
  expect(at('cron[0].id')).toBe('18:1');
  expect(at('cron[1].id')).toBe('20:1');
  expect(at('providers.models.scripted.s.price.output')).toBe('22:54');
});

test('every path of a parsed document has a place on a line that is there', () => {
  const key = fc.stringMatching(/^[a-z][a-z."' -]{0,6}$/);
  const value = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.boolean(), fc.string({ maxLength: 8 })),
    table: fc.dictionary(key, tie('any'), { minKeys: 1, maxKeys: 3 }),
    any: fc.oneof(
      { depthSize: 'small' },
      tie('leaf'),
      tie('table'),
      fc.array(tie('leaf'), { maxLength: 3 }),
    ),
  })).table;
  fc.assert(
    fc.property(value, (table) => {
      const text = stringify(table as TomlTable);
      const places = tomlPlaces(text);
      const lines = text.split('\n').length;
      for (const path of paths(parse(text), [])) {
        const place = places.get(formatPath(path));
        expect(place, `${formatPath(path)} in\n${text}`).toBeDefined();
        expect(place?.line).toBeLessThanOrEqual(lines);
      }
    }),
  );
});

test('a text that is not TOML ends all the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'[]{}=.,"\'#\n a\\') }), (text) => {
      tomlPlaces(text);
    }),
  );
});

function paths(value: unknown, at: KeyPath): readonly KeyPath[] {
  if (Array.isArray(value)) return value.map((_, index) => [...at, index]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [...at, key],
    ...paths(inner, [...at, key]),
  ]);
}
