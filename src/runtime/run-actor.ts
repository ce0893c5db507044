// A run's actor as the run's effects use it, over every thread that it has lived on. It owns the link to the one that is
// alive now and what was asked of it and not answered.
// I1  The history crosses to an actor once; later asks carry only what was added since.
// I2  Nothing of a released actor is heard: late words find nobody waiting.
// I3  Where a thread is lost, what may happen twice is asked of the next actor; the rest settles without an outcome.
import { toWire } from '../base/fault.ts';
import type { FromAgent, ToAgent } from './core/agent-protocol.ts';
import type { RunCommand } from './core/run-command.ts';
import type { ToolOutcome } from './core/tool.ts';
import type { AgentLink, EnginePort } from './engine.ts';
import type { RunSupervisor } from './run-supervisor.ts';
import type { RunTree } from './run-tree.ts';
import { SmallMap } from './small-map.ts';

type Settle = (command: RunCommand | null) => void;
type Answer = Exclude<FromAgent, { kind: 'delta' }>;
type Job = Extract<ToAgent, { kind: 'run' }>;

interface Asked {
  readonly settle: Settle;
  readonly heard: (body: Answer) => void;
  /** Asks the actor that is alive for the same; `null` for what must not happen twice. */
  readonly again: (() => void) | null;
}

export interface RunActorOptions {
  readonly engine: EnginePort;
  readonly tree: RunTree;
}

export class RunActor {
  readonly #supervisor: RunSupervisor;
  readonly #options: RunActorOptions;
  /** By effect key. */
  readonly #asked = new SmallMap<Asked>();
  #agent: AgentLink | null = null;
  /** Entries of the history that this actor has (I1). */
  #sent = 0;
  #released = false;
  #isolated = false;

  constructor(supervisor: RunSupervisor, options: RunActorOptions) {
    this.#supervisor = supervisor;
    this.#options = options;
  }

  /** Asks the model. @returns how to take it back. */
  ask(key: string, turn: number, settle: Settle, answered: (body: Answer) => void): () => void {
    const send = () => {
      const agent = this.#open();
      this.#asked.set(key, { settle, heard, again: send });
      const { history } = this.#supervisor.state;
      const fresh = this.#sent === 0;
      const messages = fresh ? history : history.slice(this.#sent);
      agent.tell({ kind: 'ask', turn, messages, fresh });
      this.#sent = history.length;
    };
    const heard = (body: Answer) => {
      if (body.kind !== 'stale') {
        answered(body);
        return;
      }
      // It was called off before the actor could say that it knows nothing: nothing is asked again.
      if (this.#supervisor.state.stopping !== null) {
        settle(null);
        return;
      }
      this.#sent = 0;
      send();
    };
    send();
    return () => this.#agent?.tell({ kind: 'abort-ask', turn });
  }

  /** Runs a call on the actor's thread. @returns how to take it back. */
  run(
    key: string,
    job: Job,
    repeatable: boolean,
    settle: Settle,
    done: (outcome: ToolOutcome) => void,
  ): () => void {
    const heard = (body: Answer) => {
      if (body.kind === 'ran') done(body.outcome);
    };
    const send = () => {
      const agent = this.#open();
      this.#asked.set(key, { settle, heard, again: repeatable ? send : null });
      agent.tell(job);
    };
    send();
    return () => this.#agent?.tell({ kind: 'abort-run', turn: job.turn, call: job.call });
  }

  heard(body: Answer): void {
    const key = body.kind === 'ran' ? `tool:${body.turn}/${body.call}` : `ask:${body.turn}`;
    const asked = this.#asked.get(key);
    if (asked === undefined) return; // I2
    this.#asked.delete(key);
    asked.heard(body);
  }

  /** The thread is gone, and the run goes on no further: whatever was asked settles without an outcome. */
  lost(): void {
    for (const { settle } of this.#orphaned()) settle(null);
  }

  /** The thread is gone, and the run goes on: I3. `isolated`: on a thread that no other run shares. */
  restart(isolated: boolean): void {
    this.#isolated = isolated;
    for (const { settle, again } of this.#orphaned()) {
      if (again === null || this.#supervisor.state.stopping !== null) {
        settle(null);
        continue;
      }
      try {
        again();
      } catch (thrown) {
        settle(cannotBegin(thrown));
      }
    }
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#agent?.release();
    this.#agent = null;
    this.#asked.clear(); // I2
  }

  #orphaned(): readonly Asked[] {
    this.#agent = null;
    this.#sent = 0;
    const waiting = this.#asked.values();
    this.#asked.clear();
    return waiting;
  }

  #open(): AgentLink {
    if (this.#agent !== null) return this.#agent;
    const supervisor = this.#supervisor;
    const { engine, tree } = this.#options;
    const { spec } = supervisor.state;
    if (spec === null) throw new Error('an actor of a run that has not begun');
    this.#sent = 0;
    this.#agent = engine.openAgent(
      supervisor.runId,
      tree.briefOf(spec),
      supervisor,
      this.#isolated,
    );
    return this.#agent;
  }
}

/** An effect that cannot even begin (no thread is left to place an actor on) ends its run: nobody would settle it. */
export function cannotBegin(thrown: unknown): RunCommand {
  const { code, message } = toWire(thrown);
  const stop = { status: 'failed', reason: message, by: 'runtime', error_type: code } as const;
  return { type: 'stop', stop };
}
