import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { user } from './model-client.ts';
import { ask, faultOf, lead, play, played } from './scripted-play.ts';

const history: Message[] = [
  ...played(
    'Survey src',
    [
      '[Agent \'s\' (x/y)]\n{"files": 3, "list": [{"p": "a/b.ts"}, {"p": "c.ts"}], "none": null}',
      'plain',
    ],
    ['{"files": 1200.5}', ['{"files": 4}', true]],
  ),
  user('hurry'),
  user('now'),
];
const render = async (text: string) => {
  const turns = `      - text: a\n      - text: b\n      - text: ${JSON.stringify(text)}\n`;
  return (await ask(play(lead(turns)), history)).text;
};

describe('what templates know', () => {
  it.each([
    ['the prompt', '{{ prompt }}!', 'Survey src!'],
    ['the turn', 'turn {{ turn }}', 'turn 3'],
    ['the agent', '{{ agent_id }}', 'lead'],
    ['later notes', '{{ notes | join: ", " }}', 'hurry, now'],
    ['the last results', '{{ results[0].tool }} {{ results[0].json.files }}', 'count 1200.5'],
    ['whether one failed', '{{ results[1].is_error }}', 'true'],
    ['earlier results by frame', "{{ calls['turn-1/call-2'].text }}", 'plain'],
    ['JSON below a line that names the agent', "{{ calls['turn-1/call-1'].json.files }}", '3'],
    ['a sum', '{{ results | map: "json.files" | sum | round: 1 }}', '1204.5'],
    ['a count', '{{ results | count }} of {{ results.size }}', '2 of 2'],
    ['an object, as JSON', '{{ results[1].json }}', '{"files":4}'],
    ['a list, as JSON', '{{ results | map: "is_error" }}', '[false,true]'],
    ['grouped digits', '{{ results[0].json.files | times: 1000 | thousands }}', '1,200,500'],
    ['decimals, ungrouped', '{{ 1234.56789 | thousands }}', '1,234.56789'],
    ['a file name', "{{ calls['turn-1/call-1'].json.list[0].p | basename: '.ts' }}", 'b'],
    [
      'table rows',
      '{% for r in results %}{{ r | row: "tool", "json.files" }}{% endfor %}',
      '| count | 1200.5 || count | 4 |',
    ],
    ['a default that the file names', '{{ results[0].json.nope | default: "none" }}', 'none'],
    ['a test for what is missing', '{% if results[0].json.nope %}a{% else %}b{% endif %}', 'b'],
  ])('know %s', async (_, template, text) => {
    expect(await render(template)).toBe(text);
  });
});

describe('what templates take for a fault', () => {
  it.each([
    ['a missing variable', '{{ nope }}', 'undefined variable: nope'],
    ['a missing result', '{{ results[7].text }}', 'undefined variable: results.7'],
    ['a missing field', '{{ results[0].json.lines }}', 'undefined variable: results.0.json.lines'],
    [
      'a result that is no JSON',
      "{{ calls['turn-1/call-2'].json.a }}",
      "result's text is not JSON",
    ],
    ['a null', "{{ calls['turn-1/call-1'].json.none }}", 'the value is null'],
    [
      'a field that one item lacks',
      '{{ results | map: "json.lines" | join: "" }}',
      '"json.lines" is missing in',
    ],
    [
      'a sum over what is no number',
      '{{ results | map: "tool" | sum }}',
      'expected a number, found "count"',
    ],
    ['arithmetic on words', '{{ prompt | plus: 1 }}', 'expected a number, found "Survey src"'],
    ['a division by zero', '{{ 1 | divided_by: 0 }}', 'division by 0'],
    ['a prototype', '{{ prompt.constructor }}', 'undefined variable: prompt.constructor'],
  ])('take %s for a fault with its place, never for an empty text', async (_, template, words) => {
    const fault = await faultOf(render(template).then((text) => ({ text }) as ModelAnswer));
    expect(fault.code).toBe('scenario.invalid');
    expect(fault.message).toContain('scenario demo.yaml: agents.lead.turns[2].text');
    expect(fault.message).toContain('(turn 3 of run run_1)');
    expect(fault.message).toContain(words);
  });
});

describe('what templates cannot do', () => {
  it.each([
    ['read a file', '{% include "secrets" %}'],
    ['read a file by render', '{% render "secrets" %}'],
    ['take a layout', '{% layout "secrets" %}'],
    ['ask the clock', '{{ "now" | date: "%Y" }}'],
    ['draw by chance', '{{ results | sample }}'],
    ['use a filter that is none', '{{ prompt | shout }}'],
    ['leave an output open', '{{ prompt'],
  ])('cannot %s', async (_, template) => {
    const fault = await faultOf(render(template).then((text) => ({ text }) as ModelAnswer));
    expect(fault.code).toBe('scenario.invalid');
    expect(fault.message).toContain('agents.lead.turns[2].text');
  });
});
