import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entryOf, type ModelThread, startModelThread, user } from './model-client.ts';
import { KEY, KEY_ENV, readFile } from './model-fixture.ts';

let vendor: LLMock;
let thread: ModelThread | undefined;

beforeEach(async () => {
  process.env[KEY_ENV] = KEY;
  vendor = new LLMock({ port: 0, host: '127.0.0.1' });
  vendor.on(
    { userMessage: 'read both', hasToolResult: false },
    {
      toolCalls: [
        { name: 'read_file', arguments: { path: 'a.txt' } },
        { name: 'read_file', arguments: { path: 'b.txt' } },
      ],
    },
  );
  vendor.on({ userMessage: 'read both', hasToolResult: true }, { content: 'a is 1 and b is 2' });
  await vendor.start();
});

afterEach(async () => {
  delete process.env[KEY_ENV];
  await thread?.stop();
  await vendor.stop();
});

describe.each([
  ['openai', '/v1', { input_tokens: 21, output_tokens: 8 }],
  ['anthropic', '/v1', { input_tokens: 21, output_tokens: 8 }],
  ['google', '/v1beta', { promptTokenCount: 21, candidatesTokenCount: 8 }],
  ['openai-compatible', '/v1', { prompt_tokens: 21, completion_tokens: 8 }],
] as const)('the adapter for %s (SPEC M1)', (type, path, usage) => {
  const ref = `${type}.local`;

  function connect() {
    const entry = entryOf(type, { baseUrl: `${vendor.url}${path}`, apiKeyEnv: KEY_ENV });
    thread = startModelThread([entry]);
    return thread.connect();
  }

  it('streams a text, with the tokens it took', async () => {
    const content = 'a rather long answer in several pieces';
    vendor.on({ userMessage: 'stream' }, { content, usage }, { chunkSize: 6 });
    const client = connect();
    client.open('run_1', ref);
    const answer = await client.answer('run_1', 1, [user('stream')]);
    expect(answer.text).toBe(content);
    expect(client.deltas('run_1').length).toBeGreaterThan(1);
    expect(client.deltas('run_1').join('')).toBe(answer.text);
    expect(answer.usage).toMatchObject({ inputTokens: 21, outputTokens: 8 });
    expect(answer.servedBy).toBe(`${ref}/test-model`);
  });

  it('makes two calls at once and takes their results, its metadata with them', async () => {
    const client = connect();
    client.open('run_1', ref, { tools: [readFile] });
    const first = await client.answer('run_1', 1, [user('read both')]);
    expect(first.calls.map((call) => [call.name, JSON.parse(call.argsText)])).toEqual([
      ['read_file', { path: 'a.txt' }],
      ['read_file', { path: 'b.txt' }],
    ]);
    expect(new Set(first.calls.map((call) => call.id)).size).toBe(2);
    const second = await client.answer('run_1', 2, [
      {
        role: 'assistant',
        text: first.text,
        calls: first.calls,
        ...(first.providerMeta === undefined ? {} : { providerMeta: first.providerMeta }),
      },
      {
        role: 'tool',
        results: first.calls.map((call, n) => ({
          callId: call.id,
          name: call.name,
          text: String(n + 1),
          isError: n === 1,
        })),
      },
    ]);
    expect(second).toMatchObject({ text: 'a is 1 and b is 2', calls: [] });
    expect(vendor.getRequests()).toHaveLength(2);
    expect(JSON.stringify(client.seen)).not.toContain(KEY);
  });

  it('tells a refused key from a fault of the server', async () => {
    const client = connect();
    client.open('run_1', ref);
    vendor.nextRequestError(401, { message: `bad ${KEY}`, type: 'authentication_error' });
    const refused = await client.fault('run_1', 1, [user('stream')]);
    expect(refused).toMatchObject({ code: 'model.refused', detail: { status: 401 } });
    expect(refused.message).toContain(KEY_ENV);
    expect(refused.message).not.toContain(KEY);
    vendor.nextRequestError(503, { message: 'busy', type: 'overloaded_error' });
    const busy = await client.fault('run_1', 2, []);
    expect(busy).toMatchObject({ code: 'model.server-error', retry: 'safe' });
  });
});
