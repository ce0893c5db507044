// All runs of this host: who is whose parent, who may launch whom, how many each root has launched. It owns the
// supervisors and the count of launches of each tree.
// I1  A root's launches are reserved when a call is judged, so eight calls of one answer cannot pass a limit of one; what
//     then does not begin is given back.
// I2  A run is forgotten once its parent has its outcome, a root once its end is durable: ended runs leave nothing behind.
import { Fault } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentBrief } from './core/agent-protocol.ts';
import { independentWords, refused } from './core/call-arguments.ts';
import { type AgentConfig, DEFAULT_RUNTIME_PROFILE, type ResolvedConfig } from './core/config.ts';
import { agentsSpec, delegateSpec, spawnSubagentSpec } from './core/delegate-call.ts';
import { eventId } from './core/event.ts';
import {
  type Caller,
  type DelegationTarget,
  depthRefusal,
  findTarget,
  judgeDelegation,
  type RosterEntry,
  reachableTargets,
  roster,
} from './core/gate.ts';
import { SUBMIT_REVIEW, submitReviewSpec } from './core/plan-review.ts';
import { planSpecTool } from './core/plan-spec.ts';
import type { CallVerdict } from './core/run-event.ts';
import { rootOf, rootRunId } from './core/run-id.ts';
import type { RunOrigin, RunSpec, SecurityContext } from './core/run-spec.ts';
import type { ChildState } from './core/run-state.ts';
import type { ToolDefinition, ToolOutcome, ToolScope, ToolSpec } from './core/tool.ts';
import type { EnginePort } from './engine.ts';
import { orderOf } from './launch-order.ts';
import { RunSupervisor } from './run-supervisor.ts';
import { RunTemplates } from './run-templates.ts';

