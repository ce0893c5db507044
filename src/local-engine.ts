// The actor engine of a local host: worker threads, a model thread, a compute pool, SQLite. It owns every thread.
// I1  A thread that dies is replaced within its restart intensity; what it carried is reported, never silently retried.
// I2  `close` ends every thread and resolves only when they are gone.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { openActorPool } from './actors/actor-pool.ts';
import { openComputePool } from './actors/compute-pool.ts';
import { describeExit } from './actors/core/exit.ts';
import { judgeRestart } from './actors/core/restart.ts';
import type { ActorEvents, ActorPool, ComputePool } from './actors/pool.ts';
import { openServiceThread, type ServiceThread } from './actors/service-thread.ts';
import type { Clock } from './base/clock.ts';
import { Fault, messageOf, toWire } from './base/fault.ts';
import { assertNever } from './base/never.ts';
import type { Random } from './base/random.ts';
import type { AgentBrief, ComputeJob, FromAgent, ToAgent } from './runtime/core/agent-protocol.ts';
import type { ProviderEntry } from './runtime/core/model.ts';
import { resultsFolderOf, withOwnResults } from './runtime/core/own-results.ts';
import type {
  Effect,
  ToolContext,
  ToolDefinition,
  ToolOutcome,
  ToolScope,
} from './runtime/core/tool.ts';
import type { AgentLink, AgentListener, EnginePort } from './runtime/engine.ts';
import type { Journal } from './runtime/journal.ts';
import { threadEntry } from './thread-entry.ts';
import type { ActorHostSetup } from './threads/actor-host.ts';
import { failed } from './tools/core/failure.ts';
import { invokeNamed } from './tools/invoke-named.ts';
import type { AnyTool } from './tools/invoke-tool.ts';
import type { Shells } from './tools/shell.ts';

/** How often threads may be replaced before troupe gives up on them: SPEC J7's figures. */
const RESTARTS = { restartsMax: 3, periodMs: 60_000 };

/** Jobs that may wait for a compute thread; one more is refused (SPEC R11: no growth unbounded). */
export const COMPUTE_QUEUE_MAX = 4096;

/** Milliseconds after which a cancelled tool that only reads and does not look up from its work loses its thread. */
const READER_ANSWER_MS = 5;

/** Megabytes of young and old heap that one compute thread may use before V8 ends it. */
const COMPUTE_HEAP = { maxOldGenerationSizeMb: 2048 };

export interface LocalEngineOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly journal: Journal;
  readonly resultsDir: string;
  readonly providers: readonly ProviderEntry[];
  readonly actorThreads: number;
  readonly computeThreads: number;
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** Tools that run on the host's thread, by name. */
  readonly hostTools: ReadonlyMap<string, AnyTool>;
  /** Every child process of this host. */
  readonly shells: Shells;
  readonly approve: EnginePort['approve'];
  /** A thread died: for the log. */
  readonly onThreadLost: (what: string, detail: string) => void;
}

/** Starts the threads. @throws Fault `actor.lost` or `actor.not-ready` if they do not come up. */
export async function openLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const engine = new LocalEngine(options);
  try {
    await engine.start();
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
  return engine;
}

export class LocalEngine implements EnginePort {
  readonly clock: Clock;
  readonly random: Random;
  readonly journal: Journal;
  readonly approve: EnginePort['approve'];
  readonly #options: LocalEngineOptions;
  readonly #modules: Record<string, { url: string; exportName: string }> = {};
  #actors: ActorPool<null, ToAgent, FromAgent> | null = null;
  #compute: ComputePool | null = null;
  #model: ServiceThread;
  #modelDeaths: readonly number[] = [];
  #closing = false;

  constructor(options: LocalEngineOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.random = options.random;
    this.journal = options.journal;
    this.approve = options.approve;
    for (const [name, { module, place }] of options.tools) {
      if (module !== undefined && place === 'actor') this.#modules[name] = { ...module };
    }
    this.#model = this.#startModel();
  }

