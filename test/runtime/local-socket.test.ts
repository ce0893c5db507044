import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import type { Json } from '../../src/base/json.ts';
import {
  callSocket,
  REQUEST_CHARS_MAX,
  type SocketHandler,
  type SocketServer,
  serveSocket,
  streamSocket,
} from '../../src/runtime/local-socket.ts';

/** A gate that a handler waits at until the test opens it. */
function gate() {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

const HANDLERS: Readonly<Record<string, SocketHandler>> = {
  echo: async (params) => params,
  refuse: async () => {
    throw new Fault('run.ended', 'it is over', { retry: 'never', detail: { run_id: 'run_a' } });
  },
  break: async () => {
    throw new TypeError('oops');
  },
  count: async (params, { emit }) => {
    for (let n = 1; n <= Number(params['to']); n += 1) await emit(n);
    return 'done';
  },
};

interface Stage {
  readonly path: string;
  readonly server: SocketServer;
}

async function serve(handlers: Readonly<Record<string, SocketHandler>> = HANDLERS): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-socket-'));
  const path = join(dir, 'host.sock');
  const server = await serveSocket(path, new Map(Object.entries(handlers)));
  onTestFinished(async () => {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { path, server };
}

const OPTIONS = { stateDir: '/state' };

/** What a caller that is no troupe gets back for these bytes, until it is hung up on. */
function rawExchange(path: string, bytes: string | Buffer, end = true): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ path, allowHalfOpen: true });
    let heard = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      heard += String(chunk);
    });
    socket.on('end', () => {
      socket.destroy();
      resolve(heard);
    });
    socket.on('error', (error) => (heard === '' ? reject(error) : resolve(heard)));
    if (end) socket.end(bytes);
    else socket.write(bytes);
  });
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Error(`no fault, but ${String(thrown)}`);
}

async function itemsOf(items: AsyncIterable<Json>): Promise<Json[]> {
  const all: Json[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a call over the local socket', () => {
  it('K2: brings an answer of any JSON, whatever its characters and size', async () => {
    const { path } = await serve();
    const params = {
      text: `line\nline\u2028 漢 ${'x'.repeat(300_000)}`,
      list: [null, 1, { a: 'b' }],
    };
    expect(await callSocket(path, 'echo', params, OPTIONS)).toEqual(params);
  });

  it('a fault crosses with its code, advice and detail; any other error becomes a defect', async () => {
    const { path } = await serve();
    const fault = await faultOf(callSocket(path, 'refuse', {}, OPTIONS));
    expect({ ...fault, message: fault.message }).toMatchObject({
      code: 'run.ended',
      message: 'it is over',
      retry: 'never',
      detail: { run_id: 'run_a' },
    });
    expect(await faultOf(callSocket(path, 'break', {}, OPTIONS))).toMatchObject({
      code: 'defect',
      message: 'oops',
    });
  });

  it('streams parts in order, and only as fast as they are taken', async () => {
    const { path } = await serve();
    const items = await itemsOf(streamSocket(path, 'count', { to: 2000 }, OPTIONS));
    expect(items).toEqual(Array.from({ length: 2000 }, (_, at) => at + 1));
  });

  it.each(['other', 'constructor', '__proto__', 'toString'])(
    'an unknown method is refused, also one of every object: %s',
    async (method) => {
      const { path } = await serve();
      const fault = await faultOf(callSocket(path, method, {}, OPTIONS));
      expect(fault.code).toBe('argument.invalid');
      expect(fault.message).toContain('only echo, refuse, break, count');
    },
  );

  it('K2: where no host listens, the fault names the state directory and what to do', async () => {
    const { path, server } = await serve();
    await server.close();
    const fault = await faultOf(callSocket(path, 'echo', {}, OPTIONS));
    expect(fault.code).toBe('host.absent');
    expect(fault.message).toMatch(/^no host is running on \/state; .*troupe/);
  });

  it('a file that a dead host left behind is no host', async () => {
    const { path } = await serve();
    const dead = `${path}.dead`;
    writeFileSync(dead, '');
    expect((await faultOf(callSocket(dead, 'echo', {}, OPTIONS))).code).toBe('host.absent');
  });

  it('a caller that gives up is let go at once, and the handler of its stream hears of it', async () => {
    const heard = gate();
    const started = gate();
    const { path } = await serve({
      wait: async (_params, { signal }) => {
        started.open();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        heard.open();
        return null;
      },
    });
    const caller = new AbortController();
    const call = callSocket(path, 'wait', {}, { ...OPTIONS, signal: caller.signal });
    const ended = call.then(
      () => 'answered',
      (error: unknown) => error,
    );
    await started.passed;
    const why = new Error('changed my mind');
    caller.abort(why);
    expect(await ended).toBe(why);
    await heard.passed;
  });
});

