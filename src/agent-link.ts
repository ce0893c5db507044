import { describeExit } from './actors/core/exit.ts';
import type { ActorEvents, ActorPool } from './actors/pool.ts';
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
export function openAgentIn(
  pool: Actors,
  { runId, brief, listener, onLost }: AgentRequest,
): AgentLink {
  let released = false;
  const events: ActorEvents<FromAgent> = {
    receive: (body) => {
      if (!released) listener.receive(body);
    },
    exited: (exit) => {
      if (released) return;
      released = true;
      onLost('actor', `${runId}: ${describeExit(exit)}`);
      const code = exit.type === 'crashed' ? 'actor.crashed' : 'actor.lost';
      listener.lost(toWire(new Fault(code, describeExit(exit), { retry: 'unsafe' })));
    },
  };
  const ref = pool.spawn(runId, null, events, brief);
  return {
    tell: (body) => ref.tell(body),
    release: () => {
      released = true;
      ref.stop('its run has ended');
    },
  };
}
