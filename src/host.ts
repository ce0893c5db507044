// The composition root of a local host: the one place that names concrete journals, pools and tools. A `Troupe` owns its
// state directory, its threads and its runs, and gives all of them back on `close`.
import { EventEmitter } from 'eventemitter3';
import { ApprovalDesk } from './approval-desk.ts';
import { Fault } from './base/fault.ts';
import { cancelOnAbort } from './cancel-on-abort.ts';
import { serveControl } from './control.ts';
import { CronSchedule } from './cron-schedule.ts';
import { drained, leftBelow } from './drained.ts';
import { type ApprovalDecision, giveApproval } from './give-approval.ts';
import { openHostEngine } from './host-engine.ts';
import { openHostState } from './host-state.ts';
import type { LocalEngine } from './local-engine.ts';
import { lostRuns } from './lost-runs.ts';
import { checkOpenOptions } from './open-options.ts';
import { openTools } from './own-tools.ts';
import type { Run } from './run.ts';
import { runHandle } from './run-handle.ts';
import type { AgentConfig, ResolvedConfig } from './runtime/core/config.ts';
import { type CronJob, type CronOrigin, jobOf, originOf } from './runtime/core/cron.ts';
import type { RosterEntry } from './runtime/core/gate.ts';
import type { ApprovalRequest } from './runtime/engine.ts';
import type { Journal } from './runtime/journal.ts';
import { loadConfig } from './runtime/load-config.ts';
import { NoteReceipts } from './runtime/note-receipts.ts';
import type { RunSupervisor } from './runtime/run-supervisor.ts';
import { RunTree } from './runtime/run-tree.ts';
import { noSuchRun, type RunSummary, type RunTreeView, RunViews } from './runtime/run-views.ts';
import { type StateDir, stateLayout } from './runtime/state-dir.ts';
import { type ConfigSource, chooseAgent, rootRequest, type StartRequest } from './start-request.ts';
import type { TroupeEvents, TroupeOptions } from './troupe-options.ts';

export type { TroupeEvents, TroupeOptions };

export class Troupe extends EventEmitter<TroupeEvents> {
  readonly #source: ConfigSource;
  readonly #state: StateDir;
  readonly #engine: LocalEngine;
  readonly #desk: ApprovalDesk;
  readonly #tree: RunTree;
  readonly #receipts: NoteReceipts;
  readonly #cron: CronSchedule;
  #control: { close(): Promise<void> } | null = null;
  #closed: Promise<void> | null = null;
  /** One at a time: two that read the same journal would take up the same runs. */
  #resuming: Promise<readonly Run[]> = Promise.resolve([]);

  /**
   * Opens a host on a state directory and starts its threads.
   * @throws Fault `config.invalid` (every fault at once), `state.locked`, `journal.corrupt`, `journal.unwritable`,
   * `tool.invalid`, `sqlite.absent`, `actor.not-ready`.
   */
  static async open(options: TroupeOptions = {}): Promise<Troupe> {
    checkOpenOptions(options);
    const source = options.config ?? 'troupe.toml';
    const agents = options.agents ?? {};
    const config = loadConfig(source, { agents });
    const stateDir = options.stateDir ?? '.troupe';
    const tools = await openTools(options, stateLayout(stateDir));
    const { state, journal } = openHostState(stateDir, config.journal.sync);
    let engine: LocalEngine | null = null;
    let troupe: Troupe | null = null;
    try {
      const desk = new ApprovalDesk(options.onApproval ?? null, options.approvals === 'wait');
      engine = await openHostEngine(options, {
        ...{ config, tools, journal, resultsDir: state.resultsDir },
        approve: (request, told) => desk.ask(request, told),
      });
      troupe = new Troupe({ config, source, agents }, state, engine, desk, options);
      if (state.wasLeft) await tools.endOrphans();
      await troupe.#tree.recallBudgets();
      await troupe.#listen(options.onLog);
      if (options.resume === true) await troupe.resume();
      if (options.cron === true) await troupe.#cron.begin();
      return troupe;
    } catch (thrown) {
      await troupe?.close({ cancel: 'it could not be opened' });
      await engine?.close();
      await journal.then((opened) => opened.close()).catch(() => undefined);
      state.lock.release();
      throw thrown;
    }
  }

