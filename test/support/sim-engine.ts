import { Fault, messageOf } from '../../src/base/fault.ts';
import type { AgentBrief, AgentInit, ComputeJob } from '../../src/runtime/core/agent-protocol.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { callIndexOf } from '../../src/runtime/core/run-event.ts';
import type { TaskRecord } from '../../src/runtime/core/task-record.ts';
import type {
  ToolContext,
  ToolDefinition,
  ToolEffect,
  ToolOutcome,
} from '../../src/runtime/core/tool.ts';
import type {
  AgentLink,
  AgentListener,
  ApprovalAnswer,
  ApprovalRequest,
  EnginePort,
} from '../../src/runtime/engine.ts';
import type { Seeded } from './seeded-random.ts';
import { SimAgent, SimThread } from './sim-agent.ts';
import { CALM, type Faults } from './sim-faults.ts';
import { SimJournal } from './sim-journal.ts';
import { type Act, SimLog } from './sim-log.ts';
import { type CallPlace, playTool, SIM_TOOLS } from './sim-tools.ts';
import { VirtualClock } from './virtual-clock.ts';

/** What a simulated model says to a history; throwing is a model that failed. */
export type SimModel = (init: AgentInit, history: readonly Message[], turn: number) => ModelAnswer;

export interface SimOptions {
  readonly random: Seeded;
  readonly model: SimModel;
  /** Default: none. */
  readonly faults?: Faults;
  /** Of the hosts before this one, to go on with. */
  readonly log?: SimLog;
  /** In place of an answer by chance. */
  readonly approve?: Approve;
  /** Milliseconds that a request or a call takes, in place of a time by chance. */
  readonly delayMs?: (what: 'ask' | 'run') => number;
  /** What an earlier host had committed. */
  readonly events?: readonly JournalEvent[];
  /** The time at which this host begins. */
  readonly nowMs?: number;
}

type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Threads that runs share. */
const THREADS = 2;

/** The engine without threads or disk: actors are objects, time is turned by hand, chance comes from a seed. */
export class SimEngine implements EnginePort {
  /** The world's own time: what happens in it is not the runtime's to take back. */
  readonly world: VirtualClock;
  readonly clock: ReturnType<VirtualClock['counted']>;
  readonly random: Seeded;
  readonly faults: Faults;
  readonly journal: SimJournal;
  readonly live = new Set<SimAgent>();
  readonly threads = Array.from({ length: THREADS }, () => new SimThread());
  readonly options: SimOptions;
  readonly log: SimLog;
  /** Of calls that go on elsewhere and that nobody has called off. */
  readonly unanswered = new Set<AbortSignal>();
  readonly #host: number;

  constructor(options: SimOptions) {
    this.options = options;
    this.random = options.random;
    this.faults = options.faults ?? CALM;
    this.log = options.log ?? new SimLog();
    this.world = new VirtualClock(() => options.random.unit(), options.nowMs);
    this.clock = this.world.counted();
    this.journal = new SimJournal(options.events ?? [], (release) => {
      const { random, faults, world } = this;
      if (!random.chance(faults.slowDisk)) return false;
      world.after(random.int(60), release);
      return true;
    });
    this.#host = this.log.hostEnds.length;
  }

  openAgent(
    runId: string,
    brief: AgentBrief,
    listener: AgentListener,
    isolated: boolean,
  ): AgentLink {
    if (this.random.chance(this.faults.openRefused)) {
      throw new Fault('pool.closed', 'no thread is left');
    }
    const shared = this.threads[this.random.int(this.threads.length)];
    const thread = isolated || shared === undefined ? new SimThread() : shared;
    const agent = new SimAgent(this, { ...brief, runId }, listener, thread);
    this.live.add(agent);
    return agent;
  }

  compute(job: ComputeJob, signal: AbortSignal): Promise<ToolOutcome> {
    return this.#elsewhere(job.name, job.callKey, signal);
  }

  runHostTool(
    name: string,
    _argsText: string,
    context: ToolContext<AbortSignal>,
  ): Promise<ToolOutcome> {
    return this.#elsewhere(name, context.callKey, context.signal);
  }

  approve(
    request: ApprovalRequest,
    told: (answer: ApprovalAnswer) => void,
  ): ((reason: Error) => void) | null {
    const byChance: Approve = (...asked) => this.#approve(...asked);
    const ask = this.options.approve ?? (this.faults.approval === 'nobody' ? null : byChance);
    if (ask === null) return null;
    const abort = new AbortController();
    ask(request, abort.signal).then(told, (thrown: unknown) =>
      told({ granted: false, by: 'runtime', why: `asking failed: ${messageOf(thrown)}` }),
    );
    return (reason) => abort.abort(reason);
  }

