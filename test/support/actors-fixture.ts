import { once } from 'node:events';
import { afterEach, vi } from 'vitest';
import { openActorPool } from '../../src/actors/actor-pool.ts';
import type { ExitReason } from '../../src/actors/core/exit.ts';
import type { ActorPool, ActorPoolOptions, ActorRef } from '../../src/actors/pool.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import type { Deed, HostSetupData, Init } from './threads/actors-host.ts';

/** The bundle of a test's thread entry. */
export function testThread(name: string): URL {
  return new URL(`../../build/test-threads/${name}.js`, import.meta.url);
}

export type TestPool = ActorPool<Init, Deed, unknown>;

export function openTestPool(
  options: Partial<ActorPoolOptions> & { readonly data?: HostSetupData } = {},
): Promise<TestPool> {
  const { data = {}, ...rest } = options;
  return openActorPool<Init, Deed, unknown>({
    entry: testThread('actors-host'),
    threads: 1,
    setup: () => ({ data }),
    restarts: { restartsMax: 3, periodMs: 60_000 },
    clock: systemClock,
    ...rest,
  });
}

/** Opens pools that are closed after each test of the file that called this. */
export function closedPools(): typeof openTestPool {
  const pools: TestPool[] = [];
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });
  return async (options) => {
    const pool = await openTestPool(options);
    pools.push(pool);
    return pool;
  };
}

/** An actor with everything that was heard of it. */
export interface Watched {
  readonly ref: ActorRef<Deed>;
  readonly heard: unknown[];
  readonly exits: ExitReason[];
  readonly exit: Promise<ExitReason>;
  /** Resolves once `count` bodies were heard. */
  hears(count: number): Promise<void>;
}

export function watch(pool: TestPool, id: string, init: Init = {}): Watched {
  const heard: unknown[] = [];
  const exits: ExitReason[] = [];
  let resolveExit: (exit: ExitReason) => void = () => undefined;
  const exit = new Promise<ExitReason>((resolve) => {
    resolveExit = resolve;
  });
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const ref = pool.spawn(id, init, {
    receive(body) {
      heard.push(body);
      for (const { count, resolve } of waiting) if (heard.length >= count) resolve();
      waiting = waiting.filter(({ count }) => heard.length < count);
    },
    exited(reason) {
      exits.push(reason);
      resolveExit(reason);
    },
  });
  const hears = (count: number): Promise<void> => {
    if (heard.length >= count) return Promise.resolve();
    return new Promise((resolve) => waiting.push({ count, resolve }));
  };
  return { ref, heard, exits, exit, hears };
}

/** One there and back on the actor's channel: everything sent before has been handled on both sides. */
export async function roundTrip(actor: Watched): Promise<void> {
  const count = actor.heard.length + 1;
  actor.ref.tell({ do: 'echo', value: 'round trip' });
  await actor.hears(count);
}

/** What keeps this process alive, by kind. */
export function activeResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** How many open handles of a kind there are, once as few as `max` are left. */
export async function settlesTo(kind: string, max: number): Promise<void> {
  await vi.waitFor(() => {
    const count = activeResources()[kind] ?? 0;
    if (count > max) throw new Error(`${count} of ${kind} are open, ${max} were before`);
  });
}

/** What surfaces as an uncaught exception of this thread while `act` runs, without failing the test run. */
export async function uncaughtDuring(act: () => Promise<void> | void): Promise<unknown> {
  const earlier = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    const surfaced = once(process, 'uncaughtException');
    await act();
    const [thrown] = await surfaced;
    return thrown;
  } finally {
    for (const listener of earlier) process.on('uncaughtException', listener);
  }
}

/** Threads that start while `act` runs cannot load their entry. */
export async function withBrokenEntry(act: () => Promise<void>): Promise<void> {
  process.env['TROUPE_TEST_BREAK_ENTRY'] = '1';
  try {
    await act();
  } finally {
    delete process.env['TROUPE_TEST_BREAK_ENTRY'];
  }
}
