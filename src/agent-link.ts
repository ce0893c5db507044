import { describeExit, type ExitReason } from './actors/core/exit.ts';
import type { ActorEvents, ActorPool, ActorRef } from './actors/pool.ts';
import { Fault, toWire } from './base/fault.ts';
import type { AgentBrief, FromAgent, ToAgent } from './runtime/core/agent-protocol.ts';
import type { AgentLink, AgentListener } from './runtime/engine.ts';

export type Actors = ActorPool<null, ToAgent, FromAgent>;

export interface AgentRequest {
  readonly runId: string;
  readonly brief: AgentBrief;
  readonly listener: AgentListener;
  readonly onLost: (what: string, detail: string) => void;
}

/**
 * Starts a run's actor on a thread of the pool. Its loss is `actor.crashed` where its own code failed, `actor.lost`
 * where all that is known is that its thread is gone.
 */
export function openAgentIn(pool: Actors, request: AgentRequest): AgentLink {
  return new OpenAgent(pool, request);
}

/** After `release` nothing of the actor is heard. */
class OpenAgent implements AgentLink, ActorEvents<FromAgent> {
  readonly #ref: ActorRef<ToAgent>;
  readonly #onLost: AgentRequest['onLost'];
  #listener: AgentListener | null;

  constructor(pool: Actors, { runId, brief, listener, onLost }: AgentRequest) {
    this.#listener = listener;
    this.#onLost = onLost;
    this.#ref = pool.spawn(runId, null, this, brief);
  }

  tell(body: ToAgent): void {
    this.#ref.tell(body);
  }

  release(): void {
    this.#listener = null;
    this.#ref.stop('its run has ended');
  }

  receive(body: FromAgent): void {
    this.#listener?.receive(body);
  }

  exited(exit: ExitReason): void {
    const listener = this.#listener;
    if (listener === null) return;
    this.#listener = null;
    const detail = describeExit(exit);
    this.#onLost('actor', `${this.#ref.id}: ${detail}`);
    const code = exit.type === 'crashed' ? 'actor.crashed' : 'actor.lost';
    listener.lost(toWire(new Fault(code, detail, { retry: 'unsafe' })));
  }
}