  tools(): ReadonlyMap<string, ToolDefinition> {
    return SIM_TOOLS;
  }

  keep(runId: string, frame: string, text: string): Promise<string> {
    const name = `/kept/${runId}/${frame}`;
    const fails = this.random.chance(this.faults.keepFails);
    return new Promise((resolve, reject) => {
      this.world.after(this.random.int(20), () => {
        if (fails) return reject(new Error('the disk is full'));
        this.log.kept.set(name, text);
        resolve(name);
      });
    });
  }

  exportTask(resultsDir: string, record: TaskRecord, how: 'make' | 'amend'): Promise<void> {
    return new Promise((resolve) => {
      this.world.after(this.random.int(20), () => {
        const name = `${resultsDir}/${record.task_id}.json`;
        this.log.exportTask(name, record, how, this.journal.lastSeq);
        resolve();
      });
    });
  }

  delay(what: 'ask' | 'run' = 'run'): number {
    return this.options.delayMs?.(what) ?? this.random.int(this.faults.delayMs + 1);
  }

  /** A text that is like no other, now and then a very long one. */
  text(about: string): string {
    const text = `${about} (${this.random.id()})`;
    return this.random.chance(this.faults.longTexts) ? text.padEnd(900, ' ...') : text;
  }

  /** Records that something begins. @returns how often that very thing has begun, this time included. */
  begin(
    kind: 'ask' | 'call' | 'approve',
    place: CallPlace,
    name: string,
    effect: ToolEffect,
    history?: readonly Message[],
  ): number {
    const act = { ...this.#act(kind, place, name, effect), ...(history && { history }) };
    const { acts } = this.log;
    acts.push(act);
    return acts.filter((each) => each.kind === kind && isAt(each, place)).length;
  }

  note(
    kind: 'effect' | 'said',
    place: CallPlace,
    name: string,
    effect: ToolEffect,
    text?: string,
  ): void {
    const act = this.#act(kind, place, name, effect);
    this.log.acts.push({ ...act, ...(text !== undefined && { text }) });
  }

  #act(kind: Act['kind'], place: CallPlace, name: string, effect: ToolEffect): Act {
    const { lastGiven: given, lastSeq: committed } = this.journal;
    return { kind, ...place, name, effect, given, committed, host: this.#host };
  }

  #elsewhere(name: string, callKey: string, signal: AbortSignal): Promise<ToolOutcome> {
    const definition = SIM_TOOLS.get(name);
    if (definition === undefined) throw new Error(`no tool '${name}' to run`);
    return new Promise((resolve) => {
      const going = playTool(
        this,
        definition,
        placeOf(callKey),
        (outcome) => {
          this.unanswered.delete(signal);
          resolve(outcome);
        },
        null,
      );
      this.#watch(signal, () => going.abort());
    });
  }

  #approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { random, faults } = this;
    const { runId, callId, tool } = request;
    const place = { runId, turn: 0, call: 0 };
    this.begin('approve', place, `${tool} ${callId}`, 'read');
    return new Promise((resolve, reject) => {
      const end = () => {
        this.unanswered.delete(signal);
        if (random.chance(faults.approvalBreaks)) reject(new Error('the terminal is gone'));
        else if (random.chance(faults.approvalDenied)) {
          resolve({ granted: false, by: 'tester', why: 'no' });
        } else resolve({ granted: true, by: 'tester', why: '' });
      };
      if (!random.chance(faults.approvalUnanswered)) this.world.after(this.delay(), end);
      this.#watch(signal, () => undefined);
    });
  }

  #watch(signal: AbortSignal, aborted: () => void): void {
    this.unanswered.add(signal);
    signal.addEventListener('abort', () => {
      this.unanswered.delete(signal);
      aborted();
    });
  }
}

function isAt(act: Act, { runId, turn, call }: CallPlace): boolean {
  return act.runId === runId && act.turn === turn && act.call === call;
}

function placeOf(callKey: string): CallPlace {
  const at = callKey.lastIndexOf('/turn-');
  const frame = callKey.slice(at + 1);
  const turn = Number(/^turn-(\d+)/.exec(frame)?.[1] ?? 0);
  return { runId: callKey.slice(0, at), turn, call: callIndexOf(frame) };
}
