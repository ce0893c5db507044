import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gate, inTurn } from '../support/model-server.ts';
import { startDeafListener } from './deaf-listener.ts';
import { user } from './model-client.ts';
import { KEY, KEY_ENV, REF, readFile, useModels } from './model-fixture.ts';

const models = useModels();

describe('a server that misbehaves (SPEC R13)', () => {
  it.each([
    [
      'a web page with status 200',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>log in</html>' },
      'web page',
    ],
    ['a text that is no stream', { status: 200, body: 'hello?' }, 'before it was complete'],
    ['JSON that is no stream', { status: 200, body: { choices: [] } }, 'one JSON document'],
    ['nothing at all', { status: 200, body: '' }, 'before it was complete'],
    [
      'a stream without an end',
      { text: 'half an ans', finishReason: null },
      'before it was complete',
    ],
    [
      'a stream cut in the middle of a frame',
      { text: 'a long enough answer', cutAfterBytes: 260 },
      'before it was complete',
    ],
    [
      'an error inside the stream',
      { text: 'so', errorFrame: { error: { message: 'boom', code: 'overloaded' } } },
      'error inside its answer (overloaded)',
    ],
    [
      'a frame that is not JSON',
      { text: 'so', rawFrame: '{"choices": [' },
      'not the JSON it should be',
    ],
    ['an error as its finish', { text: '', finishReason: 'error' }, 'inside its answer'],
  ] as const)('%s is malformed, never an empty success', async (_, reply, words) => {
    const client = models.startClient();
    models.server.on(() => reply);
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.malformed' });
    expect(fault.message).toContain(words);
    expect(fault.message).toContain('openai-compatible.local/test-model');
    expect(fault.detail).toMatchObject({ provider: REF, attempts: 1 });
  });
});

describe('an answer that goes wrong under way', () => {
  it('is left at its error, also where the server then says nothing more', async () => {
    const client = models.startClient();
    const shut = gate();
    models.server.on(() => ({
      text: (async function* () {
        yield 'so';
        await shut.opened;
      })(),
      rawFirst: '{"error": {"message": "boom"}}',
    }));
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault.code).toBe('model.malformed');
    expect(await (await models.server.request(0)).closed).toBe(true);
    shut.open();
  });

  it('is cut where it is larger than any answer may be', async () => {
    const client = models.startClient({ maxRetries: 3 });
    const mebibyte = 'x'.repeat(1024 * 1024);
    models.server.on(() => ({
      text: (function* () {
        for (;;) yield mebibyte;
      })(),
    }));
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.malformed', retry: 'never' });
    expect(fault.message).toContain('more than 64 MiB');
    expect(models.server.requests).toHaveLength(1);
  });
});

describe('a status that is no answer', () => {
  it.each([
    [
      401,
      {},
      'model.refused',
      'the key is not accepted; check the environment variable TROUPE_TEST_MODEL_KEY',
    ],
    [404, {}, 'model.refused', 'check the model name "test-model"'],
    [
      400,
      { error: { message: 'x', code: 'context_length_exceeded' } },
      'model.refused',
      'longer than the model can read',
    ],
    [307, {}, 'model.refused', 'it redirects'],
    [429, {}, 'model.rate-limited', 'max_concurrent_requests'],
    [500, 'oops', 'model.server-error', 'try again later'],
    [529, {}, 'model.server-error', 'answered 529'],
  ] as const)('status %i is told apart and says what to do', async (status, body, code, words) => {
    const client = models.startClient({ apiKeyEnv: KEY_ENV });
    models.server.on(() => ({ status, body }));
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault.code).toBe(code);
    expect(fault.message).toContain(words);
    expect(fault.detail).toMatchObject({ status });
  });

  it('a redirect is not followed: a key would go with it', async () => {
    const client = models.startClient({ apiKeyEnv: KEY_ENV });
    const location = `${models.server.url}/elsewhere`;
    models.server.on(inTurn({ status: 307, headers: { location }, body: '' }, 'followed'));
    client.open('run_1', REF);
    expect((await client.fault('run_1', 1, [user('hi')])).detail).toMatchObject({ status: 307 });
    expect(models.server.requests).toHaveLength(1);
  });

  it('an emptied answer of a content filter is a refusal', async () => {
    const client = models.startClient();
    models.server.on(() => ({ text: '', finishReason: 'content_filter' }));
    client.open('run_1', REF);
    expect(await client.fault('run_1', 1, [user('hi')])).toMatchObject({ code: 'model.refused' });
  });
});

describe('a server that goes silent or away (SPEC R11, R13)', () => {
  it.each(['before its headers', 'after its headers'])(
    'silence %s ends at the idle limit',
    async (when) => {
      const client = models.startClient({ idleTimeoutMs: 100 });
      models.server.on(() =>
        when === 'before its headers' ? { hang: true } : { hangAfterHeaders: true },
      );
      client.open('run_1', REF);
      const fault = await client.fault('run_1', 1, [user('hi')]);
      expect(fault).toMatchObject({ code: 'model.timeout', detail: { limit: 'idle' } });
      for (const seen of models.server.requests) expect(await seen.closed).toBe(true);
    },
  );

  it('an answer without end is cut at the total limit', async () => {
    const client = models.startClient({ totalTimeoutMs: 150 });
    models.server.on(() => ({
      text: (async function* () {
        for (;;) {
          yield '.';
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        }
      })(),
    }));
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.timeout', detail: { limit: 'total' } });
  });
});

