import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { HttpProvider } from '../../src/models/http-provider.ts';
import type { ModelAnswer, ModelRequest, ProviderEntry } from '../../src/runtime/core/model.ts';
import { gate, inTurn, type ModelServer, startModelServer } from '../support/model-server.ts';
import { EVEN, ManualClock } from './manual-clock.ts';
import { entryOf, user } from './model-client.ts';

const request: ModelRequest = {
  runId: 'run_1',
  agentId: 'lead',
  turn: 1,
  system: '',
  history: [user('hello')],
  tools: [],
  model: { provider: 'openai-compatible.local', model: '' },
};

let server: ModelServer;
let clock: ManualClock;
let opened: HttpProvider[];

beforeEach(async () => {
  server = await startModelServer();
  clock = new ManualClock();
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((provider) => provider.close()));
  await server.close();
});

function provider(more: Partial<ProviderEntry> = {}): HttpProvider {
  const entry = entryOf('openai-compatible', { baseUrl: server.url, maxRetries: 2, ...more });
  const made = new HttpProvider(entry, { clock, random: EVEN, env: {} });
  opened.push(made);
  return made;
}

function ask(
  from: HttpProvider,
  signal: AbortSignal = new AbortController().signal,
  shown: string[] = [],
): Promise<ModelAnswer> {
  return from.ask(request, { signal, onDelta: (text) => shown.push(text) });
}

async function faultOf(asked: Promise<ModelAnswer>): Promise<Fault> {
  const thrown = await asked.then(
    (answer) => new Error(`an answer came: ${answer.text}`),
    (error: unknown) => error,
  );
  if (thrown instanceof Fault) return thrown;
  throw thrown;
}