  async start(): Promise<void> {
    this.#actors = await openActorPool<null, ToAgent, FromAgent>({
      entry: threadEntry('actor-host'),
      threads: this.#options.actorThreads,
      setup: () => {
        const modelPort = this.#modelPort();
        const { resultsDir } = this.#options;
        const data: ActorHostSetup = { modelPort, resultsDir, modules: this.#modules };
        return { data, transfer: [modelPort] };
      },
      restarts: RESTARTS,
      clock: this.clock,
    });
  }

  openAgent(runId: string, brief: AgentBrief, listener: AgentListener): AgentLink {
    if (this.#actors === null) throw new Fault('pool.closed', 'the actor pool is not open');
    let released = false;
    const events: ActorEvents<FromAgent> = {
      receive: (body) => {
        if (!released) listener.receive(body);
      },
      exited: (exit) => {
        if (released) return;
        released = true;
        const fault = new Fault('actor.crashed', describeExit(exit), { retry: 'unsafe' });
        this.#options.onThreadLost('actor', `${runId}: ${describeExit(exit)}`);
        listener.lost(toWire(fault));
      },
    };
    const ref = this.#actors.spawn(runId, null, events, brief);
    return {
      tell: (body) => ref.tell(body),
      release: () => {
        released = true;
        ref.stop('its run has ended');
      },
    };
  }

  async compute(job: ComputeJob, signal: AbortSignal): Promise<ToolOutcome> {
    let partial = '';
    const reads = this.#options.tools.get(job.name)?.effect === 'read';
    const scoped = { ...job, scope: this.#scopeFor(job.runId, job.scope) };
    const outcome = await this.#computePool().run(scoped, {
      signal,
      timeoutMs: job.timeoutMs,
      answerMs: reads ? READER_ANSWER_MS : undefined,
      onProgress: (text) => {
        partial = String(text);
      },
    });
    const effect: Effect = reads ? 'none' : 'uncertain';
    const about = partial === '' ? { effect } : { effect, text: partial };
    switch (outcome.type) {
      case 'returned':
        return outcome.value as ToolOutcome;
      case 'threw':
        return failed('tool_failed', `${job.name} failed: ${outcome.fault.message}`, about);
      case 'killed':
        return outcome.by === 'timeout'
          ? failed('timeout', `${job.name} took longer than ${job.timeoutMs} ms`, about)
          : failed('cancelled', `${job.name} was cancelled: ${outcome.reason}`, about);
      case 'lost':
        this.#options.onThreadLost('compute', outcome.detail);
        return failed('thread_lost', `${job.name} ended its thread: ${outcome.detail}`, about);
      case 'refused':
        return failed('refused', `${job.name} was not started: ${outcome.fault.message}`);
      default:
        return assertNever(outcome);
    }
  }

  runHostTool(
    name: string,
    argsText: string,
    context: ToolContext<AbortSignal>,
    timeoutMs: number,
  ): Promise<ToolOutcome> {
    const find = async () => this.#options.hostTools.get(name);
    const scope = this.#scopeFor(context.runId, context.scope);
    return invokeNamed(find, name, argsText, { ...context, scope }, timeoutMs);
  }

  #scopeFor(runId: string, scope: ToolScope): ToolScope {
    return withOwnResults(scope, resultsFolderOf(this.#options.resultsDir, runId));
  }

  tools(): ReadonlyMap<string, ToolDefinition> {
    return this.#options.tools;
  }

  /** One file a result, below a folder named after its run; never overwritten, since a frame happens once. */
  async keep(runId: string, frame: string, text: string): Promise<string> {
    const folder = resultsFolderOf(this.#options.resultsDir, runId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${frame.replaceAll('/', '-')}.txt`);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  stats(): { readonly actors: number; readonly actorThreads: number; readonly computing: number } {
    const pool = this.#actors?.stats() ?? { actors: 0, threads: 0 };
    return {
      actors: pool.actors,
      actorThreads: pool.threads,
      computing: this.#compute?.stats().running ?? 0,
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([
      this.#actors?.close(),
      this.#compute?.close(),
      this.#options.shells.endAll(),
    ]);
    await this.#model.close();
  }

  /** Started with the first job: a host whose agents never compute pays nothing for it. */
  #computePool(): ComputePool {
    this.#compute ??= openComputePool({
      entry: threadEntry('compute'),
      threads: this.#options.computeThreads,
      queueMax: COMPUTE_QUEUE_MAX,
      resourceLimits: COMPUTE_HEAP,
      clock: this.clock,
    });
    return this.#compute;
  }

  #startModel(): ServiceThread {
    const model = openServiceThread({
      entry: threadEntry('model'),
      name: 'model',
      data: { providers: this.#options.providers },
    });
    void model.exited.then((exit) => this.#modelDied(describeExit(exit)));
    return model;
  }

  #modelPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#model.port.postMessage({ kind: 'attach', port: port1 }, [port1]);
    return port2;
  }

  /** I1. */
  #modelDied(detail: string): void {
    if (this.#closing) return;
    this.#options.onThreadLost('model', detail);
    const judged = judgeRestart(this.#modelDeaths, RESTARTS, this.clock.now());
    if (judged.type === 'give-up') return;
    this.#modelDeaths = judged.times;
    this.#model = this.#startModel();
    const attach = this.#actors?.control('attachModel', () => {
      const port = this.#modelPort();
      return { args: [port], transfer: [port] };
    });
    attach?.catch((thrown: unknown) => this.#options.onThreadLost('model', messageOf(thrown)));
  }
}
