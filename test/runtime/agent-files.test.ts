import { describe, expect, test } from 'vitest';
import { readAgentFile } from '../../src/runtime/agent-files.ts';
import { faultLine } from '../../src/runtime/core/config-fault.ts';

function read(text: string, file = 'agents/lead.md') {
  const { agent, faults } = readAgentFile(file, text);
  return { agent, lines: faults.map(faultLine) };
}

describe('C3: an agent file', () => {
  test('gives its id from the file name, its fields from the front matter, its prompt from the body', () => {
    const { agent, lines } = read('---\nname: Lead\ntools: [a, b]\n---\n\nYou lead.\n');
    expect(lines).toEqual([]);
    expect(agent?.id).toBe('lead');
    expect(agent?.table).toEqual({
      name: 'Lead',
      tools: ['a', 'b'],
      system_prompt: '\nYou lead.\n',
    });
  });

  test('takes another id from `id:`, which is no field of the agent', () => {
    const { agent } = read('---\nid: boss\nname: Lead\n---\nHi\n');
    expect(agent?.id).toBe('boss');
    expect(agent?.table).not.toHaveProperty('id');
  });

  test('knows the line of every key in the file, not in the front matter', () => {
    const { agent } = read(
      '---\nname: Lead\nworkspace:\n  dir: w\ndelegates:\n  - a\n  - agent: b\n---\nHi\n',
    );
    const at = (path: string) => agent?.places.get(path);
    expect(at('name')).toEqual({ line: 2, column: 1 });
    expect(at('workspace.dir')).toEqual({ line: 4, column: 3 });
    expect(at('delegates[1].agent')).toEqual({ line: 7, column: 5 });
    expect(at('system_prompt')).toEqual({ line: 9, column: 1 });
  });

  test('reads Windows line ends and a byte order mark', () => {
    const { agent, lines } = read('\uFEFF---\r\nname: Lead\r\n---\r\nOne\r\nTwo\r\n');
    expect(lines).toEqual([]);
    expect(agent?.table).toEqual({ name: 'Lead', system_prompt: 'One\nTwo\n' });
  });

  test('may have rules of dashes in its body', () => {
    expect(read('---\nname: x\n---\na\n\n---\n\nb\n').agent?.table).toMatchObject({
      system_prompt: 'a\n\n---\n\nb\n',
    });
  });

  test('may have an empty front matter, which the schema then finds wanting', () => {
    expect(read('---\n---\nHi\n').agent?.table).toEqual({ system_prompt: 'Hi\n' });
  });

  test('keeps `no` and dates texts, as YAML 1.2 has them', () => {
    expect(read('---\nname: no\npurpose: 2001-01-01\n---\n').agent?.table).toEqual({
      name: 'no',
      purpose: '2001-01-01',
    });
  });
});

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    'without front matter',
    'You lead.\n',
    /^agents\/lead\.md:1:1 agents\.lead: found no front matter, expected a first line of exactly `---`/,
  ],
  [
    'with a fence that names a language',
    '---js\n({})\n---\n',
    /^agents\/lead\.md:1:1 .*front matter is YAML and nothing else/,
  ],
  ['with four dashes', '----\nname: x\n---\n', /^agents\/lead\.md:1:1 .*exactly `---`/],
  [
    'without a closing fence',
    '---\nname: x\n',
    /^agents\/lead\.md:1:1 .*front matter without an end/,
  ],
  [
    'with YAML that does not parse',
    '---\nname: x\nname: y\n---\n',
    /^agents\/lead\.md:3:1 .*Map keys must be unique/,
  ],
  ['with a list for front matter', '---\n- a\n---\n', /^agents\/lead\.md:2:1 .*found a list/],
  ['with a tag', '---\nname: !!js/function "x"\n---\n', /^agents\/lead\.md:2:7 .*Unresolved tag/],
  ['with an alias of nothing', '---\nname: *who\n---\n', /^agents\/lead\.md:2:1 .*does not parse/],
  [
    'with a key that is no text',
    '---\n? [a]\n: b\n---\n',
    /^agents\/lead\.md:2:3 .*a key that is not a text/,
  ],
  ['with a numeric key', '---\n1: b\n---\n', /^agents\/lead\.md:2:1 .*a key that is not a text/],
  [
    'with an id that is no text',
    '---\nid: 7\n---\n',
    /^agents\/lead\.md:2:1 agents\.lead\.id: found 7/,
  ],
  [
    'with a prompt in both places',
    '---\nsystem_prompt: a\n---\nb\n',
    /^agents\/lead\.md:2:1 agents\.lead\.system_prompt: .*one system prompt/,
  ],
  [
    'with a prompt file beside a body',
    '---\nname: x\nsystem_prompt_file: p\n---\nb\n',
    /^agents\/lead\.md:3:1 agents\.lead\.system_prompt_file/,
  ],
];

describe('C3: a file is refused', () => {
  test.each(REFUSED)('%s', (_, text, line) => {
    const { lines } = read(text);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(line);
  });

  test('with every error of its YAML at once', () => {
    const { lines } = read('---\nname: x\nname: y\nmodel: a: b\n---\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^agents\/lead\.md:3:1 /);
    expect(lines[1]).toMatch(/^agents\/lead\.md:4:\d+ /);
  });

  test('for an alias bomb, before it grows', () => {
    const rows = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [row, below] of [
      ['b', 'a'],
      ['c', 'b'],
      ['d', 'c'],
      ['e', 'd'],
      ['f', 'e'],
    ]) {
      rows.push(`${row}: &${row} [${Array(9).fill(`*${below}`).join(',')}]`);
    }
    expect(read(`---\n${rows.join('\n')}\n---\n`).lines[0]).toMatch(/alias/i);
  });

  test('C6: without showing a key that stands in broken YAML', () => {
    const { lines } = read('---\nname: *sk-0123456789abcdef\n---\n');
    expect(lines.join()).not.toContain('0123456789abcdef');
  });
});
