import { describe, expect, it } from 'vitest';
import { writeLayout } from '../../src/models/answer-layout.ts';
import { toCallOptions } from '../../src/models/sdk-prompt.ts';
import { StreamFold } from '../../src/models/stream-fold.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelRequest } from '../../src/runtime/core/model.ts';

function requestOf(history: readonly Message[]): ModelRequest {
  const model = { provider: 'p', model: 'm' };
  return { runId: 'r', agentId: 'a', turn: 1, system: 'sys', history, tools: [], model };
}

function promptOf(history: readonly Message[], type: 'anthropic' | 'openai-compatible') {
  return toCallOptions(type, requestOf(history), null).prompt;
}

function called(...calls: [id: string, argsText: string][]): Message {
  return {
    role: 'assistant',
    text: '',
    calls: calls.map(([id, argsText]) => ({ id, name: 'x', argsText })),
  };
}

function resulted(...ids: string[]): Message {
  return {
    role: 'tool',
    results: ids.map((callId, n) => ({ callId, name: 'x', text: `${n}`, isError: n === 1 })),
  };
}

describe('arguments on their way back', () => {
  it.each([
    ['an object', '{"a": 1}', { a: 1 }],
    ['nothing', '', {}],
    ['blanks', '  ', {}],
    ['what is no JSON', '{oops', { invalid_arguments: '{oops' }],
    ['a list', '[1]', { invalid_arguments: '[1]' }],
    ['a string', '"x"', { invalid_arguments: '"x"' }],
  ])('are an object, also for %s', (_, argsText, input) => {
    const [, answer] = promptOf([called(['c', argsText])], 'anthropic');
    expect(answer?.content).toMatchObject([{ type: 'tool-call', input }]);
  });

  it('keep the very characters where the wire takes a text (SPEC R7)', () => {
    const [, answer] = promptOf([called(['c', '{"b":1,  "a":2}'])], 'openai-compatible');
    expect(answer?.content).toMatchObject([{ input: '{"b":1,  "a":2}' }]);
  });
});

describe('call ids', () => {
  it('that a sloppy model used twice are told apart, each with its own result (SPEC R12)', () => {
    const prompt = promptOf(
      [
        called(['same', ''], ['same', '']),
        resulted('same', 'same'),
        called(['same', '']),
        resulted('same'),
      ],
      'openai-compatible',
    );
    const ids = prompt.flatMap((message) =>
      Array.isArray(message.content)
        ? message.content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : []))
        : [],
    );
    expect(ids).toEqual(['same', 'same-2', 'same', 'same-2', 'same-3', 'same-3']);
  });

  it('and everything else of a history stay as they are when it grows (SPEC R7)', () => {
    const history = [called(['a', '{}']), resulted('a'), called(['a', 'bad']), resulted('a')];
    const whole = promptOf(history, 'openai-compatible');
    for (let length = 0; length <= history.length; length += 1) {
      const part = promptOf(history.slice(0, length), 'openai-compatible');
      expect(whole.slice(0, part.length)).toEqual(part);
    }
  });
});

describe('a failed call', () => {
  it('goes back as an error', () => {
    const prompt = promptOf([called(['a', ''], ['b', '']), resulted('a', 'b')], 'anthropic');
    expect(prompt.at(-1)?.content).toMatchObject([
      { output: { type: 'text', value: '0' } },
      { output: { type: 'error-text', value: '1' } },
    ]);
  });
});

describe('a signed call', () => {
  it('of a Gemini server behind the compatible wire goes back signed', () => {
    const providerMeta = { compatible: { thoughtSignature: 'sig' } };
    const calls = [{ id: 'c', name: 'x', argsText: '{}', providerMeta }];
    const [, answer] = promptOf([{ role: 'assistant', text: '', calls }], 'openai-compatible');
    expect(answer?.content).toMatchObject([
      { providerOptions: { google: { thoughtSignature: 'sig' } } },
    ]);
  });
});

describe('a cache', () => {
  it('of Anthropic is marked at the system text and at the last message', () => {
    const prompt = promptOf(
      [{ role: 'user', text: 'hi' }, called(['a', '']), resulted('a')],
      'anthropic',
    );
    const marked = prompt.map((message) => message.providerOptions !== undefined);
    expect(marked).toEqual([true, false, false, true]);
  });
});

describe('the layout of an answer', () => {
  it('brings reasoning, texts and calls back in their order, with what the provider wants back', () => {
    const fold = new StreamFold(() => undefined);
    const meta = (n: number) => ({ providerMetadata: { v: { n } } });
    fold.add({ type: 'reasoning-start', id: '0' });
    fold.add({ type: 'reasoning-delta', id: '0', delta: 'think' });
    fold.add({ type: 'reasoning-end', id: '0', ...meta(1) });
    fold.add({ type: 'text-start', id: '0', ...meta(2) });
    fold.add({ type: 'text-delta', id: '0', delta: 'one' });
    fold.add({ type: 'text-end', id: '0' });
    fold.add({ type: 'tool-call', toolCallId: 'c', toolName: 'x', input: '{}', ...meta(3) });
    fold.add({ type: 'text-start', id: '1' });
    fold.add({ type: 'text-delta', id: '1', delta: 'two' });
    const { text, calls, providerMeta } = fold.result();
    expect(text).toBe('onetwo');
    const answer = JSON.parse(JSON.stringify({ role: 'assistant', text, calls, providerMeta }));
    expect(promptOf([answer], 'anthropic')[1]?.content).toEqual([
      { type: 'reasoning', text: 'think', providerOptions: { v: { n: 1 } } },
      { type: 'text', text: 'one', providerOptions: { v: { n: 2 } } },
      {
        type: 'tool-call',
        toolCallId: 'c',
        toolName: 'x',
        input: {},
        providerOptions: { v: { n: 3 } },
      },
      { type: 'text', text: 'two' },
    ]);
  });

  it('is left out where order alone says it all', () => {
    expect(writeLayout([{ kind: 'text', text: 'a', meta: null }])).toBeUndefined();
  });

  it('that does not fit its message any more is not used', () => {
    const message: Message = {
      role: 'assistant',
      text: 'other words',
      calls: [],
      providerMeta: { layout: [{ reasoning: 'r' }, { text: 3 }] },
    };
    expect(promptOf([message], 'anthropic')[1]?.content).toEqual([
      { type: 'text', text: 'other words' },
    ]);
  });

  it('does not count a call that the provider made itself', () => {
    const fold = new StreamFold(() => undefined);
    fold.add({
      type: 'tool-call',
      toolCallId: 'c',
      toolName: 'search',
      input: '',
      providerExecuted: true,
    });
    expect(fold.result().calls).toEqual([]);
  });
});
