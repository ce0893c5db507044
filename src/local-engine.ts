// The actor engine of a local host: worker threads, a model thread, a compute pool, SQLite. It owns every thread.
// I1  A thread that dies is replaced within its restart intensity; what it carried is reported, never silently retried.
// I2  `close` ends every thread and resolves only when they are gone.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { openActorPool } from './actors/actor-pool.ts';
import { openComputePool } from './actors/compute-pool.ts';
import { describeExit } from './actors/core/exit.ts';
import { judgeRestart, type RestartIntensity } from './actors/core/restart.ts';
import type { ComputePool } from './actors/pool.ts';
import { openServiceThread, type ServiceThread } from './actors/service-thread.ts';
import { type Actors, openAgentIn } from './agent-link.ts';
import type { Clock } from './base/clock.ts';
import { Fault, messageOf } from './base/fault.ts';
import { invariant } from './base/invariant.ts';
import type { Random } from './base/random.ts';
import { computeOutcome } from './compute-outcome.ts';
import { IsolatedActors } from './isolated-actors.ts';
import type { OwnTools } from './own-tools.ts';
import type { AgentBrief, ComputeJob, FromAgent, ToAgent } from './runtime/core/agent-protocol.ts';
import type { ProviderEntry } from './runtime/core/model.ts';
import { resultsFolderOf, withOwnResults } from './runtime/core/own-results.ts';
import type { TaskRecord } from './runtime/core/task-record.ts';
import type { ToolContext, ToolDefinition, ToolOutcome, ToolScope } from './runtime/core/tool.ts';
import type { AgentLink, AgentListener, EnginePort } from './runtime/engine.ts';
import type { Journal } from './runtime/journal.ts';
import { writeTaskFile } from './task-file.ts';
import { threadEntry } from './thread-entry.ts';
import type { ActorHostSetup } from './threads/actor-host.ts';
import { invokeNamed } from './tools/invoke-named.ts';

/** How often the model thread may be replaced before troupe gives up on it. */
const MODEL_RESTARTS = { restartsMax: 3, periodMs: 60_000 };

/** How often threads that runs share may be replaced; a run that keeps killing its own is soon on one by itself (SPEC J7). */
const HOST_RESTARTS = { restartsMax: 30, periodMs: 60_000 };

/** Jobs that may wait for a compute thread; one more is refused (SPEC R11: no growth unbounded). */
export const COMPUTE_QUEUE_MAX = 4096;

/**
 * Megabytes of young heap of threads whose runs mostly wait: by default one takes ten times as much once it was busy, and
 * keeps it.
 */
const WAITING_HEAP = { maxYoungGenerationSizeMb: 8 };

/** Milliseconds after which a cancelled tool that only reads and does not look up from its work loses its thread. */
const READER_ANSWER_MS = 3;

/** Megabytes of young and old heap that one compute thread may use before V8 ends it. */
const COMPUTE_HEAP = { maxOldGenerationSizeMb: 2048 };

export interface LocalEngineOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Opening; the threads start meanwhile. */
  readonly journal: Promise<Journal>;
  readonly resultsDir: string;
  readonly providers: readonly ProviderEntry[];
  /** Those of them that agents name. */
  readonly namedProviders: readonly string[];
  readonly actorThreads: number;
  readonly computeThreads: number;
  readonly tools: OwnTools;
  readonly approve: EnginePort['approve'];
  /** A thread died: for the log. */
  readonly onThreadLost: (what: string, detail: string) => void;
  /** The result file of a background task could not be written: for the log. */
  readonly onTaskUnwritten: (words: string) => void;
}

/** Starts the threads. @throws Fault `actor.lost` or `actor.not-ready` if they do not come up; what `journal` throws. */
export async function openLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const engine = new LocalEngine(options);
  const [journal, threads] = await Promise.allSettled([options.journal, engine.start()]);
  if (journal.status === 'fulfilled' && threads.status === 'fulfilled') {
    engine.adopt(journal.value);
    return engine;
  }
  await engine.close();
  throw journal.status === 'rejected' ? journal.reason : (threads as PromiseRejectedResult).reason;
}

