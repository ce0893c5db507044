import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs';
import type { ActorContext, Behavior } from '../../../src/actors/actor.ts';
import { serveActors } from '../../../src/actors/actor-host.ts';
import { Fault } from '../../../src/base/fault.ts';

// A thread that starts while this is set cannot load its entry: it is how a test breaks the threads to come.
if (process.env['TROUPE_TEST_BREAK_ENTRY'] === '1') throw new Error('this entry broke');

export interface HostSetupData {
  readonly failSetup?: string;
  readonly exitOnSetup?: number;
  readonly neverUp?: boolean;
  readonly mailMax?: number;
  readonly failClose?: boolean;
  readonly label?: string;
}

export interface Init {
  readonly onStart?: 'throw' | 'spin' | 'never' | 'exit' | 'later' | 'released';
  readonly onStop?: 'throw' | 'never' | 'say';
  readonly anything?: unknown;
}

export type StrayKind =
  | 'timer'
  | 'immediate'
  | 'next-tick'
  | 'rejection'
  | 'detached'
  | 'emitter'
  | 'file'
  | 'microtask';

/** What a test makes its actors do. */
export type Deed =
  | { readonly do: 'echo'; readonly value: unknown }
  | { readonly do: 'echo-later'; readonly value: unknown }
  | { readonly do: 'never-settle' }
  | { readonly do: 'exit'; readonly saying?: unknown }
  | { readonly do: 'throw' }
  | { readonly do: 'throw-fault' }
  | { readonly do: 'reject' }
  | { readonly do: 'stray'; readonly kind: StrayKind; readonly saying?: unknown }
  | { readonly do: 'say-function' }
  | { readonly do: 'say-function-and-exit' }
  | {
      readonly do: 'say-many';
      readonly count: number;
      readonly andThen?: 'exit-thread' | 'spin';
      readonly raise?: Int32Array;
    }
  | { readonly do: 'out-of-memory' };

function spin(): never {
  for (;;);
}

const strays: Readonly<Record<StrayKind, (fail: () => never) => void>> = {
  timer: (fail) => void setTimeout(fail, 1),
  immediate: (fail) => void setImmediate(fail),
  'next-tick': (fail) => process.nextTick(fail),
  rejection: (fail) => void Promise.resolve().then(fail),
  detached: (fail) => {
    void (async () => {
      await new Promise((resolve) => setImmediate(resolve));
      fail();
    })();
  },
  emitter: () => {
    const emitter = new EventEmitter();
    setImmediate(() => emitter.emit('error', new Error('stray')));
  },
  file: (fail) => readFile(new URL(import.meta.url), fail),
  microtask: (fail) => queueMicrotask(fail),
};

function stray(): never {
  throw new Error('stray');
}

function sayMany(ctx: ActorContext<unknown>, deed: Deed & { readonly do: 'say-many' }): void {
  for (let n = 0; n < deed.count; n += 1) ctx.tell(n);
  if (deed.andThen === undefined) return;
  setImmediate(() => {
    if (deed.raise !== undefined) {
      Atomics.store(deed.raise, 0, 1);
      Atomics.notify(deed.raise, 0);
    }
    if (deed.andThen === 'spin') spin();
    process.exit(7);
  });
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function act(ctx: ActorContext<unknown>, deed: Deed): void | Promise<void> {
  switch (deed.do) {
    case 'echo':
      return ctx.tell(deed.value);
    case 'echo-later':
      return later().then(() => ctx.tell(deed.value));
    case 'never-settle':
      return new Promise(() => undefined);
    case 'exit':
      if (deed.saying !== undefined) ctx.tell(deed.saying);
      return ctx.exit();
    case 'throw':
      throw new Error('thrown by the actor');
    case 'throw-fault':
      throw new Fault('model.timeout', 'a fault of its own', { retry: 'safe', detail: { a: 1 } });
    case 'reject':
      return Promise.reject(new Error('rejected by the actor'));
    case 'stray':
      if (deed.saying !== undefined) ctx.tell(deed.saying);
      return strays[deed.kind](stray);
    case 'say-function':
      ctx.tell('before');
      ctx.tell(() => undefined);
      return ctx.tell('after');
    case 'say-function-and-exit':
      ctx.tell(() => undefined);
      return ctx.exit();
    case 'say-many':
      return sayMany(ctx, deed);
    case 'out-of-memory': {
      const hoard: unknown[][] = [];
      for (;;) hoard.push(new Array(100_000).fill(hoard.length));
    }
  }
}

let closedTimes = 0;
let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
/** Every call of an actor's `stop` on this thread. */
const stops: string[] = [];

function behavior(data: HostSetupData): Behavior<Init, Deed, unknown> {
  return {
    ...(data.mailMax === undefined ? {} : { mailMax: data.mailMax }),
    start(id, init, ctx) {
      if (init.onStart === 'throw') throw new Error(`${id} cannot start`);
      if (init.onStart === 'spin') spin();
      if (init.onStart === 'exit') ctx.exit();
      const actor = {
        receive: (deed: Deed) => act(ctx, deed),
        stop(reason: string): void | Promise<void> {
          stops.push(`${id}: ${reason}`);
          if (init.onStop === 'throw') throw new Error('cannot stop');
          if (init.onStop === 'never') return new Promise(() => undefined);
          if (init.onStop === 'say') ctx.tell(`stopping: ${reason}`);
        },
      };
      if (init.onStart === 'never') return new Promise(() => undefined);
      if (init.onStart === 'later') return later().then(() => actor);
      if (init.onStart === 'released') return released.then(() => actor);
      return actor;
    },
    control: {
      add: (a: number, b: number) => a + b,
      stops: () => stops,
      /** Actors of this thread that are `released` have started once this has returned. */
      release: () => {
        release();
        return later();
      },
      label: () => data.label ?? '',
      'throw-fault': () => {
        throw new Fault('model.timeout', 'a fault of its own', { retry: 'safe', detail: { a: 1 } });
      },
      hang: () => new Promise(() => undefined),
      'exit-thread': (code: number) => {
        setImmediate(() => process.exit(code));
        return new Promise(() => undefined);
      },
      'answer-on': (port: { postMessage(body: unknown): void; close(): void }) => {
        port.postMessage('hello');
        port.close();
      },
      handles: () => process.getActiveResourcesInfo().length,
      secret: () => Reflect.get(globalThis, 'secret') ?? null,
    },
    close() {
      closedTimes += 1;
      if (data.failClose || closedTimes > 1) throw new Error('cannot close');
    },
  };
}

export default serveActors((data: HostSetupData) => {
  if (data.failSetup !== undefined) throw new Error(data.failSetup);
  if (data.exitOnSetup !== undefined) process.exit(data.exitOnSetup);
  if (data.neverUp) return new Promise<Behavior<Init, Deed, unknown>>(() => undefined);
  return behavior(data);
});