describe('the socket itself', () => {
  it('K2: has mode 0600, and its file goes with the server', async () => {
    const { path, server } = await serve();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await server.close();
    expect(existsSync(path)).toBe(false);
  });

  it('does not change the mask that other files of the process are made with', async () => {
    const before = process.umask();
    await serve();
    expect(process.umask()).toBe(before);
  });

  it('a second server on the same path is refused and leaves the first one alone', async () => {
    const { path } = await serve();
    const fault = await faultOf(serveSocket(path, new Map()));
    expect(fault.code).toBe('channel.lost');
    expect(fault.message).toContain(path);
    expect(await callSocket(path, 'echo', { a: 1 }, OPTIONS)).toEqual({ a: 1 });
  });
});

describe('what is not a request', () => {
  const REQUEST = '{"id":1,"method":"echo","params":{"a":1}}';

  it.each([
    ['text', 'hello\n', 'not a JSON object'],
    ['a web browser', 'GET / HTTP/1.1\r\n\r\n', 'not a JSON object'],
    ['a list', '[1]\n', 'not a JSON object'],
    ['a number', '7\n', 'not a JSON object'],
    ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x0a]), 'not a JSON object'],
    ['no id', '{"method":"echo"}\n', '"id" must be a number'],
    ['no method', '{"id":1}\n', '"method" must be a text'],
    [
      'params that are a list',
      '{"id":1,"method":"echo","params":[]}\n',
      '"params" must be an object',
    ],
    ['half a line', '{"id":1,"meth', 'the last line does not end'],
    ['a whole request without its line end', REQUEST, 'the last line does not end'],
  ])('is answered with what is wrong: %s', async (_title, bytes, words) => {
    const { path } = await serve();
    const reply = JSON.parse(await rawExchange(path, bytes)) as { fault: Fault };
    expect(reply.fault.code).toBe('argument.invalid');
    expect(reply.fault.message).toContain(words);
    expect(await callSocket(path, 'echo', { ok: true }, OPTIONS)).toEqual({ ok: true });
  });

  it('a line that never ends is cut off at its limit, and the host goes on', async () => {
    const { path } = await serve();
    const heard = await rawExchange(path, 'x'.repeat(REQUEST_CHARS_MAX + 1), false);
    expect(heard).toContain(`at most ${REQUEST_CHARS_MAX} characters`);
    expect(await callSocket(path, 'echo', {}, OPTIONS)).toEqual({});
  });

  it('nothing after it on the same connection is carried out', async () => {
    const asked: string[] = [];
    const { path } = await serve({
      mark: async (params) => {
        asked.push(String(params['n']));
        return null;
      },
    });
    await rawExchange(
      path,
      '{"id":1,"method":"mark","params":{"n":1}}\nrubbish\n{"id":2,"method":"mark","params":{"n":2}}\n',
    );
    expect(asked).toEqual(['1']);
  });

  it('a caller that ends its side after its request is still answered', async () => {
    const { path } = await serve();
    const heard = await rawExchange(path, `\n${REQUEST}\n${REQUEST.replace('1', '2')}\n`);
    expect(
      heard
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    ).toEqual([
      { id: 1, result: { a: 1 } },
      { id: 2, result: { a: 1 } },
    ]);
  });

  it('what a host says that is no reply is a fault of the caller, not a hang', async () => {
    const { path } = await serve({ rude: async () => null });
    const fake = join(path, '..', 'fake.sock');
    const { createServer } = await import('node:net');
    const server = createServer((socket) => socket.end('hello\n')).listen(fake);
    onTestFinished(() => void server.close());
    const fault = await faultOf(callSocket(fake, 'echo', {}, OPTIONS));
    expect(fault.code).toBe('channel.lost');
    expect(fault.message).toContain('no reply');
  });
});

describe('closing', () => {
  it('an answer that is being worked on is still delivered', async () => {
    const started = gate();
    const finish = gate();
    const { path, server } = await serve({
      slow: async () => {
        started.open();
        await finish.passed;
        return 'late but there';
      },
    });
    const call = callSocket(path, 'slow', {}, OPTIONS);
    await started.passed;
    const closed = server.close();
    finish.open();
    expect(await call).toBe('late but there');
    await closed;
  });

  it('a handler that never ends does not keep the host: its caller is told that the host is gone', async () => {
    const started = gate();
    const { path, server } = await serve({
      stuck: () => {
        started.open();
        return new Promise(() => undefined);
      },
    });
    const call = faultOf(callSocket(path, 'stuck', {}, OPTIONS));
    await started.passed;
    await server.close();
    const fault = await call;
    expect({ code: fault.code, retry: fault.retry }).toEqual({
      code: 'channel.lost',
      retry: 'unsafe',
    });
  });

  it('closing twice is closing once, and a connection that asks nothing does not hold it up', async () => {
    const { path, server } = await serve();
    const idle = connect(path);
    onTestFinished(() => void idle.destroy());
    await new Promise((resolve) => idle.once('connect', resolve));
    await callSocket(path, 'echo', {}, OPTIONS);
    await Promise.all([server.close(), server.close()]);
    expect(existsSync(path)).toBe(false);
  });
});
