/**
 * Where all runs of a host ask their models. It owns the conversations, the providers and the requests in flight, for
 * any number of actor hosts, one port each.
 *
 * 1. A conversation belongs to the port that opened it; when a port closes, its requests are aborted and its
 *    conversations freed. A run that was restarted on another thread has another one there.
 * 2. Every ask gets exactly one `answer` or `failed`, an aborted or overtaken one too; after `close` of its run, none.
 * 3. No delta of a turn comes after its answer or failure.
 * 4. A history is only added to; `fresh` begins another.
 * 5. A run has at most one request in flight: a new ask aborts the one before.
 */
import type { MessagePort } from 'node:worker_threads';
import { openChannel } from '../actors/channel.ts';
import { SharedIn } from '../actors/core/shared-values.ts';
import { Fault, toWire } from '../base/fault.ts';
import type { AgentBrief, OnModelLine } from '../runtime/core/agent-protocol.ts';
import type { Message } from '../runtime/core/message.ts';
import type { FromModel, ModelRequest, ProviderEntry, ToModel } from '../runtime/core/model.ts';
import { Flight } from './flight.ts';
import { type OpenedProvider, openProvider, type ProviderDeps } from './open-provider.ts';

type Opened = Omit<Extract<ToModel, { kind: 'open' }>, 'kind' | 'runId'>;
type AskBody = Extract<ToModel, { kind: 'ask' }>;

interface Conversation {
  readonly opened: Opened;
  history: readonly Message[];
  flight: Flight | null;
}

export class ModelDesk {
  readonly #providers = new Map<string, OpenedProvider>();
  readonly #lines = new Set<Line>();

  constructor(entries: readonly ProviderEntry[], deps: ProviderDeps) {
    for (const entry of entries) this.#providers.set(entry.ref, openProvider(entry, deps));
  }

  /** Gets the providers of these entries ready before anybody asks them. */
  warm(refs: readonly string[]): void {
    for (const ref of refs) this.#providers.get(ref)?.warm?.();
  }

  /** Serves what comes through `port` until it closes. */
  attach(port: MessagePort): void {
    const line = new Line(this.#providers, port);
    this.#lines.add(line);
    port.once('close', () => {
      line.hangUp();
      this.#lines.delete(line);
    });
  }

  /** Conversations held now, over all ports. */
  get conversations(): number {
    let held = 0;
    for (const line of this.#lines) held += line.conversations;
    return held;
  }

  /** Aborts everything and closes every port and connection. */
  async close(): Promise<void> {
    for (const line of this.#lines) line.close();
    this.#lines.clear();
    await Promise.all([...this.#providers.values()].map((provider) => provider.close?.()));
  }
}

class Line {
  readonly #providers: ReadonlyMap<string, OpenedProvider>;
  readonly #runs = new Map<string, Conversation>();
  readonly #briefs = new SharedIn<AgentBrief>();
  #isOver = false;
  readonly #channel: { send(body: FromModel): void; close(): void };

  constructor(providers: ReadonlyMap<string, OpenedProvider>, port: MessagePort) {
    this.#providers = providers;
    this.#channel = openChannel<ToModel | OnModelLine, FromModel>(
      port,
      (body) => this.#receive(body),
      {
        unsent: ({ runId, turn }, fault) => ({ kind: 'failed', runId, turn, fault: toWire(fault) }), // 2
      },
    );
  }

  get conversations(): number {
    return this.#runs.size;
  }

  /** The other side is gone. */
  hangUp(): void {
    this.#isOver = true;
    for (const runId of [...this.#runs.keys()]) this.#forget(runId); // 1
  }

  close(): void {
    this.hangUp();
    this.#channel.close();
  }

  #receive(body: ToModel | OnModelLine): void {
    if (this.#isOver) return; // 1: words that had arrived before the other side went
    switch (body.kind) {
      case 'open':
        this.#open(body.runId, body);
        return;
      case 'open-shared': {
        const brief = this.#briefs.take(body.brief);
        if (brief !== undefined) this.#open(body.runId, brief);
        return;
      }
      case 'ask':
        this.#ask(body);
        return;
      case 'abort': {
        const flight = this.#runs.get(body.runId)?.flight;
        if (flight?.turn === body.turn) flight.abort();
        return;
      }
      case 'close':
        this.#forget(body.runId);
        return;
    }
  }

  #open(runId: string, opened: Opened): void {
    this.#forget(runId);
    this.#runs.set(runId, { opened, history: [], flight: null });
  }

  #forget(runId: string): void {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    run?.flight?.abort();
  }

  #ask(body: AskBody): void {
    const run = this.#runs.get(body.runId);
    if (run === undefined) {
      const fault = new Fault('defect', `run ${body.runId} asks a model before it was opened`);
      this.#channel.send(failure(body, fault));
      return;
    }
    run.history = body.fresh ? body.messages : [...run.history, ...body.messages]; // 4
    run.flight?.abort(); // 5
    const flight = new Flight(body.turn);
    run.flight = flight;
    this.#request(run, body, flight).then(
      (answer) => this.#settle(run, flight, { kind: 'answer', ...placeOf(body), answer }),
      (thrown: unknown) => this.#settle(run, flight, failure(body, thrown)),
    );
  }

  #settle(run: Conversation, flight: Flight, body: FromModel): void {
    flight.isOver = true; // 3
    if (run.flight === flight) run.flight = null;
    if (this.#runs.get(body.runId) === run) this.#channel.send(body); // 2
  }

  #request(run: Conversation, { runId, turn }: AskBody, flight: Flight) {
    const { agentId, system, tools, model } = run.opened;
    const provider = this.#providers.get(model.provider);
    if (provider === undefined) return Promise.reject(this.#unknown(model.provider));
    const request: ModelRequest = {
      runId,
      agentId,
      turn,
      system,
      history: run.history,
      tools,
      model,
    };
    const onDelta = (text: string) => {
      if (flight.isOver || flight.aborted) return; // 3
      this.#channel.send({ kind: 'delta', runId, turn, text });
    };
    return provider.ask(request, { signal: flight, onDelta });
  }

  #unknown(ref: string): Fault {
    const known = [...this.#providers.keys()].join(', ') || 'none';
    return new Fault(
      'model.unsupported',
      `provider "${ref}" is not configured; configured are: ${known}`,
      { detail: { provider: ref } },
    );
  }
}

function placeOf({ runId, turn }: AskBody) {
  return { runId, turn };
}

function failure(body: AskBody, thrown: unknown): FromModel {
  return { kind: 'failed', ...placeOf(body), fault: toWire(thrown) };
}
