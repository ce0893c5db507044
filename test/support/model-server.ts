/**
 * A model server for tests: OpenAI's chat completions over real HTTP on 127.0.0.1, streaming and not.
 *
 *   const server = await startModelServer();
 *   server.on((request) => request.results.length === 0
 *     ? { calls: [{ name: 'read_file', args: { path: 'a.txt' } }] }
 *     : 'done');
 *   …            // base_url = server.url
 *   await server.close();
 *
 * The handler is called for every request, in order of arrival, and may be async: a reply that has to wait for the
 * test awaits a promise of the test (`gate()`). What a reply can be is `Reply`. Nothing here sleeps.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** The parts of a chat request that this server looks at; the rest is there too. */
export interface ChatBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages?: readonly SeenMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [key: string]: unknown;
}

export interface SeenRequest {
  /** Position among all requests of this server, from 0. */
  readonly index: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body as it was sent. */
  readonly body: ChatBody;
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly SeenMessage[];
  /** Text of the system message, '' without one. */
  readonly system: string;
  /** Text of the first user message: a run's prompt. */
  readonly prompt: string;
  /** Texts of the tool messages after the last assistant message, in order. */
  readonly results: readonly string[];
  /** Names of the tools on offer, in order. */
  readonly tools: readonly string[];
  /** Resolves when the exchange is over: `true` if the socket closed before the answer was complete. */
  readonly closed: Promise<boolean>;
}

export interface ReplyCall {
  readonly name: string;
  /** An object is sent as JSON, a string as it stands, valid JSON or not. */
  readonly args?: object | string;
  /** Default `call_<request>_<n>`; `null` leaves it out. */
  readonly id?: string | null;
}

export interface ModelReply {
  /** An iterable is sent one delta an item, as the items come. */
  readonly text?: string | AsyncIterable<string> | Iterable<string>;
  readonly reasoning?: string;
  readonly calls?: readonly ReplyCall[];
  /** Default `stop`, with calls `tool_calls`; `null` sends none. */
  readonly finishReason?: string | null;
  /** Default: 10 in, 5 out, nothing cached. `null` = the server says nothing. */
  readonly usage?: Record<string, unknown> | null;
  /** Streams only: this frame after the text and in place of everything else. */
  readonly errorFrame?: unknown;
  /** Streams only: this line before the text, as `data: <line>`, whatever it is. */
  readonly rawFirst?: string;
  /** Streams only: this line after the text, as `data: <line>`, whatever it is. */
  readonly rawFrame?: string;
  /** Destroys the socket once this many bytes of the body are out. */
  readonly cutAfterBytes?: number;
  /** Sends the body in pieces of so many bytes, each in a write and a loop turn of its own. */
  readonly dripBytes?: number;
  /** Headers only, and the connection left open. */
  readonly hangAfterHeaders?: boolean;
}

/**
 * A text; a model's reply; an HTTP answer as it stands (an object body is sent as JSON); `hang`: nothing at all until
 * the client gives up; `drop`: the socket destroyed before any byte.
 */
export type Reply =
  | string
  | ModelReply
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | object;
    }
  | { readonly hang: true }
  | { readonly drop: true };

export type Handler = (request: SeenRequest) => Reply | Promise<Reply>;

export interface ModelServer {
  /** The `base_url` of a provider entry: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Sets what answers from now on. Without a handler every answer is the text `ok`. */
  on(handler: Handler): void;
  /** The request with this index, as soon as it is there. */
  request(index: number): Promise<SeenRequest>;
  /** Ends every open exchange, and the server. */
  close(): Promise<void>;
}

/** A promise that the test keeps shut. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Replies for the first, second, … request; after the last one the last again. */
export function inTurn(...replies: readonly [Reply, ...Reply[]]): Handler {
  return (request) => replies[Math.min(request.index, replies.length - 1)] ?? 'ok';
}

