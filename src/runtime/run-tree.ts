// All runs of this host: who is whose parent, who may launch whom, how many each root has launched. It owns the
// supervisors and the count of launches of each tree.
// I1  A root's launches are reserved when a call is judged, so eight calls of one answer cannot pass a limit of one; what
//     then does not begin is given back.
// I2  A run is forgotten once its parent has its outcome, a root once its end is durable: ended runs leave nothing behind.
import { Fault } from '../base/fault.ts';
import { definitionOf } from './child-definition.ts';
import type { AgentBrief } from './core/agent-protocol.ts';
import { refused } from './core/call-arguments.ts';
import type { AgentConfig, ResolvedConfig } from './core/config.ts';
import { eventId } from './core/event.ts';
import {
  type DelegationTarget,
  depthRefusal,
  judgeDelegation,
  type RosterEntry,
} from './core/gate.ts';
import { outcomeOf } from './core/outcome.ts';
import { suspectsOf } from './core/resumption.ts';
import { runMachine } from './core/run.ts';
import type { CallVerdict, ChildOutcome } from './core/run-event.ts';
import { rootOf, rootRunId } from './core/run-id.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { ChildState, RunState } from './core/run-state.ts';
import type { ToolDefinition, ToolOutcome, ToolScope } from './core/tool.ts';
import type { EnginePort } from './engine.ts';
import { orderOf } from './launch-order.ts';
import { Quarantine } from './quarantine.ts';
import type { RootRequest } from './root-request.ts';
import { briefOf, callerOf, findTargetOf, rosterOfRoot, runControlTool } from './run-offer.ts';
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
  readonly #options: TreeOptions;
  readonly #supervisors = new Map<string, RunSupervisor>();
  readonly #launches = new Map<string, number>();
  /** Outcomes of children that had ended before their host was lost and that their parents have not recorded. */
  readonly #outcomes = new Map<string, ChildOutcome>();
  readonly #quarantine = new Quarantine();
  readonly #machine = runMachine('');
  readonly #templates = new RunTemplates();
  readonly #specText = new SpecText();
  /** By the scope of a run, which runs that begin alike have as the same object. */
  #briefs = new WeakMap<ToolScope, AgentBrief>();
  #config: ResolvedConfig;
  #failure: Fault | null = null;

  constructor(options: TreeOptions) {
    this.#options = options;
    this.#config = options.config;
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
    if (order.isRework) this.#reserveRework(parent.runId);
    const childSpec = this.#templates.resolve(this.#config, this.tools(), {
      ...definitionOf(this, spec, child, order),
      raw: spec.raw && child.kind === 'subagent',
      origin: child.kind,
      prompt: order.prompt,
      rootRunId: spec.root_run_id,
      cron: null,
      parent: spec,
      project: spec.project,
      security: spec.security,
      sessionKey: `${child.kind}-${engine.random.uuid()}`,
      startedAtMs: engine.clock.now(),
      maxTurns: order.maxTurns,
      reviewOf: order.reviewOf,
      workspaceDir: spec.scope.files[0]?.workspaceDir ?? this.#config.baseDir,
      protectedPaths,
    });
    const cause = eventId(parent.runId, child.startedAt);
    const supervisor = this.#supervise(child.runId, parent.runId, cause);
    supervisor.start(childSpec);
    return supervisor;
  }

  /**
   * Takes up runs again that a lost host left unfinished, under their old ids (SPEC J5): parents find their children
   * again, and what had ended is not repeated.
   * @param runs every run of the trees to take up, ended ones too, parents before children.
   * @returns the roots.
   */
  recover(runs: readonly RecoveredRun[]): readonly RunSupervisor[] {
    const states = new Map(runs.map(({ state }) => [state.runId, state]));
    const suspects = suspectsOf([...states.values()]);
    const taken: RunSupervisor[] = [];
    for (const { state, parentRunId, parentEventId } of runs) {
      const { runId } = state;
      const root = rootOf(runId);
      this.#launches.set(root, (this.#launches.get(root) ?? 0) + launchesOf(state));
      if (state.ended === null) {
        taken.push(this.#supervise(runId, parentRunId, parentEventId, state));
      } else if (isAwaited(runId, states.get(parentRunId ?? ''))) {
        this.#outcomes.set(runId, outcomeOf(state));
      }
    }
    for (const supervisor of taken) {
      const suspect = suspects.has(supervisor.runId);
      if (suspect && supervisor.isOnLastChance) this.#quarantine.add(supervisor);
      else supervisor.resume(suspect);
    }
    this.#quarantine.next();
    return taken.filter((supervisor) => supervisor.parentRunId === null);
  }

  /** A supervisor has recorded something. */
  recorded(runId: string): void {
    this.#quarantine.recorded(runId);
  }

  /** A child that began before its host was lost: still running, or how it ended. */
  recovered(runId: string): RunSupervisor | ChildOutcome | undefined {
    return this.#supervisors.get(runId) ?? this.#outcomes.get(runId);
  }

  forget(runId: string): void {
    this.#supervisors.delete(runId);
    this.#launches.delete(runId);
    this.#outcomes.delete(runId);
  }

  /** I1, SPEC R11. @returns the refusal in words where the tree has launched all it may. */
  reserveLaunch(runId: string, runs = 1): string | null {
    const root = rootOf(runId);
    const launched = this.#launches.get(root) ?? 0;
    const { maxRunsPerRoot } = this.#config.runtime;
    if (launched + runs > maxRunsPerRoot) {
      const wanted = runs === 1 ? '' : `, and ${runs} more were asked for`;
      return `Limit of runs reached: ${root} has launched ${launched} of ${maxRunsPerRoot} runs ([runtime] max_runs_per_root)${wanted}. Finish the work without further delegation.`;
    }
    this.#launches.set(root, launched + runs);
    return null;
  }

  /** I1: reserved, and not to be launched after all. */
  releaseLaunches(runId: string, runs: number): void {
    const root = rootOf(runId);
    const launched = this.#launches.get(root);
    if (launched !== undefined) this.#launches.set(root, launched - runs);
  }

  /** The first run of each task was reserved with its plan; what a reviewer sends back is one more. */
  #reserveRework(runId: string): void {
    const full = this.reserveLaunch(runId);
    if (full !== null) throw new Fault('run.limit', full);
  }

  /** SPEC G2, G3: why this run may not use this tool of delegation, `null` where it may. */
  delegationRefusal(spec: RunSpec, tool: string): Extract<CallVerdict, { kind: 'refused' }> | null {
    const judged = judgeDelegation(this.#config, callerOf(spec));
    if (!judged.allowed) return refused('delegation_forbidden', judged.words);
    if (spec.depth >= spec.depth_max) {
      return refused('depth_limit', depthRefusal(spec.depth, spec.depth_max));
    }
    if (!spec.tools.includes(tool)) {
      return refused(
        'tool_not_allowed',
        `Tool not available to agent '${spec.agent_id}': ${tool}. Its risk profile "${spec.risk_profile}" or the agents above it exclude it.`,
      );
    }
    return null;
  }

  findTarget(spec: RunSpec, asked: string): DelegationTarget {
    return findTargetOf(this.#config, spec, asked);
  }

  /** The data of a run's `run.started` as JSON. */
  specText(spec: RunSpec): string {
    return this.#specText.of(spec);
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