describe('a connection that fails (SPEC R11)', () => {
  it('a socket dropped before any byte is tried again', async () => {
    const client = models.startClient({ maxRetries: 1 });
    models.server.on(inTurn({ drop: true }, 'second time'));
    client.open('run_1', REF);
    const answer = await client.answer('run_1', 1, [user('hi')]);
    expect(answer).toMatchObject({ text: 'second time', attempts: 2 });
  });

  it('a port where nobody listens is unreachable, named by host and port', async () => {
    const free = createServer();
    free.listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const client = models.startClient({ baseUrl: `http://127.0.0.1:${port}/v1?token=hidden` });
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.unreachable', retry: 'safe' });
    expect(fault.message).toContain(`127.0.0.1:${port} (ECONNREFUSED)`);
    expect(fault.message).not.toContain('hidden');
  });

  it('a host that takes no connection ends at the connect limit', async () => {
    const deaf = await startDeafListener();
    const client = models.startClient({
      baseUrl: `http://127.0.0.1:${deaf.port}/v1`,
      connectTimeoutMs: 100,
    });
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.timeout', detail: { limit: 'connect' } });
    expect(fault.message).toContain('connect_timeout_secs');
    await deaf.close();
  });
});

describe('a provider entry that cannot work', () => {
  it.each([
    [
      'a key that is not set',
      { apiKeyEnv: 'TROUPE_TEST_NO_SUCH' },
      'TROUPE_TEST_NO_SUCH is not set',
    ],
    [
      'no model',
      { model: null },
      'no model is named; set [providers.models.openai-compatible.local] model',
    ],
    ['no base_url', { baseUrl: null }, 'base_url is missing'],
    ['a base_url that is none', { baseUrl: 'localhost:11434' }, 'not an http(s) address'],
    ['credentials in base_url', { baseUrl: 'http://me:hush@127.0.0.1/v1' }, 'holds credentials'],
    ['replay', { type: 'replay' as const }, 'type "replay" is not supported yet'],
  ])('%s is refused at the first question, with what to set', async (_, more, words) => {
    const client = models.startClient(more);
    client.open('run_1', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault).toMatchObject({ code: 'model.unsupported', retry: 'never' });
    expect(fault.message).toContain(words);
    expect(fault.message).not.toContain('hush');
    expect(models.server.requests).toHaveLength(0);
  });

  it('refuses tools where native_tools = false, and answers without them', async () => {
    const client = models.startClient({ nativeTools: false });
    client.open('run_1', REF, { tools: [readFile] });
    client.open('run_2', REF);
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault.code).toBe('model.unsupported');
    expect(fault.message).toContain('native_tools = true');
    expect((await client.answer('run_2', 1, [user('hi')])).text).toBe('ok');
  });

  it('names the configured ones where a run asks for another', async () => {
    const client = models.startClient();
    client.open('run_1', 'openai.typo');
    const fault = await client.fault('run_1', 1, [user('hi')]);
    expect(fault.message).toContain('"openai.typo" is not configured; configured are: ');
    expect(fault.message).toContain(REF);
  });
});

describe('a key (SPEC C6)', () => {
  it('is sent to the server and stands in nothing that leaves the model thread', async () => {
    const client = models.startClient({ apiKeyEnv: KEY_ENV });
    const echo = (authorization: string | undefined) => ({
      error: { message: `bad key ${authorization}`, type: KEY, code: KEY },
    });
    models.server.on((seen) => {
      const body = echo(seen.headers.authorization);
      const replies = [
        'fine',
        { status: 401, headers: { 'x-key': KEY, location: `http://${KEY}/` }, body },
        { status: 500, body: JSON.stringify(body) },
        { status: 302, headers: { location: `http://127.0.0.1/${KEY}` }, body },
        { status: 200, headers: { 'content-type': 'text/html' }, body: KEY },
        { errorFrame: body },
        { rawFrame: KEY },
        { drop: true as const },
        { cutAfterBytes: 40, text: 'abc' },
      ];
      return replies[seen.index] ?? 'fine';
    });
    client.open('run_1', REF);
    for (let turn = 1; turn <= 9; turn += 1) await client.ask('run_1', turn, [user('hi')]);
    expect(models.server.requests).toHaveLength(9);
    for (const seen of models.server.requests)
      expect(seen.headers.authorization).toBe(`Bearer ${KEY}`);
    const failures = client.seen.filter((body) => body.kind === 'failed');
    expect(failures).toHaveLength(8);
    expect(JSON.stringify(client.seen)).not.toContain(KEY);
  });
});
