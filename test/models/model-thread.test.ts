import { describe, expect, it } from 'vitest';
import { gate } from '../support/model-server.ts';
import { user } from './model-client.ts';
import { REF, readFile, useModels } from './model-fixture.ts';

const models = useModels();

describe('an answer (SPEC M1, M4)', () => {
  it('is streamed, and whole at the end, with usage, cost and who served it', async () => {
    const client = models.startClient({ price: { input: 200, output: 1000, cachedInput: 20 } });
    models.server.on(() => ({
      text: ['Hello', ' there', '.'],
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        prompt_tokens_details: { cached_tokens: 500 },
      },
    }));
    client.open('run_1', REF);
    const answer = await client.answer('run_1', 1, [user('hi')]);
    expect(answer).toMatchObject({
      text: 'Hello there.',
      calls: [],
      usage: { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 500 },
      servedBy: 'openai-compatible.local/test-model',
      finishReason: 'stop',
      attempts: 1,
    });
    expect(answer.costCents).toBeCloseTo(0.21, 10);
    expect(client.deltas('run_1')).toEqual(['Hello', ' there', '.']);
    expect(client.seen.at(-1)?.kind).toBe('answer');
  });

  it('is unknown in tokens and cost, never 0, where the server says nothing', async () => {
    const client = models.startClient({ price: { input: 1, output: 1, cachedInput: 1 } });
    client.open('run_1', REF);
    models.server.on(() => ({ text: 'hi', usage: null }));
    const silent = await client.answer('run_1', 1, [user('hi')]);
    expect(silent.usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      cachedInputTokens: null,
    });
    expect(silent.costCents).toBeNull();
    models.server.on(() => ({ text: 'hi', usage: { completion_tokens: 0 } }));
    const half = await client.answer('run_1', 2, []);
    expect(half.usage).toEqual({ inputTokens: null, outputTokens: 0, cachedInputTokens: null });
    expect(half.costCents).toBeNull();
  });
});

describe('the calls of an answer', () => {
  it('come in order, with their ids and raw arguments, valid JSON or not', async () => {
    const client = models.startClient();
    models.server.on(() => ({
      text: 'Looking.',
      calls: [
        { name: 'read_file', args: { path: 'a' }, id: 'same' },
        { name: 'read_file', args: '{not json', id: 'other' },
        { name: 'read_file', args: '' },
      ],
      finishReason: 'stop',
    }));
    client.open('run_1', REF, { tools: [readFile] });
    const answer = await client.answer('run_1', 1, [user('go')]);
    expect(answer.calls).toEqual([
      { id: 'same', name: 'read_file', argsText: '{"path":"a"}' },
      { id: 'other', name: 'read_file', argsText: '{not json' },
      { id: 'call_0_2', name: 'read_file', argsText: '' },
    ]);
    expect(models.server.requests[0]?.tools).toEqual(['read_file']);
  });

  it('gets an id for a call that came without one', async () => {
    const client = models.startClient();
    models.server.on(() => ({ calls: [{ name: 'read_file', id: null }] }));
    client.open('run_1', REF, { tools: [readFile] });
    const { calls } = await client.answer('run_1', 1, [user('go')]);
    expect(calls[0]?.id).toMatch(/./);
  });

  it('survives a stream whose frames arrive in pieces of three bytes', async () => {
    const client = models.startClient();
    models.server.on(() => ({
      text: 'żółć ok',
      calls: [{ name: 'x', args: { a: 1 } }],
      dripBytes: 3,
    }));
    client.open('run_1', REF);
    const answer = await client.answer('run_1', 1, [user('go')]);
    expect(answer).toMatchObject({ text: 'żółć ok', calls: [{ argsText: '{"a":1}' }] });
  });
});

