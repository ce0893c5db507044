// The actor of one run, on a pooled thread: it asks the model with the run's history, checks the calls of the answer
// against their schemas, and runs the tools that may share its thread. Its supervisor decides what happens next.
// I1  Every `ask` and every `run` is answered exactly once, also when it is aborted or its tool throws.
// I2  After `stop` nothing is told any more; tools that ignore their signal finish into the void.
import { Fault, toWire } from '../base/fault.ts';
import type { AgentBrief, CallCheck, FromAgent, ToAgent } from './core/agent-protocol.ts';
import type { ToolCallPart } from './core/message.ts';
import type { FromModel, ToModel } from './core/model.ts';
import type { ToolContext, ToolOutcome } from './core/tool.ts';

/** What an actor thread lends to every actor on it. */
export interface AgentThread {
  /** To the model thread. */
  toModel(body: Exclude<ToModel, { kind: 'open' }>): void;
  /** Begins a conversation on the model thread. */
  openModel(runId: string, brief: AgentBrief): void;
  /** Checks one call's arguments against the schema its run was offered. */
  check(brief: AgentBrief, call: ToolCallPart): CallCheck;
  /** Runs a tool of this thread. Never rejects. */
  run(
    name: string,
    argsText: string,
    context: ToolContext<AbortSignal>,
    timeoutMs: number,
  ): Promise<ToolOutcome>;
}

type Run = Extract<ToAgent, { kind: 'run' }>;

export class AgentActor {
  readonly #runId: string;
  readonly #brief: AgentBrief;
  readonly #thread: AgentThread;
  readonly #tell: (body: FromAgent) => void;
  readonly #tools = new Map<string, AbortController>();
  #askedTurn = 0;
  #opened = false;
  #stopped = false;

  constructor(
    runId: string,
    brief: AgentBrief,
    thread: AgentThread,
    tell: (body: FromAgent) => void,
  ) {
    this.#runId = runId;
    this.#brief = brief;
    this.#thread = thread;
    this.#tell = tell;
  }

  receive(body: ToAgent): void {
    switch (body.kind) {
      case 'ask':
        this.#ask(body);
        return;
      case 'run':
        void this.#run(body);
        return;
      case 'abort-ask':
        this.#thread.toModel({ kind: 'abort', runId: this.#runId, turn: body.turn });
        return;
      case 'abort-run':
        this.#tools.get(`${body.turn}/${body.call}`)?.abort(aborted());
    }
  }

  /** What the model thread says to this run. */
  heard(body: FromModel): void {
    if (this.#stopped || body.turn !== this.#askedTurn) return;
    if (body.kind === 'delta') {
      this.#tell({ kind: 'delta', turn: body.turn, text: body.text });
      return;
    }
    this.#askedTurn = 0;
    if (body.kind === 'failed') {
      this.#tell({ kind: 'failed', turn: body.turn, fault: body.fault });
      return;
    }
    const checks = body.answer.calls.map((call) => this.#thread.check(this.#brief, call));
    this.#tell({ kind: 'answered', turn: body.turn, answer: body.answer, checks });
  }

  /** The model thread is gone: what was asked has failed, and the next ask must carry the whole history. */
  modelLost(fault: Fault): void {
    this.#opened = false;
    if (this.#askedTurn === 0 || this.#stopped) return;
    const turn = this.#askedTurn;
    this.#askedTurn = 0;
    this.#tell({ kind: 'failed', turn, fault: toWire(fault) });
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const controller of this.#tools.values()) controller.abort(aborted());
    this.#tools.clear();
    if (this.#opened) this.#thread.toModel({ kind: 'close', runId: this.#runId });
  }

  #ask(body: Extract<ToAgent, { kind: 'ask' }>): void {
    const runId = this.#runId;
    if (!this.#opened && !body.fresh) {
      this.#tell({ kind: 'stale', turn: body.turn });
      return;
    }
    if (!this.#opened) {
      this.#thread.openModel(runId, this.#brief);
      this.#opened = true;
    }
    this.#askedTurn = body.turn;
    const { turn, messages, fresh } = body;
    this.#thread.toModel({ kind: 'ask', runId, turn, messages, fresh });
  }

  async #run(body: Run): Promise<void> {
    const { turn, call, name, argsText, callKey, timeoutMs } = body;
    const controller = new AbortController();
    const key = `${turn}/${call}`;
    this.#tools.set(key, controller);
    const { agentId, scope } = this.#brief;
    const context = {
      runId: this.#runId,
      agentId,
      callKey,
      scope,
      signal: controller.signal,
      progress: () => undefined,
    };
    const outcome = await this.#thread.run(name, argsText, context, timeoutMs);
    this.#tools.delete(key);
    if (!this.#stopped) this.#tell({ kind: 'ran', turn, call, outcome });
  }
}

function aborted(): Fault {
  return new Fault('run.cancelled', 'the run is being stopped');
}