export interface RootRequest {
  readonly agent: AgentConfig;
  readonly raw: boolean;
  readonly prompt: string;
  readonly origin: Extract<RunOrigin, 'user' | 'cron'>;
  readonly security: SecurityContext;
  readonly project: string | null;
  readonly workspaceDir: string;
  readonly maxTurns: number | null;
  /** Already called off: the run is recorded and ends as cancelled without a request (SPEC N2). */
  readonly calledOff: string | null;
}

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
  /** Definitions that roots were started with inline, by root. */
  readonly #inline = new Map<string, AgentConfig>();
  readonly #templates = new RunTemplates();
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
    this.#launches.set(runId, 0);
    if (request.raw) this.#inline.set(runId, request.agent);
    const supervisor = this.#supervise(runId, null, null);
    supervisor.start(spec, request.calledOff);
    supervisor.durableEnd().then(
      () => this.forget(runId),
      () => this.forget(runId),
    );
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
      agent: this.#definitionOf(spec, child),
      raw: spec.raw && child.kind === 'subagent',
      origin: child.kind,
      prompt: order.prompt,
      rootRunId: spec.root_run_id,
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

  forget(runId: string): void {
    this.#supervisors.delete(runId);
    this.#launches.delete(runId);
    this.#inline.delete(runId);
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
    const judged = judgeDelegation(this.#config, this.#callerOf(spec));
    if (!judged.allowed) return refused('delegation_forbidden', judged.words);
    if (spec.depth >= spec.depth_max) {
      return refused('depth_limit', depthRefusal(spec.depth, spec.depth_max));
    }
    if (!spec.tools.includes(tool)) {
      return refused(
        'tool_not_allowed',
        `Tool not available to agent '${spec.agent_id}': ${tool}. Its risk profile "${spec.risk_profile}" excludes it.`,
      );
    }
    return null;
  }

  findTarget(spec: RunSpec, asked: string): DelegationTarget {
    return findTarget(this.#config, this.#callerOf(spec), spec.project, asked);
  }

  /** What a run's actor begins with; the same object for runs that begin alike. */
  briefOf(spec: RunSpec): AgentBrief {
    const known = this.#briefs.get(spec.scope);
    if (known !== undefined) return known;
    const brief: AgentBrief = {
      agentId: spec.agent_id,
      system: spec.system_prompt,
      model: spec.model,
      tools: spec.agentic ? this.#toolSpecs(spec) : [],
      scope: spec.scope,
    };
    this.#briefs.set(spec.scope, brief);
    return brief;
  }

  /** What a run's model is offered. */
  #toolSpecs(spec: RunSpec): ToolSpec[] {
    const targets = () =>
      reachableTargets(this.#config, this.#callerOf(spec), spec.project).map(
        ({ agent }) => agent.id,
      );
    return spec.tools.flatMap((name): ToolSpec[] => {
      if (name === 'delegate') return [delegateSpec(targets())];
      if (name === 'plan') return [planSpecTool(targets())];
      if (name === SUBMIT_REVIEW) return [submitReviewSpec(spec.review_of)];
      if (name === 'agents') return [agentsSpec()];
      if (name === 'spawn_subagent') return [spawnSubagentSpec()];
      const definition = this.tools().get(name);
      if (definition === undefined) return [];
      const { description, parameters } = definition;
      return [{ name, description, parameters }];
    });
  }

  /** SPEC A1. */
  runControlTool(spec: RunSpec, name: string): ToolOutcome {
    if (name !== 'agents') {
      const error = `no supervisor carries out '${name}'`;
      return { ok: false, errorType: 'unknown_tool', error, effect: 'none' };
    }
    const entries = roster(this.#config, this.#callerOf(spec), spec.project, {
      depth: spec.depth,
      depthMax: spec.depth_max,
    });
    const data = { agents: entries } as unknown as JsonObject;
    return { ok: true, text: JSON.stringify(data, null, 2), data };
  }

  /** Whom a root run of this agent could delegate to. */
  rosterOf(agent: AgentConfig): readonly RosterEntry[] {
    const { runtimeProfile, id, project } = agent;
    const profile =
      this.#config.runtimeProfiles.get(runtimeProfile ?? '') ?? DEFAULT_RUNTIME_PROFILE;
    const at = { depth: 0, depthMax: profile.maxDelegationDepth };
    return judgeDelegation(this.#config, id).allowed ? roster(this.#config, id, project, at) : [];
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

  #supervise(runId: string, parentRunId: string | null, cause: string | null): RunSupervisor {
    const supervisor = new RunSupervisor({
      engine: this.#options.engine,
      tree: this,
      runId,
      parentRunId,
      parentEventId: cause,
      stopGraceMs: this.#config.runtime.stopGraceMs,
    });
    this.#supervisors.set(runId, supervisor);
    return supervisor;
  }

  /** The child's own definition as it is now: for `spawn_subagent` the caller's, also where that was given inline. */
  #definitionOf(spec: RunSpec, child: ChildState): AgentConfig {
    const inline =
      spec.raw && child.kind === 'subagent' ? this.#inline.get(spec.root_run_id) : null;
    // SPEC P12: resolved again at every launch, reachability included.
    const again = child.kind === 'plan' ? this.findTarget(spec, child.agentId) : null;
    if (again?.ok === false) throw new Fault('agent.unusable', again.words);
    if (again?.mode === 'independent') {
      throw new Fault('agent.unusable', independentWords(child.agentId));
    }
    const agent = inline ?? this.#config.agents.get(child.agentId);
    if (agent === undefined) {
      throw new Fault('agent.not-found', `Agent '${child.agentId}' is not configured any more`);
    }
    if (!agent.enabled && child.kind !== 'subagent') {
      throw new Fault('agent.unusable', `Agent '${agent.id}' was disabled before its launch`);
    }
    return agent;
  }

  #callerOf(spec: RunSpec): Caller {
    if (!spec.raw) return spec.agent_id;
    const definition = this.#inline.get(spec.root_run_id);
    return definition === undefined ? { raw: true } : { raw: true, definition };
  }
}
