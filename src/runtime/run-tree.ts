// All runs of this host: who is whose parent, who may launch whom, how many each root has launched. It owns the
// supervisors and the count of launches of each tree.
// I1  A root's launches are reserved when a call is judged, so eight calls of one answer cannot pass a limit of one; what
//     then does not begin is given back.
// I2  A run is forgotten once its parent has its outcome, a root once its end is durable: ended runs leave nothing behind.
//     What a tree has launched is known as long as a background run of it goes on (SPEC D9).
import { Fault } from '../base/fault.ts';
import { BackgroundTasks, backgroundOf } from './background-tasks.ts';
import { recallBudgets } from './budget-recall.ts';
import { Budgets } from './budgets.ts';
import { childRequest } from './child-request.ts';
import type { AgentBrief } from './core/agent-protocol.ts';
import type { AgentConfig, ResolvedConfig } from './core/config.ts';
import { eventId } from './core/event.ts';
import type { DelegationTarget, RosterEntry } from './core/gate.ts';
import { outcomeOf } from './core/outcome.ts';
import type { Step } from './core/parted-machine.ts';
import { suspectsOf } from './core/resumption.ts';
import { runMachine } from './core/run.ts';
import type { RefusedCall } from './core/run-command.ts';
import type { CallVerdict, ChildOutcome, RunEvent } from './core/run-event.ts';
import { rootOf, rootRunId } from './core/run-id.ts';
import { launchesFreed } from './core/run-launches.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ChildState, RunState } from './core/run-state.ts';
import type { ToolDefinition, ToolOutcome, ToolScope } from './core/tool.ts';
import type { EnginePort } from './engine.ts';
import { orderOf, unbegunLaunches } from './launch-order.ts';
import { Quarantine } from './quarantine.ts';
import { RootLaunches } from './root-launches.ts';
import type { RootRequest } from './root-request.ts';
import {
  briefOf,
  delegationRefusal,
  findTargetOf,
  rosterOfRoot,
  runControlTool,
} from './run-offer.ts';
import { RunSupervisor } from './run-supervisor.ts';
import { RunTemplates } from './run-templates.ts';
import { SpecText } from './spec-text.ts';
import { isAwaited, launchesOf, type RecoveredRun } from './unfinished-runs.ts';

export interface TreeOptions {
  readonly engine: EnginePort;
  readonly config: ResolvedConfig;
  /** Paths that no tool may write: config, journal, state directory (SPEC X1). */
  readonly protectedPaths: readonly string[];
  readonly onDelta: (runId: string, turn: number, text: string) => void;
}

