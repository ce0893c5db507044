import { toWire } from '../../src/base/fault.ts';
import type {
  AgentInit,
  CallCheck,
  FromAgent,
  ToAgent,
} from '../../src/runtime/core/agent-protocol.ts';
import type { Message, ToolCallPart } from '../../src/runtime/core/message.ts';
import type { AgentLink, AgentListener } from '../../src/runtime/engine.ts';
import type { SimEngine } from './sim-engine.ts';
import { type Going, playTool, SIM_TOOLS } from './sim-tools.ts';

/** Milliseconds after which a request that nobody answers has failed. */
const MODEL_LIMIT_MS = 2000;

/** What runs on one simulated thread, and ends with it. */
export class SimThread {
  readonly agents = new Set<SimAgent>();

  die(message: string): void {
    for (const agent of [...this.agents]) agent.lose(message);
  }
}

/** The actor of one run: answers each `ask` and each `run` once, or its thread dies. */
export class SimAgent implements AgentLink {
  readonly #engine: SimEngine;
  readonly #init: AgentInit;
  readonly #listener: AgentListener;
  readonly #thread: SimThread;
  readonly #going = new Map<string, Going>();
  #history: readonly Message[] | null = null;
  #released = false;

  constructor(engine: SimEngine, init: AgentInit, listener: AgentListener, thread: SimThread) {
    this.#engine = engine;
    this.#init = init;
    this.#listener = listener;
    this.#thread = thread;
    thread.agents.add(this);
  }

  tell(body: ToAgent): void {
    if (this.#released) return;
    if (body.kind === 'ask') this.#ask(body);
    else if (body.kind === 'run') this.#run(body);
    else if (body.kind === 'abort-ask') this.#going.get(`ask:${body.turn}`)?.abort();
    else this.#going.get(`run:${body.turn}/${body.call}`)?.abort();
  }

  release(): void {
    this.#released = true;
    this.#engine.live.delete(this);
    this.#thread.agents.delete(this);
    for (const going of this.#going.values()) going.drop();
    this.#going.clear();
  }

  /** It ended, or the thread under it did. */
  lose(message: string, code: 'actor.lost' | 'actor.crashed' = 'actor.lost'): void {
    if (this.#released) return;
    this.release();
    this.#listener.lost({ code, message, retry: 'unsafe', detail: {} });
  }

  #say(key: string, body: FromAgent): void {
    this.#going.delete(key);
    if (this.#released) return;
    const { random, faults } = this.#engine;
    if (random.chance(faults.actorCrashes)) this.lose('it threw', 'actor.crashed');
    else this.#listener.receive(body);
  }

  #ask({ turn, messages, fresh }: Extract<ToAgent, { kind: 'ask' }>): void {
    const { random, faults } = this.#engine;
    const key = `ask:${turn}`;
    if (!fresh && (this.#history === null || random.chance(faults.modelStale))) {
      this.#history = null;
      this.#play(key, 0, () => this.#say(key, { kind: 'stale', turn }));
      return;
    }
    this.#history = fresh ? messages : [...(this.#history ?? []), ...messages];
    const history = this.#history;
    const place = { runId: this.#init.runId, turn, call: 0 };
    this.#engine.begin('ask', place, 'model', 'read', history);
    const isHanging = random.chance(faults.modelHangs);
    const wait = isHanging ? MODEL_LIMIT_MS : this.#engine.delay('ask');
    this.#play(key, wait, () => {
      try {
        if (isHanging || random.chance(faults.modelFails)) throw new Error('the model broke');
        const answer = this.#engine.options.model(this.#init, history, turn);
        const checks = answer.calls.map(checked);
        this.#say(key, { kind: 'answered', turn, answer, checks });
      } catch (thrown) {
        this.#say(key, { kind: 'failed', turn, fault: toWire(thrown, 'model.server-error') });
      }
    });
  }

  /** Something that happens later, or sooner in another way if it is aborted. */
  #play(key: string, waitMs: number, happen: () => void): void {
    const { world: clock, faults, random } = this.#engine;
    let untime = clock.after(waitMs, happen);
    const turn = Number(key.split(':')[1]);
    const aborted = () =>
      this.#say(key, {
        kind: 'failed',
        turn,
        fault: toWire(new Error('aborted'), 'model.aborted'),
      });
    this.#going.set(key, {
      abort: () => {
        if (random.chance(faults.abortIgnored)) return;
        untime();
        const wait = random.chance(faults.abortLate) ? random.int(MODEL_LIMIT_MS) : 1;
        untime = clock.after(wait, aborted);
      },
      drop: () => untime(),
    });
  }

  #run({ turn, call, name }: Extract<ToAgent, { kind: 'run' }>): void {
    const definition = SIM_TOOLS.get(name);
    if (definition === undefined) throw new Error(`the actor is asked to run '${name}'`);
    const key = `run:${turn}/${call}`;
    const going = playTool(
      this.#engine,
      definition,
      { runId: this.#init.runId, turn, call },
      (outcome) => this.#say(key, { kind: 'ran', turn, call, outcome }),
      () => this.#thread.die('it answered to nothing any more'),
    );
    this.#going.set(key, going);
  }
}

function checked({ argsText }: ToolCallPart): CallCheck {
  try {
    JSON.parse(argsText.trim() === '' ? '{}' : argsText);
    return { ok: true };
  } catch {
    return { ok: false, errorType: 'malformed_arguments', error: 'this is not JSON' };
  }
}
