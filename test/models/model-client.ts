import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { openChannel } from '../../src/actors/channel.ts';
import { openServiceThread } from '../../src/actors/service-thread.ts';
import type { FaultWire } from '../../src/base/fault.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type {
  FromModel,
  ModelAnswer,
  ProviderEntry,
  ToModel,
} from '../../src/runtime/core/model.ts';
import type { ToolSpec } from '../../src/runtime/core/tool.ts';
import { threadEntry } from '../../src/thread-entry.ts';

export type Settled =
  | { readonly ok: true; readonly answer: ModelAnswer }
  | { readonly ok: false; readonly fault: FaultWire };

/** The other end of one port of a model desk: what an actor host holds. Keeps every body that ever came. */
export class ModelClient {
  readonly seen: FromModel[] = [];
  readonly #channel: { send(body: ToModel): void; close(): void };
  readonly #waiting = new Map<string, (settled: Settled) => void>();
  #onDelta: (text: string) => void = () => undefined;

  constructor(port: MessagePort) {
    this.#channel = openChannel<FromModel, ToModel>(port, (body) => {
      this.seen.push(body);
      const key = `${body.runId} ${body.turn}`;
      if (body.kind === 'delta') this.#onDelta(body.text);
      if (body.kind === 'answer') this.#waiting.get(key)?.({ ok: true, answer: body.answer });
      if (body.kind === 'failed') this.#waiting.get(key)?.({ ok: false, fault: body.fault });
    });
  }

  send(body: ToModel): void {
    this.#channel.send(body);
  }

  open(runId: string, provider: string, more: { agentId?: string; tools?: ToolSpec[] } = {}): void {
    this.send({
      kind: 'open',
      runId,
      agentId: more.agentId ?? 'lead',
      system: 'You lead.',
      tools: more.tools ?? [],
      model: { provider, model: '' },
    });
  }

  ask(
    runId: string,
    turn: number,
    messages: readonly Message[],
    fresh = turn === 1,
  ): Promise<Settled> {
    const settled = new Promise<Settled>((resolve) => {
      this.#waiting.set(`${runId} ${turn}`, resolve);
    });
    this.send({ kind: 'ask', runId, turn, messages, fresh });
    return settled;
  }

  async answer(runId: string, turn: number, messages: readonly Message[]): Promise<ModelAnswer> {
    const settled = await this.ask(runId, turn, messages);
    if (!settled.ok) throw new Error(`${settled.fault.code}: ${settled.fault.message}`);
    return settled.answer;
  }

  async fault(runId: string, turn: number, messages: readonly Message[]): Promise<FaultWire> {
    const settled = await this.ask(runId, turn, messages);
    if (settled.ok) throw new Error(`expected a fault, got ${JSON.stringify(settled.answer)}`);
    return settled.fault;
  }

  /** The first delta from now on. */
  nextDelta(): Promise<string> {
    return new Promise((resolve) => {
      this.#onDelta = resolve;
    });
  }

  deltas(runId: string): string[] {
    return this.seen.flatMap((body) =>
      body.kind === 'delta' && body.runId === runId ? [body.text] : [],
    );
  }

  close(): void {
    this.#channel.close();
  }
}

export interface ModelThread {
  /** A port of its own, as another actor host would get. */
  connect(): ModelClient;
  stop(): Promise<void>;
}

/** The product's own model thread. It reads keys from this process's environment, as it is now. */
export function startModelThread(providers: readonly ProviderEntry[]): ModelThread {
  const thread = openServiceThread({
    entry: threadEntry('model'),
    name: 'model',
    data: { providers },
  });
  const clients: ModelClient[] = [];
  return {
    connect: () => {
      const { port1, port2 } = new MessageChannel();
      thread.port.postMessage({ kind: 'attach', port: port2 }, [port2]);
      const client = new ModelClient(port1);
      clients.push(client);
      return client;
    },
    stop: async () => {
      for (const client of clients) client.close();
      await thread.close();
    },
  };
}

export function entryOf(
  type: ProviderEntry['type'],
  more: Partial<ProviderEntry> = {},
): ProviderEntry {
  return {
    ref: `${type}.local`,
    type,
    baseUrl: null,
    apiKeyEnv: null,
    model: 'test-model',
    temperature: null,
    connectTimeoutMs: 5000,
    idleTimeoutMs: 20_000,
    totalTimeoutMs: 60_000,
    maxRetries: 0,
    nativeTools: true,
    maxConcurrentRequests: null,
    file: null,
    price: null,
    ...more,
  };
}

export function user(text: string): Message {
  return { role: 'user', text };
}
