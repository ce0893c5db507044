// Actors on threads of their own, for runs that lost theirs again and again (SPEC J7). It owns one pool of one thread a run.
// I1  A pool goes with its run: on release, or when its thread dies, for which it has no successor.
// I2  What a run tells its actor while the thread is still starting waits for it, in order.
// I3  At most `ISOLATED_MAX` of them: beyond that runs share threads again rather than exhaust the machine.
import { type Actors, type AgentRequest, openAgentIn } from './agent-link.ts';
import { toWire } from './base/fault.ts';
import type { ToAgent } from './runtime/core/agent-protocol.ts';
import type { AgentLink } from './runtime/engine.ts';

/** A thread costs some 10 MB and 50 ms. */
const ISOLATED_MAX = 16;

export class IsolatedActors {
  readonly #openPool: () => Promise<Actors>;
  readonly #pools = new Set<Promise<Actors>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(openPool: () => Promise<Actors>) {
    this.#openPool = openPool;
  }

  /** Those whose threads are up or starting. */
  get size(): number {
    return this.#pools.size;
  }

  pools(): readonly Promise<Actors>[] {
    return [...this.#pools];
  }

  /** `null` where there are too many (I3). */
  open(request: AgentRequest): AgentLink | null {
    if (this.#pools.size >= ISOLATED_MAX) return null;
    const { listener } = request;
    const early: ToAgent[] = [];
    let link: AgentLink | null = null;
    let released = false;
    const opening = this.#openPool();
    this.#pools.add(opening);
    const close = () => this.#close(opening);
    opening.then(
      (pool) => {
        if (released) return;
        const lost: AgentRequest['listener']['lost'] = (fault) => {
          close(); // I1
          listener.lost(fault);
        };
        link = openAgentIn(pool, {
          ...request,
          listener: { receive: (body) => listener.receive(body), lost },
        });
        for (const body of early) link.tell(body); // I2
      },
      (thrown: unknown) => {
        close();
        if (!released) listener.lost(toWire(thrown, 'actor.lost'));
      },
    );
    return {
      tell: (body) => {
        if (link === null) early.push(body);
        else link.tell(body);
      },
      release: () => {
        released = true;
        link?.release();
        close(); // I1
      },
    };
  }

  /** Resolves once every thread is gone. */
  async close(): Promise<void> {
    for (const opening of this.pools()) this.#close(opening);
    await Promise.all(this.#closing);
  }

  #close(opening: Promise<Actors>): void {
    if (!this.#pools.delete(opening)) return;
    const closing = opening.then((pool) => pool.close()).catch(() => undefined);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}