  private constructor(
    source: ConfigSource,
    state: StateDir,
    engine: LocalEngine,
    desk: ApprovalDesk,
    options: TroupeOptions,
  ) {
    super();
    this.#source = source;
    this.#state = state;
    this.#engine = engine;
    this.#desk = desk;
    desk.tell(this);
    this.#tree = new RunTree({
      engine,
      config: source.config,
      protectedPaths: [state.path, ...source.config.sources],
      onDelta: (runId, turn, text) => this.emit('delta', { runId, turn, text }),
    });
    this.#receipts = new NoteReceipts(engine.journal);
    this.#cron = new CronSchedule({
      clock: engine.clock,
      jobs: source.config.cron,
      journal: engine.journal,
      start: (job, origin) => this.#startJob(job, origin),
      live: () => this.#tree.live(),
      log: (level, text, fields) => options.onLog?.(level, text, fields),
    });
    engine.journal.subscribe((events) => {
      if (this.listenerCount('event') > 0) for (const event of events) this.emit('event', event);
    });
    engine.journal.onFailure((fault) => {
      options.onLog?.('error', fault.message);
      this.#tree.perish(fault);
    });
  }

  get config(): ResolvedConfig {
    return this.#source.config;
  }

  /** Where this host keeps its state, absolute. */
  get stateDir(): string {
    return this.#state.path;
  }

  /** Where it may be spoken to by other processes of the same user. */
  get socketFile(): string {
    return this.#state.socketFile;
  }

  get journal(): Pick<Journal, 'read' | 'lastSeq' | 'subscribe' | 'flush'> {
    return this.#engine.journal;
  }

  /**
   * Starts a root run. It is running, though perhaps not yet on the disk, when this resolves.
   * @throws Fault `agent.not-found`, `agent.unusable`, `argument.invalid`, `host.closed`, `journal.unwritable`.
   */
  async start(request: StartRequest): Promise<Run> {
    if (this.#closed !== null) throw closed();
    const asked = rootRequest(this.#source, request, this.#state.path);
    const supervisor = this.#tree.startRoot(asked);
    cancelOnAbort(request.signal, supervisor);
    return this.#handle(supervisor);
  }

  /**
   * Starts a job of `[[cron]]` now, enabled or not, whatever its schedule says; its times stay as they are.
   * @throws Fault `argument.invalid` (no such job), and as `start`.
   */
  async startCron(jobId: string, signal?: AbortSignal): Promise<Run> {
    if (this.#closed !== null) throw closed();
    const job = jobOf(this.config, jobId);
    const supervisor = this.#startJob(job, originOf(job, null), signal);
    cancelOnAbort(signal, supervisor);
    return this.#handle(supervisor);
  }

  #startJob(job: CronJob, cron: CronOrigin, signal?: AbortSignal): RunSupervisor {
    const asked = { agent: job.agentId, prompt: job.prompt, ...(signal && { signal }) };
    const request = rootRequest(this.#source, asked, this.#state.path);
    return this.#tree.startRoot({ ...request, origin: 'cron', cron });
  }

  /**
   * Takes up every run again that an earlier host left unfinished, under its old ids: finished calls, answers and
   * children are not repeated, and an effectful call that was in flight is reported to its model as uncertain. A run
   * under whose work its host has ended again and again ends as `poisoned` instead.
   * @returns the roots that go on, and background runs whose owners have ended; none the second time.
   * @throws Fault `host.closed`, `journal.corrupt`.
   */
  async resume(): Promise<readonly Run[]> {
    if (this.#closed !== null) throw closed();
    const before = this.#resuming;
    const resuming = before.then(async () => {
      const { wasLeft, journalFile } = this.#state;
      const lost = await lostRuns(this.#tree, this.#engine.journal, wasLeft ? journalFile : null);
      return this.#tree.recover(lost).map((root) => this.#handle(root));
    });
    this.#resuming = resuming.catch(() => []);
    return resuming;
  }

  /** A run that has not ended, of this host. `undefined` for any other id: its story is in the journal. */
  run(runId: string): Run | undefined {
    const supervisor = this.#tree.find(runId);
    return supervisor === undefined ? undefined : this.#handle(supervisor);
  }

  /** Background runs below this one that go on, although the run that started them has ended (SPEC D9). */
  backgroundRuns(runId: string): readonly Run[] {
    return leftBelow(this.#tree, runId).map((run) => this.#handle(run));
  }

  /** Every run in the journal, in the order in which they began. */
  async runs(): Promise<readonly RunSummary[]> {
    return (await this.#views({})).summaries();
  }

  /** A run and everything below it, as the journal has it. @throws Fault `run.not-found`. */
  async tree(runId: string): Promise<RunTreeView> {
    const view = (await this.#views({ subtreeOf: runId })).tree(runId);
    if (view === undefined) throw noSuchRun(runId);
    return view;
  }

  /** The calls of this host that wait for a person, in the order in which they asked. */
  approvals(): readonly ApprovalRequest[] {
    return this.#desk.pending();
  }

  /**
   * A person's answer to one of them, by its `id`; resolves once it is on the disk. The first answer counts, and one that
   * comes too late starts nothing.
   * @throws Fault `approval.not-found`, `approval.settled`, `run.ended`, `argument.invalid`, `journal.unwritable`.
   */
  approve(id: string, decision: ApprovalDecision): Promise<void> {
    return giveApproval(this.#desk, this.#engine.journal, id, decision);
  }

  /** The configured agents, or those that `from` may delegate to, as the tool `agents` shows them (SPEC A1). */
  agents(): readonly AgentConfig[] {
    return [...this.#source.config.agents.values()];
  }

  agentsFrom(agentId: string): readonly RosterEntry[] {
    return this.#tree.rosterOf(chooseAgent(this.#source, { agent: agentId }).agent);
  }

  /** What is alive here: for operators, and for tests that nothing was left behind. */
  stats(): ReturnType<LocalEngine['stats']> & { readonly runs: number } {
    return { ...this.#engine.stats(), runs: this.#tree.live().length };
  }

  /**
   * Takes no more runs, waits until those that are running have ended, writes everything and stops every thread. With
   * `cancel` the running ones are cancelled first, with that reason. The second call returns the first one's promise.
   */
  close(options: { readonly cancel?: string } = {}): Promise<void> {
    if (options.cancel !== undefined) this.#cancelAll(options.cancel);
    this.#cron.stop();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #cancelAll(reason: string): void {
    for (const supervisor of this.#tree.live()) {
      if (this.#tree.isTop(supervisor)) supervisor.cancel(reason, 'user');
    }
  }

  async #close(): Promise<void> {
    await drained(this.#tree);
    await this.#control?.close();
    this.#receipts.close(closed());
    await this.#engine.close();
    await this.#engine.journal.close().catch(() => undefined);
    this.removeAllListeners();
    this.#state.lock.release();
  }

  /** SPEC K2. */
  async #listen(onLog: TroupeOptions['onLog']): Promise<void> {
    this.#control = await serveControl({
      socketFile: this.#state.socketFile,
      journal: this.#engine.journal,
      run: (runId) => this.run(runId),
      backgroundRuns: (runId) => this.backgroundRuns(runId),
      liveRunIds: () => this.#tree.live().map((supervisor) => supervisor.runId),
      stats: () => this.stats(),
      approvals: () => this.approvals(),
      approve: (id, decision) => this.approve(id, decision),
      onUnreachable: (text) => onLog?.('warn', text),
    });
  }

  #handle(supervisor: RunSupervisor): Run {
    const { journal, random } = this.#engine;
    return runHandle(supervisor, { journal, random, receipts: this.#receipts });
  }

  async #views(filter: { subtreeOf?: string }): Promise<RunViews> {
    const views = new RunViews();
    for await (const event of this.#engine.journal.read(filter)) views.see(event);
    return views;
  }
}

function closed(): Fault {
  return new Fault('host.closed', 'this troupe is closed; open another one');
}