export class RunTree {
  readonly tasks: BackgroundTasks;
  readonly budgets: Budgets;
  readonly launches = new RootLaunches(() => this.#config.runtime.maxRunsPerRoot);
  readonly #options: TreeOptions;
  readonly #machine: ReturnType<typeof runMachine>;
  readonly #supervisors = new Map<string, RunSupervisor>();
  /** Outcomes of children that had ended before their host was lost and that their parents have not recorded. */
  readonly #outcomes = new Map<string, ChildOutcome>();
  readonly #quarantine = new Quarantine();
  readonly #templates = new RunTemplates();
  readonly #specText = new SpecText();
  /** By the scope of a run, which runs that begin alike have as the same object. */
  #briefs = new WeakMap<ToolScope, AgentBrief>();
  #config: ResolvedConfig;
  #failure: Fault | null = null;

  constructor(options: TreeOptions) {
    this.#options = options;
    this.#config = options.config;
    this.tasks = new BackgroundTasks(options.engine, (run) => this.isTop(run));
    this.budgets = new Budgets(options.engine.clock);
    this.#machine = runMachine('', this.budgets);
  }

  get config(): ResolvedConfig {
    return this.#config;
  }

  /** From the next launch on; runs that have begun keep what they were resolved to. */
  reconfigure(config: ResolvedConfig): void {
    this.#config = config;
    this.#briefs = new WeakMap();
  }

  find(runId: string): RunSupervisor | undefined {
    return this.#supervisors.get(runId);
  }

  /** Supervisors of runs that have not been forgotten, parents before children. */
  live(): readonly RunSupervisor[] {
    return [...this.#supervisors.values()];
  }

  tools(): ReadonlyMap<string, ToolDefinition> {
    return this.#options.engine.tools();
  }

  startRoot(request: RootRequest): RunSupervisor {
    if (this.#failure !== null) throw this.#failure;
    const { engine, protectedPaths } = this.#options;
    this.budgets.admitRoot(this.#config.projects, request.project ?? request.agent.project);
    const runId = rootRunId(engine.random.id());
    const prefix = request.origin === 'cron' ? 'cron' : 'run';
    const spec = this.#templates.resolve(this.#config, this.tools(), {
      ...request,
      rootRunId: runId,
      parent: null,
      reviewOf: [],
      sessionKey: `${prefix}-${engine.random.uuid()}`,
      startedAtMs: engine.clock.now(),
      protectedPaths,
    });
    this.budgets.open(runId, spec, null);
    const supervisor = this.#supervise(runId, null, null);
    supervisor.start(spec, request.calledOff);
    return supervisor;
  }

  /** SPEC G7. @throws Fault `agent.unusable` or `agent.not-found` if the target cannot be resolved any more. */
  launchChild(parent: RunSupervisor, child: ChildState): RunSupervisor {
    if (this.#failure !== null) throw this.#failure;
    const { engine, protectedPaths } = this.#options;
    const { spec } = parent.state;
    const order = orderOf(parent.state, child);
    if (spec === null || order === null) {
      throw new Fault('defect', `run ${parent.runId} launches a child that no call asked for`);
    }
    const resolved = this.budgets.launching(parent.runId, order.isRework, () => {
      if (order.isRework) this.launches.reserveRework(parent.runId);
      const request = childRequest(this, spec, child, order, {
        sessionKey: `${child.kind}-${engine.random.uuid()}`,
        startedAtMs: engine.clock.now(),
        protectedPaths,
      });
      return this.#templates.resolve(this.#config, this.tools(), request);
    });
    const background = backgroundOf(child, spec);
    const childSpec = background === null ? resolved : { ...resolved, background };
    this.budgets.open(child.runId, childSpec, parent.runId);
    const cause = eventId(parent.runId, child.startedAt);
    const supervisor = this.#supervise(child.runId, parent.runId, cause);
    supervisor.start(childSpec);
    this.tasks.began(supervisor, childSpec);
    return supervisor;
  }

  /**
   * Takes up runs again that a lost host left unfinished, under their old ids (SPEC J5): parents find their children
   * again, and what had ended is not repeated.
   * @param runs every run of the trees to take up, ended ones too, parents before children.
   * @returns the roots that go on, and background runs whose owners have ended.
   */
  recover(runs: readonly RecoveredRun[]): readonly RunSupervisor[] {
    const states = new Map(runs.map(({ state }) => [state.runId, state]));
    const suspects = suspectsOf([...states.values()]);
    this.budgets.recover(runs);
    const taken: RunSupervisor[] = [];
    for (const { state, parentRunId, parentEventId } of runs) {
      const { runId } = state;
      this.launches.recover(runId, launchesOf(state));
      if (state.ended === null) {
        taken.push(this.#supervise(runId, parentRunId, parentEventId, state));
      } else if (isAwaited(runId, states.get(parentRunId ?? ''))) {
        this.#outcomes.set(runId, outcomeOf(state));
      }
    }
    this.tasks.recover(runs, (runId) => this.find(runId));
    for (const supervisor of taken) {
      const suspect = suspects.has(supervisor.runId);
      if (suspect && supervisor.isOnLastChance) this.#quarantine.add(supervisor);
      else supervisor.resume(suspect);
    }
    this.#quarantine.next();
    return taken.filter((supervisor) => this.isTop(supervisor));
  }

  /** Does a run of this tree go on here? */
  carries(root: string): boolean {
    return this.#supervisors.has(root) || this.tasks.isLive(root);
  }

  /** Does no run wait for this one? A root, or a background run that its owner left behind (SPEC D9). */
  isTop({ parentRunId }: RunSupervisor): boolean {
    return parentRunId === null || this.#supervisors.get(parentRunId)?.hasEnded !== false;
  }

  /** A supervisor has recorded something. */
  recorded(run: RunSupervisor, steps: readonly Step<RunState, RunEvent>[], atMs: number): void {
    this.#quarantine.recorded(run.runId);
    for (const { before, event } of steps) {
      this.tasks.recorded(before, event);
      this.budgets.recorded(run, before, event, atMs);
      this.launches.release(run.runId, launchesFreed(before, event));
    }
  }

  /** What a run that is taken up again was promised and did not begin. @returns the calls that get nothing now. */
  regain(state: RunState): readonly RefusedCall[] {
    const unbegun = unbegunLaunches(state, (child) => this.recovered(child) !== undefined);
    return this.budgets.regain(state, unbegun);
  }

  /** Budgets go on from what the journal holds; to be waited for before anything starts (SPEC X2). */
  recallBudgets(): Promise<void> {
    const { journal, clock } = this.#options.engine;
    return recallBudgets(this.budgets, journal, clock.now());
  }

  /** A child that began before its host was lost: still running, or how it ended. */
  recovered(runId: string): RunSupervisor | ChildOutcome | undefined {
    return this.#supervisors.get(runId) ?? this.#outcomes.get(runId);
  }

  forget(runId: string): void {
    this.#supervisors.delete(runId);
    this.#outcomes.delete(runId);
    this.budgets.forget(runId);
    const root = rootOf(runId);
    if (this.carries(root)) return;
    this.launches.forget(root);
    this.tasks.forget(root);
    this.budgets.forgetTree(root);
  }

  /** SPEC G2, G3: why this run may not use this tool of delegation, `null` where it may. */
  delegationRefusal(spec: RunSpec, tool: string): Extract<CallVerdict, { kind: 'refused' }> | null {
    return delegationRefusal(this.#config, spec, tool);
  }

  findTarget(spec: RunSpec, asked: string): DelegationTarget {
    return findTargetOf(this.#config, spec, asked);
  }

  /** The data of a run's `run.started` as JSON. */
  specText(spec: RunSpec): string {
    return this.#specText.of(spec);
  }

  newTaskId(): string {
    return this.#options.engine.random.uuid();
  }

  /** What a run's actor begins with; the same object for runs that begin alike. */
  briefOf(spec: RunSpec): AgentBrief {
    const known = this.#briefs.get(spec.scope);
    if (known !== undefined) return known;
    const brief = briefOf(this.#config, this.tools(), spec);
    this.#briefs.set(spec.scope, brief);
    return brief;
  }

  runControlTool(spec: RunSpec, name: string): ToolOutcome {
    return runControlTool(this.#config, spec, name);
  }

  /** Whom a root run of this agent could delegate to. */
  rosterOf(agent: AgentConfig): readonly RosterEntry[] {
    return rosterOfRoot(this.#config, agent);
  }

  heardDelta(runId: string, turn: number, text: string): void {
    this.#options.onDelta(runId, turn, text);
  }

  /** The journal failed: no run can go on (SPEC J4). */
  perish(fault: Fault): void {
    this.#failure = fault;
    for (const supervisor of this.live()) {
      supervisor.perish(fault);
      this.forget(supervisor.runId); // I2: no parent will have its outcome
    }
  }

  #supervise(
    runId: string,
    parentRunId: string | null,
    cause: string | null,
    state?: RunState,
  ): RunSupervisor {
    const supervisor = new RunSupervisor({
      engine: this.#options.engine,
      tree: this,
      machine: this.#machine,
      runId,
      parentRunId,
      parentEventId: cause,
      ...(state === undefined ? {} : { state }),
      stopGraceMs: this.#config.runtime.stopGraceMs,
    });
    this.#supervisors.set(runId, supervisor);
    return supervisor;
  }
}
