import { describe, expect, it } from 'vitest';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { user } from './model-client.ts';
import { ask, clock, faultOf, lead, play, played } from './scripted-play.ts';

describe('a scripted answer (SPEC M1)', () => {
  it('says what it is, and reports no tokens and no cost', async () => {
    const answer = await ask(play(lead('      - text: Hello.\n')), [user('hi')]);
    expect(answer).toEqual({
      text: 'Hello.',
      calls: [],
      usage: { inputTokens: null, outputTokens: null, cachedInputTokens: null },
      costCents: null,
      servedBy: 'scripted (no language model)',
      finishReason: 'stop',
      attempts: 1,
    });
  });

  it('depends on the history alone: another provider object goes on where the first was', async () => {
    const file = lead('      - text: one\n      - text: two\n');
    expect((await ask(play(file), [user('hi')])).text).toBe('one');
    expect((await ask(play(file), played('hi', []))).text).toBe('two');
  });

  it('of the last turn is given for ever where it repeats', async () => {
    const file = lead('      - text: one\n      - { text: more, repeat: true }\n');
    expect((await ask(play(file), played('hi', [], [], [], []))).text).toBe('more');
  });

  it('is for the agent of that name, else for "*"', async () => {
    const file = `${lead('      - text: lead\n')}  "*":\n    turns:\n      - text: "I am {{ agent_id }}"\n`;
    expect((await ask(play(file), [user('hi')])).text).toBe('lead');
    expect((await ask(play(file), [user('hi')], { agentId: 'other' })).text).toBe('I am other');
  });

  it('comes from the turns whose `when` fits the prompt', async () => {
    const file = lead(`      - { when: { prompt_contains: cats }, text: meow }
      - { when: { prompt_contains: dogs }, text: woof }
      - text: both end here
`);
    expect((await ask(play(file), [user('two cats')])).text).toBe('meow');
    expect((await ask(play(file), [user('two dogs')])).text).toBe('woof');
    expect((await ask(play(file), [user('birds')])).text).toBe('both end here');
    expect((await ask(play(file), played('two dogs', []))).text).toBe('both end here');
  });

  it('is shown word by word where it streams, and not at all before the end where it does not', async () => {
    const shown: string[] = [];
    const file = lead(
      '      - { text: "one two\\n three ", stream: true }\n      - text: four five\n',
    );
    const onDelta = (text: string) => shown.push(text);
    await ask(play(file), [user('hi')], { onDelta });
    expect(shown).toEqual(['one', ' two', '\n three ']);
    await ask(play(file), played('hi', []), { onDelta });
    expect(shown).toHaveLength(3);
  });
});