export async function startModelServer(): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const waiting: { readonly index: number; readonly resolve: (seen: SeenRequest) => void }[] = [];
  let handler: Handler = () => 'ok';
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const seen = see(requests.length, incoming.headers, Buffer.concat(chunks), outgoing);
      requests.push(seen);
      for (const waiter of waiting) if (waiter.index === seen.index) waiter.resolve(seen);
      void answer(handler, seen, outgoing);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    on: (next) => {
      handler = next;
    },
    request: (index) => {
      const seen = requests[index];
      if (seen !== undefined) return Promise.resolve(seen);
      return new Promise((resolve) => {
        waiting.push({ index, resolve });
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function see(
  index: number,
  headers: IncomingHttpHeaders,
  raw: Buffer,
  outgoing: ServerResponse,
): SeenRequest {
  const body = JSON.parse(raw.toString('utf8') || '{}') as ChatBody;
  const messages = body.messages ?? [];
  const lastAnswer = messages.findLastIndex((message) => message.role === 'assistant');
  const textOf = (role: SeenMessage['role']) =>
    messages.find((message) => message.role === role)?.content ?? '';
  return {
    index,
    headers,
    body,
    model: body.model ?? '',
    stream: body.stream === true,
    messages,
    system: textOf('system'),
    prompt: textOf('user'),
    results: messages
      .slice(lastAnswer + 1)
      .flatMap((message) => (message.role === 'tool' ? [message.content ?? ''] : [])),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    closed: new Promise((resolve) => {
      outgoing.once('close', () => resolve(!outgoing.writableFinished));
    }),
  };
}

async function answer(handler: Handler, seen: SeenRequest, out: ServerResponse): Promise<void> {
  try {
    const reply = await handler(seen);
    if (typeof reply === 'object' && 'hang' in reply) return;
    if (typeof reply === 'object' && 'drop' in reply) {
      out.destroy();
      return;
    }
    if (typeof reply === 'object' && 'status' in reply) {
      sendPlain(out, reply.status, reply.headers ?? {}, reply.body ?? '');
      return;
    }
    const model: ModelReply = typeof reply === 'string' ? { text: reply } : reply;
    if (seen.stream) await sendStream(seen, model, out);
    else sendPlain(out, 200, {}, await wholeAnswer(seen, model));
  } catch (thrown) {
    // A handler that throws is a test that fails: the client gets to see why.
    if (out.headersSent) {
      out.destroy();
      return;
    }
    sendPlain(out, 500, {}, { error: { message: String(thrown), type: 'test_handler_threw' } });
  }
}

function sendPlain(
  out: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string | object,
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  out.writeHead(status, { 'content-type': type, ...headers });
  out.end(text);
}

function wireCalls(seen: SeenRequest, calls: readonly ReplyCall[]) {
  return calls.map((call, n) => ({
    index: n,
    ...(call.id === null ? {} : { id: call.id ?? `call_${seen.index}_${n}` }),
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {}),
    },
  }));
}

function finishOf(reply: ModelReply): string | null {
  if (reply.finishReason !== undefined) return reply.finishReason;
  return (reply.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
}

function usageOf(reply: ModelReply): Record<string, unknown> | null {
  if (reply.usage !== undefined) return reply.usage;
  const details = { prompt_tokens_details: { cached_tokens: 0 } };
  return { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...details };
}

async function wholeAnswer(seen: SeenRequest, reply: ModelReply): Promise<object> {
  let text = '';
  for await (const piece of piecesOf(reply)) text += piece;
  const calls = wireCalls(seen, reply.calls ?? []);
  const message = {
    role: 'assistant',
    content: text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const usage = usageOf(reply);
  return {
    ...envelope(seen, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
    ...(usage === null ? {} : { usage }),
  };
}

function envelope(seen: SeenRequest, object: string): object {
  return { id: `answer-${seen.index}`, object, created: 0, model: seen.model };
}

async function* piecesOf(reply: ModelReply): AsyncIterable<string> {
  if (reply.text === undefined) return;
  if (typeof reply.text === 'string') yield reply.text;
  else yield* reply.text;
}

async function sendStream(
  seen: SeenRequest,
  reply: ModelReply,
  out: ServerResponse,
): Promise<void> {
  out.writeHead(200, { 'content-type': 'text/event-stream' });
  out.flushHeaders();
  if (reply.hangAfterHeaders === true) return;
  const body = new Body(out, reply);
  for await (const line of framesOf(seen, reply)) {
    if (!(await body.write(`data: ${line}\n\n`))) return;
  }
  out.end();
}

async function* framesOf(seen: SeenRequest, reply: ModelReply): AsyncIterable<string> {
  const chunk = (delta: object, finish: string | null = null) =>
    JSON.stringify({
      ...envelope(seen, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  yield chunk({ role: 'assistant', content: '' });
  if (reply.rawFirst !== undefined) yield reply.rawFirst;
  if (reply.reasoning !== undefined) yield chunk({ reasoning_content: reply.reasoning });
  for await (const piece of piecesOf(reply)) yield chunk({ content: piece });
  if (reply.errorFrame !== undefined) {
    yield JSON.stringify(reply.errorFrame);
    return;
  }
  if (reply.rawFrame !== undefined) yield reply.rawFrame;
  yield* callFrames(wireCalls(seen, reply.calls ?? []), chunk);
  const finish = finishOf(reply);
  if (finish !== null) yield chunk({}, finish);
  const usage = usageOf(reply);
  if (usage !== null && seen.body.stream_options?.include_usage === true) {
    yield JSON.stringify({ ...envelope(seen, 'chat.completion.chunk'), choices: [], usage });
  }
  yield '[DONE]';
}

/** As vendors do it: every call's head, then the arguments in two pieces, the calls interleaved. */
function* callFrames(
  calls: ReturnType<typeof wireCalls>,
  chunk: (delta: object) => string,
): Iterable<string> {
  const half = (text: string) => Math.ceil(text.length / 2);
  for (const { function: called, ...head } of calls) {
    yield chunk({ tool_calls: [{ ...head, function: { name: called.name, arguments: '' } }] });
  }
  for (const pick of [(t: string) => t.slice(0, half(t)), (t: string) => t.slice(half(t))]) {
    for (const { index, function: called } of calls) {
      yield chunk({ tool_calls: [{ index, function: { arguments: pick(called.arguments) } }] });
    }
  }
}

/** The body of a stream, with the faults that a reply asks for. */
class Body {
  readonly #out: ServerResponse;
  readonly #reply: ModelReply;
  #sent = 0;

  constructor(out: ServerResponse, reply: ModelReply) {
    this.#out = out;
    this.#reply = reply;
  }

  /** `false` once the socket is gone. */
  async write(text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    const size = this.#reply.dripBytes ?? bytes.length;
    for (let from = 0; from < bytes.length; from += size) {
      if (!(await this.#piece(bytes.subarray(from, from + size)))) return false;
    }
    return true;
  }

  async #piece(bytes: Buffer): Promise<boolean> {
    if (this.#out.destroyed) return false;
    const limit = this.#reply.cutAfterBytes ?? Number.POSITIVE_INFINITY;
    const part = bytes.subarray(0, Math.max(0, limit - this.#sent));
    this.#sent += part.length;
    await new Promise<void>((resolve) => {
      this.#out.write(part, () => resolve());
    });
    if (this.#sent >= limit) {
      this.#out.destroy();
      return false;
    }
    if (this.#reply.dripBytes !== undefined) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    return true;
  }
}
