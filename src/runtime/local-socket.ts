/*
 * Requests and answers between processes of one user, as JSON lines over a Unix socket (SPEC K2). Owns the socket's file,
 * its connections and what each of them waits for.
 *
 * S1. Only the socket's owner may connect: its mode is 0600 from the moment it exists.
 * S2. No caller can harm the host: lines, calls a connection and connections are bounded, and whatever is not a request
 *     is answered with a fault and hung up on.
 * S3. An answer that was being worked on when the server closes is still delivered, within `CLOSE_GRACE_MS`.
 * S4. A caller that ended its side is answered what it asked, but nothing is streamed to it any more.
 */
import { chmodSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Fault, fromWire, messageOf, toWire } from '../base/fault.ts';
import type { Json, JsonObject } from '../base/json.ts';
import {
  LineSplitter,
  parseReply,
  parseRequest,
  type SocketReply,
  type SocketRequest,
} from './core/socket-line.ts';

/** Characters of one request; a note is the longest thing in one. */
export const REQUEST_CHARS_MAX = 1024 * 1024;
/** Characters of one answer; an event holds at most a model's answer or a tool's result. */
const REPLY_CHARS_MAX = 64 * 1024 * 1024;
const CALLS_MAX = 64;
const CONNECTIONS_MAX = 256;
const CLOSE_GRACE_MS = 1000;

export interface CallContext {
  /** Aborts where nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Sends a part of a streamed answer; resolves when the caller may be sent the next. */
  readonly emit: (item: Json) => Promise<void>;
}

export type SocketHandler = (params: JsonObject, call: CallContext) => Promise<Json>;
export type SocketHandlers = ReadonlyMap<string, SocketHandler>;

export interface SocketServer {
  /** Takes no more requests, answers those it has (S3), and removes the socket's file. */
  close(): Promise<void>;
}

/** @throws Fault `channel.lost` if the socket cannot be made, for one because another host listens there. */
export async function serveSocket(path: string, handlers: SocketHandlers): Promise<SocketServer> {
  const connections = new Set<Connection>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = new Connection(socket, handlers);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, path);
  server.on('error', () => undefined);
  server.unref();
  let closed: Promise<void> | null = null;
  return {
    close: () => {
      closed ??= hangUp(server, connections);
      return closed;
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Fault('channel.lost', `cannot listen on ${path}: ${messageOf(error)}`));
    });
    server.once('listening', resolve);
    const restore = narrowMask();
    server.listen(path);
    restore();
    try {
      chmodSync(path, 0o600); // S1, where the mask is not ours to set
    } catch {
      // The socket was not made; `error` says why.
    }
  });
}

/** A socket's file is made within `listen`, before it returns, so the mask holds for nothing else. */
function narrowMask(): () => void {
  try {
    const mask = process.umask(0o177); // S1
    return () => {
      process.umask(mask);
    };
  } catch {
    return () => undefined; // a worker thread may not set it
  }
}

async function hangUp(server: Server, connections: ReadonlySet<Connection>): Promise<void> {
  const gone = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => {
    for (const connection of connections) connection.drop();
  }, CLOSE_GRACE_MS);
  for (const connection of connections) connection.finish();
  await gone;
  clearTimeout(timer);
}

class Connection {
  readonly #socket: Socket;
  readonly #handlers: SocketHandlers;
  readonly #lines = new LineSplitter(REQUEST_CHARS_MAX);
  readonly #calls = new Set<Promise<void>>();
  readonly #hungUp = new AbortController();
  #deaf = false;
  #drained: Promise<void> | null = null;