describe('asking again (SPEC M2, R11)', () => {
  it('waits as long as Retry-After says, then succeeds on the second attempt', async () => {
    server.on(inTurn({ status: 429, headers: { 'retry-after': '7' }, body: {} }, 'there'));
    const asked = ask(provider());
    await clock.timer(7125);
    clock.advance(7124);
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    expect(await asked).toMatchObject({ text: 'there', attempts: 2 });
  });

  it('reads a Retry-After that is a date', async () => {
    const at = new Date(clock.now() + 5000).toUTCString();
    server.on(inTurn({ status: 503, headers: { 'retry-after': at }, body: '' }, 'there'));
    const asked = ask(provider());
    await clock.timer(5125);
    clock.advance(5125);
    expect((await asked).attempts).toBe(2);
  });

  it('gives up on a server that fails three times, with the status and the attempts', async () => {
    server.on(() => ({ status: 500, body: 'secret stack trace' }));
    const asked = faultOf(ask(provider()));
    await clock.timer(375);
    clock.advance(375);
    await clock.timer(750);
    clock.advance(750);
    const fault = await asked;
    expect(fault).toMatchObject({ code: 'model.server-error', retry: 'safe' });
    expect(fault.detail).toMatchObject({ status: 500, attempts: 3 });
    expect(fault.message).toContain('openai-compatible.local/test-model answered 500');
    expect(fault.message).toContain('(3 attempts)');
    expect(fault.message).not.toContain('secret');
    expect(server.requests).toHaveLength(3);
  });

  it('shows no text twice: after a cut stream later attempts are silent, the answer is whole', async () => {
    server.on(inTurn({ text: ['one ', 'two ', 'three'], finishReason: null }, 'one two three'));
    const shown: string[] = [];
    const asked = ask(provider(), undefined, shown);
    await clock.timer(375);
    clock.advance(375);
    expect(await asked).toMatchObject({ text: 'one two three', attempts: 2 });
    expect(shown.join('')).toBe('one two three');
  });

  it('makes no further attempt for what was aborted during the pause', async () => {
    server.on(() => ({ status: 500, body: '' }));
    const abort = new AbortController();
    const asked = faultOf(ask(provider(), abort.signal));
    await clock.timer(375);
    abort.abort();
    expect((await asked).code).toBe('model.aborted');
    expect(server.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('makes no request at all for what was aborted before it was under way', async () => {
    const abort = new AbortController();
    const asked = faultOf(ask(provider(), abort.signal));
    abort.abort();
    expect((await asked).code).toBe('model.aborted');
    expect(server.requests).toHaveLength(0);
  });

  it('does not retry what the server refuses', async () => {
    server.on(() => ({ status: 400, body: { error: { message: 'no', code: 'bad_tool' } } }));
    const fault = await faultOf(ask(provider()));
    expect(fault).toMatchObject({ code: 'model.refused', retry: 'never' });
    expect(fault.message).toContain('400 (bad_tool)');
    expect(server.requests).toHaveLength(1);
  });

  it('does not wait for an account without credit, which answers 429 like a busy one', async () => {
    server.on(() => ({
      status: 429,
      body: { error: { message: 'x', code: 'insufficient_quota' } },
    }));
    expect(await faultOf(ask(provider()))).toMatchObject({ code: 'model.refused', retry: 'never' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('limits of time (SPEC R11)', () => {
  it('ends a silent request at the idle limit, before the first byte, and names the key', async () => {
    server.on(() => ({ hang: true }));
    const asked = faultOf(ask(provider({ maxRetries: 0, idleTimeoutMs: 3000 })));
    const seen = await server.request(0);
    clock.advance(2999);
    clock.advance(1);
    const fault = await asked;
    expect(fault.code).toBe('model.timeout');
    expect(fault.detail).toMatchObject({ limit: 'idle', limitMs: 3000, attempts: 1 });
    expect(fault.message).toContain('silent for 3 s (idle limit)');
    expect(fault.message).toContain('[providers.models.openai-compatible.local] timeout_secs');
    expect(await seen.closed).toBe(true);
  });

  it('ends a stream that falls silent after it began', async () => {
    const shut = gate();
    server.on(() => ({
      text: (async function* () {
        yield 'a';
        await shut.opened;
      })(),
    }));
    const shown: string[] = [];
    const showing = gate();
    const asked = faultOf(
      provider({ maxRetries: 0, idleTimeoutMs: 3000 }).ask(request, {
        signal: new AbortController().signal,
        onDelta: (text) => {
          shown.push(text);
          showing.open();
        },
      }),
    );
    await showing.opened;
    clock.advance(3000);
    expect((await asked).detail).toMatchObject({ limit: 'idle' });
    expect(shown).toEqual(['a']);
    shut.open();
  });

  it('asks a silent server again within max_retries', async () => {
    server.on((seen) => (seen.index === 0 ? { hang: true } : 'awake'));
    const asked = ask(provider({ idleTimeoutMs: 3000 }));
    await server.request(0);
    clock.advance(3000);
    await clock.timer(375);
    clock.advance(375);
    expect(await asked).toMatchObject({ text: 'awake', attempts: 2 });
  });

  it('ends everything at the total limit, attempts and pauses together', async () => {
    server.on((seen) => (seen.index === 0 ? { status: 500, body: '' } : { hang: true }));
    const asked = faultOf(ask(provider({ totalTimeoutMs: 10_000 })));
    await clock.timer(375);
    clock.advance(375);
    const second = await server.request(1);
    clock.advance(9625);
    const fault = await asked;
    expect(fault).toMatchObject({ code: 'model.timeout', retry: 'never' });
    expect(fault.detail).toMatchObject({ limit: 'total', limitMs: 10_000, attempts: 2 });
    expect(fault.message).toContain('total_timeout_secs');
    expect(await second.closed).toBe(true);
  });

  it('leaves no timer behind, whatever the end', async () => {
    const asker = provider();
    server.on(inTurn('fine', { status: 401, body: '' }));
    await ask(asker);
    await faultOf(ask(asker));
    expect(clock.pending).toBe(0);
  });
});

describe('max_concurrent_requests', () => {
  it('lets no more requests through than it says, in the order in which they came', async () => {
    const gates = [gate(), gate(), gate()] as const;
    server.on(async (seen) => {
      await gates[seen.index as 0 | 1 | 2].opened;
      return `answer ${seen.prompt}`;
    });
    const asker = provider({ maxConcurrentRequests: 1 });
    const asked = ['a', 'b', 'c'].map((word) =>
      asker.ask(
        { ...request, history: [user(word)] },
        { signal: new AbortController().signal, onDelta: () => undefined },
      ),
    );
    await server.request(0);
    expect(server.requests).toHaveLength(1);
    for (const [at, shut] of gates.entries()) {
      await server.request(at);
      expect(server.requests).toHaveLength(at + 1);
      shut.open();
    }
    await Promise.all(asked);
    expect(server.requests.map((seen) => seen.prompt)).toEqual(['a', 'b', 'c']);
  });
});