describe('a conversation', () => {
  it('crosses once, then only what is new; the server sees all of it, its prefix unchanged (SPEC R7)', async () => {
    const client = models.startClient();
    models.server.on((seen) =>
      seen.index === 0 ? { calls: [{ name: 'read_file', args: { path: 'a' }, id: 'c1' }] } : 'done',
    );
    client.open('run_1', REF, { tools: [readFile] });
    const first = await client.answer('run_1', 1, [user('go')]);
    await client.answer('run_1', 2, [
      { role: 'assistant', text: first.text, calls: first.calls },
      {
        role: 'tool',
        results: [{ callId: 'c1', name: 'read_file', text: 'contents', isError: false }],
      },
      user('and hurry'),
    ]);
    const [one, two] = models.server.requests;
    expect(two?.messages.slice(0, 2)).toEqual(one?.messages);
    expect(two?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(two?.messages[2]?.tool_calls?.[0]).toMatchObject({
      id: 'c1',
      function: { name: 'read_file', arguments: '{"path":"a"}' },
    });
    expect(two?.messages[3]).toMatchObject({ tool_call_id: 'c1', content: 'contents' });
  });

  it('begins anew where the ask is fresh', async () => {
    const client = models.startClient();
    client.open('run_1', REF);
    await client.answer('run_1', 1, [user('old')]);
    const settled = await client.ask('run_1', 2, [user('new')], true);
    expect(settled.ok).toBe(true);
    expect(models.server.requests[1]?.messages.map((message) => message.content)).toEqual([
      'You lead.',
      'new',
    ]);
  });

  it('sends reasoning back with the answer that it led to', async () => {
    const client = models.startClient();
    models.server.on(() => ({ reasoning: 'because', text: 'so', calls: [{ name: 'x' }] }));
    client.open('run_1', REF);
    const { text, calls, providerMeta } = await client.answer('run_1', 1, [user('go')]);
    expect(text).toBe('so');
    await client.answer('run_1', 2, [
      { role: 'assistant', text, calls, ...(providerMeta && { providerMeta }) },
    ]);
    expect(models.server.requests[1]?.messages.at(-1)).toMatchObject({
      content: 'so',
      reasoning_content: 'because',
    });
  });
});

describe('a conversation that ends', () => {
  it('is unknown after its run was closed, and nothing of that run is said any more', async () => {
    const client = models.startClient();
    models.server.on((seen) => (seen.prompt === 'hang' ? { hang: true } : 'ok'));
    client.open('run_1', REF);
    void client.ask('run_1', 1, [user('hang')]);
    const seen = await models.server.request(0);
    client.send({ kind: 'close', runId: 'run_1' });
    expect(await seen.closed).toBe(true);
    client.open('run_2', REF);
    await client.answer('run_2', 1, [user('hi')]);
    expect(client.seen.filter((body) => body.runId === 'run_1')).toEqual([]);
    expect(await client.fault('run_1', 2, [user('again')])).toMatchObject({ code: 'defect' });
  });

  it('of one port is not the conversation of another, and ends with its own port', async () => {
    const thread = models.startThread(models.entry());
    const [old, young] = [thread.connect(), thread.connect()];
    models.server.on((seen) => (seen.prompt === 'hang' ? { hang: true } : `hello ${seen.prompt}`));
    old.open('run_1', REF);
    void old.ask('run_1', 1, [user('hang')]);
    const seen = await models.server.request(0);
    young.open('run_1', REF);
    old.close();
    expect(await seen.closed).toBe(true);
    expect((await young.answer('run_1', 1, [user('me')])).text).toBe('hello me');
  });
});

describe('an abort (SPEC N2)', () => {
  it('before the first byte closes the connection and fails the ask as aborted', async () => {
    const client = models.startClient({ maxRetries: 5 });
    models.server.on(() => ({ hang: true }));
    client.open('run_1', REF);
    const asked = client.fault('run_1', 1, [user('hi')]);
    const seen = await models.server.request(0);
    client.send({ kind: 'abort', runId: 'run_1', turn: 1 });
    expect(await seen.closed).toBe(true);
    expect(await asked).toMatchObject({ code: 'model.aborted', retry: 'never' });
    expect(models.server.requests).toHaveLength(1);
  });

  it('inside a stream closes the connection; no delta and no answer follows', async () => {
    const client = models.startClient({ maxRetries: 5 });
    const shut = gate();
    models.server.on(() => ({
      text: (async function* () {
        yield 'one ';
        await shut.opened;
        yield 'two';
      })(),
    }));
    client.open('run_1', REF);
    const shown = client.nextDelta();
    const asked = client.fault('run_1', 1, [user('hi')]);
    expect(await shown).toBe('one ');
    client.send({ kind: 'abort', runId: 'run_1', turn: 1 });
    expect((await asked).code).toBe('model.aborted');
    const seen = await models.server.request(0);
    expect(await seen.closed).toBe(true);
    shut.open();
    expect(client.seen.at(-1)?.kind).toBe('failed');
  });

  it('of another turn changes nothing', async () => {
    const client = models.startClient();
    const shut = gate();
    models.server.on(async () => {
      await shut.opened;
      return 'fine';
    });
    client.open('run_1', REF);
    const asked = client.answer('run_1', 1, [user('hi')]);
    await models.server.request(0);
    client.send({ kind: 'abort', runId: 'run_1', turn: 2 });
    shut.open();
    expect((await asked).text).toBe('fine');
  });

  it('takes a request out of the queue of its provider without making it', async () => {
    const client = models.startClient({ maxConcurrentRequests: 1 });
    const shut = gate();
    models.server.on(async () => {
      await shut.opened;
      return 'fine';
    });
    client.open('run_1', REF);
    client.open('run_2', REF);
    const first = client.answer('run_1', 1, [user('one')]);
    await models.server.request(0);
    const second = client.fault('run_2', 1, [user('two')]);
    client.send({ kind: 'abort', runId: 'run_2', turn: 1 });
    expect((await second).code).toBe('model.aborted');
    shut.open();
    await first;
    expect(models.server.requests).toHaveLength(1);
  });
});