  constructor(socket: Socket, handlers: SocketHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => this.#hear(String(chunk)));
    socket.on('end', () => this.#ended());
    socket.on('close', () => this.#hungUp.abort());
    socket.on('error', () => undefined); // `close` follows
  }

  /** Hears no more requests and hangs up once those it heard are answered. */
  finish(): void {
    this.#deaf = true;
    void Promise.allSettled(this.#calls).then(() => {
      this.#socket.end(() => this.#socket.destroy());
    });
  }

  drop(): void {
    this.#socket.destroy();
  }

  #hear(chunk: string): void {
    if (this.#deaf) return;
    for (const line of this.#lines.push(chunk)) this.#line(line);
    if (this.#lines.overlong) {
      this.#reject(null, `a request may hold at most ${REQUEST_CHARS_MAX} characters`);
    }
  }

  #line(line: string): void {
    if (this.#deaf || line.trim() === '') return;
    const request = parseRequest(line);
    if (!request.ok) this.#reject(request.id, request.why);
    else this.#take(request.value);
  }

  #take(request: SocketRequest): void {
    if (this.#calls.size >= CALLS_MAX) {
      const full = new Fault('mailbox.full', `${CALLS_MAX} requests wait here already`, {
        retry: 'safe',
      });
      void this.#send({ id: request.id, fault: toWire(full) });
      return;
    }
    const call = this.#answer(request);
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  /** Never rejects: what a handler throws is the answer. */
  async #answer({ id, method, params }: SocketRequest): Promise<void> {
    try {
      const handler = this.#handlers.get(method);
      if (handler === undefined) throw unknownMethod(method, this.#handlers);
      const result = await handler(params, {
        signal: this.#hungUp.signal,
        emit: (item) => this.#send({ id, item }),
      });
      await this.#send({ id, result });
    } catch (thrown) {
      await this.#send({ id, fault: toWire(thrown) });
    }
  }

  /** S2. */
  #reject(id: number | null, why: string): void {
    const fault = new Fault('argument.invalid', `not a request: ${why}`);
    void this.#send({ id, fault: toWire(fault) });
    this.finish();
  }

  /** S4. */
  #ended(): void {
    this.#hungUp.abort();
    if (this.#deaf) return;
    if (this.#lines.rest !== '') this.#reject(null, 'the last line does not end');
    else this.finish();
  }

  async #send(reply: SocketReply): Promise<void> {
    if (this.#socket.destroyed || !this.#socket.writable) return;
    if (this.#socket.write(`${JSON.stringify(reply)}\n`)) return;
    this.#drained ??= this.#drain();
    await this.#drained;
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#socket.off('drain', done).off('close', done);
        this.#drained = null;
        resolve();
      };
      this.#socket.on('drain', done).on('close', done);
    });
  }
}

function unknownMethod(method: string, handlers: SocketHandlers): Fault {
  const known = [...handlers.keys()].join(', ');
  return new Fault(
    'argument.invalid',
    `this host does not answer '${method.slice(0, 40)}', only ${known}; is it another version of troupe?`,
  );
}

export interface CallOptions {
  /** Hangs up; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How the state directory is named to people. */
  readonly stateDir: string;
}

/** @throws Fault `host.absent`, `channel.lost` (the host ended before it answered), or what the host threw. */
export async function callSocket(
  path: string,
  method: string,
  params: JsonObject,
  options: CallOptions,
): Promise<Json> {
  const replies = streamSocket(path, method, params, options);
  for (;;) {
    const { done, value } = await replies.next();
    if (done === true) return value;
  }
}

/** The parts of a streamed answer as they come; returns its result. Throws as `callSocket` does. */
export async function* streamSocket(
  path: string,
  method: string,
  params: JsonObject,
  options: CallOptions,
): AsyncGenerator<Json, Json, undefined> {
  const { signal, stateDir } = options;
  signal?.throwIfAborted();
  const socket = connect(path);
  const hangUpNow = () => socket.destroy();
  signal?.addEventListener('abort', hangUpNow, { once: true });
  try {
    socket.setEncoding('utf8');
    const request: SocketRequest = { id: 1, method, params };
    socket.write(`${JSON.stringify(request)}\n`);
    const lines = new LineSplitter(REPLY_CHARS_MAX);
    for await (const chunk of socket) {
      for (const line of lines.push(String(chunk))) {
        const reply = readReply(line);
        if ('result' in reply) return reply.result;
        yield reply.item;
      }
      if (lines.overlong) throw unanswered('a line of its answer does not end');
    }
    throw unanswered('it ended before it had answered; `troupe ps` shows what became of its runs');
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown instanceof Fault ? thrown : lost(thrown, stateDir);
  } finally {
    signal?.removeEventListener('abort', hangUpNow);
    socket.destroy();
  }
}

function readReply(line: string): Exclude<SocketReply, { fault: unknown }> {
  const reply = parseReply(line);
  if (reply === null) throw unanswered('a line of its answer is no reply');
  if ('fault' in reply) throw fromWire(reply.fault);
  return reply;
}

function unanswered(why: string): Fault {
  return new Fault('channel.lost', `no answer from the host: ${why}`, { retry: 'unsafe' });
}

function lost(thrown: unknown, stateDir: string): Fault {
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code)) {
    const next = '`troupe run` starts one, `troupe ps` shows what has run there';
    return new Fault('host.absent', `no host is running on ${stateDir}; ${next}`);
  }
  return unanswered(code === 'EACCES' ? 'it belongs to another user' : messageOf(thrown));
}
