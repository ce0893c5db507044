import { toWire } from '../../src/base/fault.ts';
import type { Random } from '../../src/base/random.ts';
import type { AgentBrief, AgentInit, ToAgent } from '../../src/runtime/core/agent-protocol.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import type { ToolDefinition, ToolOutcome } from '../../src/runtime/core/tool.ts';
import type { AgentLink, AgentListener, EnginePort } from '../../src/runtime/engine.ts';
import { createMemoryJournal, type MemoryJournal } from '../../src/runtime/memory-journal.ts';
import { VirtualClock } from './virtual-clock.ts';

/** What a simulated model says to a history; throwing is a model that failed. */
export type SimModel = (init: AgentInit, history: readonly Message[], turn: number) => ModelAnswer;

export interface SimOptions {
  readonly random: Random;
  readonly model: SimModel;
  readonly tools?: readonly ToolDefinition[];
  /** Milliseconds that a request or a call takes; default at random up to 50. */
  readonly delayMs?: (what: string) => number;
  readonly approve?: EnginePort['approve'];
}

export const workTool: ToolDefinition = {
  name: 'work',
  description: 'works',
  parameters: { type: 'object' },
  effect: 'read',
  place: 'actor',
  timeoutMs: 1000,
};

export const actTool: ToolDefinition = { ...workTool, name: 'act', effect: 'effectful' };

/** The engine without threads or disk: actors are objects, time is turned by hand, chance comes from a seed. */
export class SimEngine implements EnginePort {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly journal: MemoryJournal;
  readonly approve: EnginePort['approve'];
  readonly asked: { runId: string; turn: number; history: readonly Message[] }[] = [];
  readonly ran: string[] = [];
  readonly kept = new Map<string, string>();
  readonly live = new Map<string, SimAgent>();
  readonly options: SimOptions;
  readonly #tools: ReadonlyMap<string, ToolDefinition>;

  constructor(options: SimOptions) {
    this.options = options;
    this.random = options.random;
    this.clock = new VirtualClock(() => options.random.unit());
    this.journal = createMemoryJournal();
    this.approve = options.approve ?? null;
    this.#tools = new Map((options.tools ?? [workTool, actTool]).map((tool) => [tool.name, tool]));
  }

  openAgent(runId: string, brief: AgentBrief, listener: AgentListener): AgentLink {
    const agent = new SimAgent(this, { ...brief, runId }, listener);
    this.live.set(runId, agent);
    return agent;
  }

  async compute(): Promise<ToolOutcome> {
    return { ok: true, text: 'computed' };
  }

  async runHostTool(): Promise<ToolOutcome> {
    return { ok: true, text: 'hosted' };
  }

  tools(): ReadonlyMap<string, ToolDefinition> {
    return this.#tools;
  }

  async keep(runId: string, frame: string, text: string): Promise<string> {
    this.kept.set(`${runId}/${frame}`, text);
    return `/kept/${runId}/${frame}`;
  }

  delay(what: string): number {
    return this.options.delayMs?.(what) ?? Math.floor(this.random.unit() * 50);
  }

  /** Turns time until nothing is left to happen, letting promises settle between two instants. */
  async runDry(stepsMax = 200_000): Promise<void> {
    for (let step = 0; step < stepsMax; step += 1) {
      await settle();
      if (!this.clock.step()) {
        await settle();
        if (this.clock.pending === 0) return;
      }
    }
    throw new Error(`the simulation did not come to rest in ${stepsMax} steps`);
  }
}

export class SimAgent implements AgentLink {
  readonly #engine: SimEngine;
  readonly #init: AgentInit;
  readonly #listener: AgentListener;
  readonly #pending = new Map<string, { untime: () => void; abort: () => void }>();
  #history: readonly Message[] = [];
  #released = false;

  constructor(engine: SimEngine, init: AgentInit, listener: AgentListener) {
    this.#engine = engine;
    this.#init = init;
    this.#listener = listener;
  }

  tell(body: ToAgent): void {
    if (this.#released) return;
    if (body.kind === 'ask') this.#ask(body);
    else if (body.kind === 'run') this.#run(body);
    else {
      const key = body.kind === 'abort-ask' ? `ask:${body.turn}` : `run:${body.turn}/${body.call}`;
      this.#pending.get(key)?.abort();
    }
  }

  release(): void {
    this.#released = true;
    this.#engine.live.delete(this.#init.runId);
    for (const { untime } of this.#pending.values()) untime();
    this.#pending.clear();
  }

  /** The thread under it dies. */
  die(message: string): void {
    if (this.#released) return;
    this.release();
    this.#listener.lost({ code: 'actor.lost', message, retry: 'unsafe', detail: {} });
  }

  #later(key: string, delayMs: number, happen: () => void, aborted: () => void): void {
    const untime = this.#engine.clock.after(delayMs, () => {
      this.#pending.delete(key);
      happen();
    });
    const abort = () => {
      untime();
      const unabort = this.#engine.clock.after(this.#engine.delay('abort'), () => {
        this.#pending.delete(key);
        aborted();
      });
      this.#pending.set(key, { untime: unabort, abort: () => undefined });
    };
    this.#pending.set(key, { untime, abort });
  }

  #ask({ turn, messages, fresh }: Extract<ToAgent, { kind: 'ask' }>): void {
    this.#history = fresh ? messages : [...this.#history, ...messages];
    const history = this.#history;
    const { runId } = this.#init;
    this.#engine.asked.push({ runId, turn, history });
    const fail = (thrown: unknown, code: 'model.server-error' | 'model.aborted') =>
      this.#listener.receive({ kind: 'failed', turn, fault: toWire(thrown, code) });
    this.#later(
      `ask:${turn}`,
      this.#engine.delay('ask'),
      () => {
        try {
          const answer = this.#engine.options.model(this.#init, history, turn);
          const checks = answer.calls.map(() => ({ ok: true }) as const);
          this.#listener.receive({ kind: 'answered', turn, answer, checks });
        } catch (thrown) {
          fail(thrown, 'model.server-error');
        }
      },
      () => fail(new Error('aborted'), 'model.aborted'),
    );
  }

  #run({ turn, call, name, callKey }: Extract<ToAgent, { kind: 'run' }>): void {
    const say = (outcome: ToolOutcome) =>
      this.#listener.receive({ kind: 'ran', turn, call, outcome });
    this.#later(
      `run:${turn}/${call}`,
      this.#engine.delay('run'),
      () => {
        this.#engine.ran.push(callKey);
        say({ ok: true, text: `${name} done` });
      },
      () => say({ ok: false, errorType: 'cancelled', error: 'cancelled', effect: 'uncertain' }),
    );
  }
}

/** Lets every promise that can settle do so. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