export class LocalEngine implements EnginePort {
  readonly clock: Clock;
  readonly random: Random;
  readonly approve: EnginePort['approve'];
  readonly #options: LocalEngineOptions;
  readonly #modules: Record<string, { url: string; exportName: string }> = {};
  #actors: Actors | null = null;
  readonly #isolated = new IsolatedActors(() =>
    this.#openActors(1, { ...HOST_RESTARTS, restartsMax: 0 }),
  );
  #compute: ComputePool | null = null;
  #model: ServiceThread;
  #modelDeaths: readonly number[] = [];
  #closing = false;
  #journal: Journal | null = null;

  constructor(options: LocalEngineOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.random = options.random;
    this.approve = options.approve;
    for (const [name, { module, place }] of options.tools.definitions) {
      if (module !== undefined && place === 'actor') this.#modules[name] = { ...module };
    }
    this.#model = this.#startModel();
  }

  get journal(): Journal {
    invariant(this.#journal !== null, 'an engine that is open has its journal');
    return this.#journal;
  }

  adopt(journal: Journal): void {
    this.#journal = journal;
  }

  async start(): Promise<void> {
    this.#actors = await this.#openActors(this.#options.actorThreads, HOST_RESTARTS);
  }

  #openActors(threads: number, restarts: RestartIntensity): Promise<Actors> {
    return openActorPool<null, ToAgent, FromAgent>({
      entry: threadEntry('actor-host'),
      threads,
      setup: () => {
        const modelPort = this.#modelPort();
        const { resultsDir } = this.#options;
        const data: ActorHostSetup = { modelPort, resultsDir, modules: this.#modules };
        return { data, transfer: [modelPort] };
      },
      restarts,
      clock: this.clock,
      resourceLimits: WAITING_HEAP,
    });
  }

  openAgent(
    runId: string,
    brief: AgentBrief,
    listener: AgentListener,
    isolated: boolean,
  ): AgentLink {
    if (this.#actors === null) throw new Fault('pool.closed', 'the actor pool is not open');
    const open = { runId, brief, listener, onLost: this.#options.onThreadLost };
    return (isolated ? this.#isolated.open(open) : null) ?? openAgentIn(this.#actors, open);
  }

  async compute(job: ComputeJob, signal: AbortSignal): Promise<ToolOutcome> {
    let partial = '';
    const reads = this.#options.tools.definitions.get(job.name)?.effect === 'read';
    const scoped = { ...job, scope: this.#scopeFor(job.runId, job.scope) };
    const outcome = await this.#computePool().run(scoped, {
      signal,
      timeoutMs: job.timeoutMs,
      answerMs: reads ? READER_ANSWER_MS : undefined,
      onProgress: (text) => {
        partial = String(text);
      },
    });
    if (outcome.type === 'lost') this.#options.onThreadLost('compute', outcome.detail);
    return computeOutcome(job, outcome, reads, partial);
  }

  runHostTool(
    name: string,
    argsText: string,
    context: ToolContext<AbortSignal>,
    timeoutMs: number,
  ): Promise<ToolOutcome> {
    const find = async () => this.#options.tools.hostTools.get(name);
    const scope = this.#scopeFor(context.runId, context.scope);
    return invokeNamed(find, name, argsText, { ...context, scope }, timeoutMs);
  }

  #scopeFor(runId: string, scope: ToolScope): ToolScope {
    return withOwnResults(scope, resultsFolderOf(this.#options.resultsDir, runId));
  }

  tools(): ReadonlyMap<string, ToolDefinition> {
    return this.#options.tools.definitions;
  }

  /** One file a result, below a folder named after its run; a frame that happens again after a crash writes it again. */
  async keep(runId: string, frame: string, text: string): Promise<string> {
    const folder = resultsFolderOf(this.#options.resultsDir, runId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${frame.replaceAll('/', '-')}.txt`);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  async exportTask(resultsDir: string, record: TaskRecord, how: 'make' | 'amend'): Promise<void> {
    const fault = await writeTaskFile(resultsDir, record, how).catch(messageOf);
    if (fault === null) return;
    const { task_id: taskId } = record;
    this.#options.onTaskUnwritten(`the result file of task ${taskId} was not written: ${fault}`);
  }

  stats(): { readonly actors: number; readonly actorThreads: number; readonly computing: number } {
    const pool = this.#actors?.stats() ?? { actors: 0, threads: 0 };
    return {
      actors: pool.actors + this.#isolated.size,
      actorThreads: pool.threads,
      computing: this.#compute?.stats().running ?? 0,
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([
      this.#actors?.close(),
      this.#isolated.close(),
      this.#compute?.close(),
      this.#options.tools.close(),
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
      data: { providers: this.#options.providers, warm: this.#options.namedProviders },
      resourceLimits: WAITING_HEAP,
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
    const judged = judgeRestart(this.#modelDeaths, MODEL_RESTARTS, this.clock.now());
    if (judged.type === 'give-up') return;
    this.#modelDeaths = judged.times;
    this.#model = this.#startModel();
    const attach = async (pool: Actors | null) => {
      await pool?.control('attachModel', () => {
        const port = this.#modelPort();
        return { args: [port], transfer: [port] };
      });
    };
    Promise.all([
      attach(this.#actors),
      ...this.#isolated.pools().map((pool) => pool.then(attach)),
    ]).catch((thrown: unknown) => this.#options.onThreadLost('model', messageOf(thrown)));
  }
}
