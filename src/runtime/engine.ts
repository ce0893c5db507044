import type { Clock } from '../base/clock.ts';
import type { FaultWire } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import type { AgentBrief, ComputeJob, FromAgent, ToAgent } from './core/agent-protocol.ts';
import type { TaskRecord } from './core/task-record.ts';
import type { ToolContext, ToolDefinition, ToolOutcome } from './core/tool.ts';
import type { Journal } from './journal.ts';

/** A run's actor as its supervisor holds it. */
export interface AgentLink {
  tell(body: ToAgent): void;
  /** Ends the actor; nothing is heard from it after this call. */
  release(): void;
}

export interface AgentListener {
  receive(body: FromAgent): void;
  /** The actor is gone and will not answer; never called after `release`. */
  lost(fault: FaultWire): void;
}

export interface ApprovalRequest {
  /** What answers name it by: the id of its `approval.requested` event, unique in the journal, the same after a restart. */
  readonly id: string;
  readonly runId: string;
  readonly agentId: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Milliseconds since the epoch at which it is denied if nobody has answered (SPEC R11). */
  readonly expiresAtMs: number;
}

export interface ApprovalAnswer {
  readonly granted: boolean;
  readonly by: string;
  readonly why: string;
}

/**
 * Everything a supervisor needs from the world. The actor engine (threads, SQLite) implements it for a local host; the
 * simulation implements it with a virtual clock; a durable-execution engine would implement it with its activities.
 */
export interface EnginePort {
  readonly clock: Clock;
  readonly random: Random;
  readonly journal: Journal;
  /** `isolated`: on a thread that no other run shares (SPEC J7). */
  openAgent(
    runId: string,
    brief: AgentBrief,
    listener: AgentListener,
    isolated: boolean,
  ): AgentLink;
  /** Runs a call on the compute pool. Never rejects; an aborted call settles within the pool's grace. */
  compute(job: ComputeJob, signal: AbortSignal): Promise<ToolOutcome>;
  /** Runs a tool on the host's thread. Never rejects. */
  runHostTool(
    name: string,
    argsText: string,
    context: ToolContext<AbortSignal>,
    timeoutMs: number,
  ): Promise<ToolOutcome>;
  /** Every tool there is, before any policy, without the control tools. */
  tools(): ReadonlyMap<string, ToolDefinition>;
  /** Keeps a text too long for a history; resolves to the file that holds all of it. */
  keep(runId: string, frame: string, text: string): Promise<string>;
  /**
   * Writes a background task's state to its result file (SPEC D9): `make` also where there is none, `amend` only where one
   * says that it runs. A state that is a last one stays. Never rejects: the journal has it all.
   */
  exportTask(resultsDir: string, record: TaskRecord, how: 'make' | 'amend'): Promise<void>;
  /**
   * Asks a person; `told` is called at most once. Returns how to take the question back, after which it is not called;
   * `null` where nobody could answer.
   */
  approve(
    request: ApprovalRequest,
    told: (answer: ApprovalAnswer) => void,
  ): ((reason: Error) => void) | null;
}