describe('scripted calls', () => {
  const history = played('go', [
    '{"dirs": [{"path": "a", "n": 1}, {"path": "b", "n": 2}], "deep": {"x": [1]}}',
  ]);
  const callsOf = async (calls: string, past = history) => {
    const file = lead(`      - text: first\n      - calls:\n${calls}`);
    const answer = await ask(play(file), past);
    return answer.calls.map((call) => [call.id, call.name, JSON.parse(call.argsText)]);
  };

  it('keep the type of a value that is the whole string, and make text of any other', async () => {
    const calls = await callsOf(`          - tool: t
            args:
              n: "{{ results[0].json.dirs[1].n }}"
              list: ["{{ results[0].json.deep }}", 7, null, true, plain]
              text: "n is {{ results[0].json.dirs[1].n }}"
`);
    expect(calls).toEqual([
      ['turn-2/call-1', 't', { n: 2, list: [{ x: [1] }, 7, null, true, 'plain'], text: 'n is 2' }],
    ]);
  });

  it('fan out over a list, one an item, in its order', async () => {
    const calls = await callsOf(`          - { tool: before }
          - tool: delegate
            each: "{{ results[0].json.dirs }}"
            args: { agent_id: surveyor, prompt: "Survey {{ item.path }} ({{ index }})", n: "{{ item.n }}" }
`);
    expect(calls).toEqual([
      ['turn-2/call-1', 'before', {}],
      ['turn-2/call-2', 'delegate', { agent_id: 'surveyor', prompt: 'Survey a (0)', n: 1 }],
      ['turn-2/call-3', 'delegate', { agent_id: 'surveyor', prompt: 'Survey b (1)', n: 2 }],
    ]);
  });

  it('make no call of an empty list', async () => {
    const past = played('go', ['{"dirs": []}']);
    const calls = '          - { tool: t, each: "{{ results[0].json.dirs }}" }\n';
    expect(await callsOf(calls, past)).toEqual([]);
  });

  it('refuse to fan out over what is no list', async () => {
    const asked = callsOf('          - { tool: t, each: "{{ results[0].json.deep }}" }\n');
    const fault = await faultOf(asked.then(() => ({ text: '' }) as ModelAnswer));
    expect(fault.message).toContain('agents.lead.turns[1].calls[0].each');
    expect(fault.message).toContain('gives no list but {"x":[1]}');
  });

  it('name the argument whose value is missing', async () => {
    const asked = callsOf('          - { tool: t, args: { a: { b: "{{ nope }}" } } }\n');
    const fault = await faultOf(asked.then(() => ({ text: '' }) as ModelAnswer));
    expect(fault.message).toContain('agents.lead.turns[1].calls[0].args');
    expect(fault.message).toContain('undefined variable: nope');
  });

  it('may be as sloppy as a real model: identical ids, arguments that are no JSON', async () => {
    const file = lead(
      '      - calls: [{ tool: t, id: x, args_text: "{oops" }, { tool: t, id: x }]\n',
    );
    expect((await ask(play(file), [user('go')])).calls).toEqual([
      { id: 'x', name: 't', argsText: '{oops' },
      { id: 'x', name: 't', argsText: '{}' },
    ]);
  });
});

describe('a scripted failure or wait', () => {
  it.each(['malformed', 'rate-limited', 'refused', 'server-error', 'timeout', 'unreachable'])(
    'fails as model.%s where the file says so',
    async (kind) => {
      const file = lead(`      - fail: { kind: ${kind}, message: as planned }\n`);
      const fault = await faultOf(ask(play(file), [user('hi')]));
      expect(fault.code).toBe(`model.${kind}`);
      expect(fault.message).toBe('scripted.local: as planned');
    },
  );

  it('waits as long as the file says', async () => {
    const asked = ask(play(lead('      - { text: late, wait_ms: 5000 }\n')), [user('hi')]);
    await clock.timer(5000);
    clock.advance(5000);
    expect((await asked).text).toBe('late');
  });

  it('ends its wait at an abort', async () => {
    const abort = new AbortController();
    const file = lead('      - { text: late, wait_ms: 6000 }\n');
    const asked = faultOf(ask(play(file), [user('hi')], { signal: abort.signal }));
    await clock.timer(6000);
    abort.abort();
    expect((await asked).code).toBe('model.aborted');
    expect(clock.pending).toBe(0);
  });
});

describe('a scenario that is over', () => {
  const file = lead('      - text: one\n      - { when: { prompt_contains: x }, text: two }\n');

  it('is a fault that names agent, run and turn, not an empty answer', async () => {
    const fault = await faultOf(ask(play(file), played('hi', [])));
    expect(fault).toMatchObject({ code: 'scenario.invalid', retry: 'never' });
    expect(fault.message).toContain(
      'agents.lead.turns: run run_1 asks for turn 2, but the file has 1',
    );
  });

  it('and one without the agent says which it has', async () => {
    const fault = await faultOf(ask(play(file), [user('hi')], { agentId: 'ghost' }));
    expect(fault.message).toContain(
      'agents.ghost: no turns for this agent; it has lead, and no "*"',
    );
  });
});
