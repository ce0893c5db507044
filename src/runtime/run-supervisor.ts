// The supervisor of one run: an actor on the host's thread, the run's parent in the tree. It owns the run's machine and
// therefore its width, depth, calls, children, cancellation, notes, and the order of its events.
// I1  The run's state changes only through its driver; nobody else writes its events.
// I2  One terminal event. What arrives after it is dropped by the machine.
// I3  A stopping run ends when its children have ended and all that was in flight has settled, or when its grace is
//     over; then its actor is released, and nothing it still does can reach the journal.
// I4  A note is handed to the children in the same tick that records where it went, so neither can miss the other.
import { judgeRestart } from '../actors/core/restart.ts';
import { Fault, type FaultWire } from '../base/fault.ts';
import type { FromAgent } from './core/agent-protocol.ts';
import { EVENT_VERSION, eventId, isTerminal } from './core/event.ts';
import { outcomeOf } from './core/outcome.ts';
import type { Step } from './core/parted-machine.ts';
import { isWorking } from './core/resumption.ts';
import type { runMachine } from './core/run.ts';
import type { RunCommand } from './core/run-command.ts';
import { causeOf, type RunEffect } from './core/run-due.ts';
import type { ChildOutcome, Note, RunEvent, RunEventData } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import { pendingRun, type RunState, wantedChildren } from './core/run-state.ts';
import { Driver, type Shell } from './driver.ts';
import type { EnginePort } from './engine.ts';
import type { NewEvent } from './journal.ts';
import { cannotBegin } from './run-actor.ts';
import { RunEffects, type Settle } from './run-effects.ts';
import type { RunTree } from './run-tree.ts';

/** Notes a run may hold unread; one more is refused (SPEC R11: no growth unbounded). */
export const UNREAD_NOTES_MAX = 1000;

/** SPEC J7: how often a run's actor may be started again elsewhere before the run fails. */
const THREAD_LOSSES = { restartsMax: 3, periodMs: 60_000 };

/** So often a run may lose its thread under its own work before it gets one to itself and harms no neighbour again. */
const SUSPECT_LOSSES_SHARED = 2;

/** How often a run under whose work its host ended is taken up again, unless a whole turn went well in between. */
const HOST_LOSSES_MAX = 3;

const NOTHING: readonly never[] = [];

export interface SupervisorOptions {
  readonly engine: EnginePort;
  readonly tree: RunTree;
  /** One for all runs: each goes on from a state of its own. */
  readonly machine: ReturnType<typeof runMachine>;
  readonly runId: string;
  readonly parentRunId: string | null;
  /** The `delegation.started` that this run follows from; `null` for a root. */
  readonly parentEventId: string | null;
  /** What its journaled events fold to, for a run that goes on after its host was lost; absent for a new one. */
  readonly state?: RunState;
  /** Milliseconds a stopping run may take (SPEC N2). */
  readonly stopGraceMs: number;
}

/** Its driver's shell: `record`, `waitsForDisk` and `begin` are for its driver alone. */
export class RunSupervisor implements Shell<RunState, RunCommand, RunEvent, RunEffect> {
  readonly runId: string;
  readonly parentRunId: string | null;
  readonly #options: SupervisorOptions;
  readonly #driver: Driver<RunState, RunCommand, RunEvent, RunEffect>;
  readonly #effects: RunEffects;
  #onEnded: readonly (() => void)[] = NOTHING;
  #durableEnd: Promise<void> | null = null;
  #failure: Fault | null = null;
  #noteCause: string | null = null;
  /** Moments of the restarts that count towards its intensity. */
  #threadLosses: readonly number[] = NOTHING;
  #suspectLosses = 0;

  constructor(options: SupervisorOptions) {
    this.runId = options.runId;
    this.parentRunId = options.parentRunId;
    this.#options = options;
    const state = options.state ?? pendingRun(options.runId);
    this.#driver = new Driver(options.machine, this, state);
    this.#effects = new RunEffects(this, options);
  }

  get state(): RunState {
    return this.#driver.state;
  }

  /** Its end is decided; it may not be on the disk yet. */
  get hasEnded(): boolean {
    return this.state.ended !== null || this.#failure !== null;
  }

  /** If its host ends under its work once more, it is not taken up again. */
  get isOnLastChance(): boolean {
    return this.state.hostLosses === HOST_LOSSES_MAX - 1;
  }

  get takesNotes(): boolean {
    const { phase, unread } = this.state;
    return !this.hasEnded && phase !== 'pending' && unread.length < UNREAD_NOTES_MAX;
  }

  /** `calledOff` says why a run that is already unwanted ends as cancelled before it asks anything. */
  start(spec: RunSpec, calledOff: string | null = null): void {
    const stop =
      calledOff === null
        ? null
        : ({ status: 'cancelled', reason: calledOff, by: 'user', error_type: null } as const);
    this.#driver.give({ type: 'start', spec, stop });
  }

  /**
   * Goes on from the state it was given: what was in flight is classified, then whatever is due begins (SPEC J5).
   * `suspect`: its own work may have ended the host. One that did so again and again is parked instead.
   */
  resume(suspect: boolean): void {
    this.#effects.stopping();
    const { hostLosses, stopping } = this.state;
    if (stopping !== null) this.#options.tree.tasks.cancelBelow(this.runId, stopping.reason);
    if (suspect && stopping === null && hostLosses >= HOST_LOSSES_MAX) {
      const reason = `its host ended under its work ${hostLosses + 1} times, and taking it up again got it no further`;
      const stop = { status: 'failed', reason, by: 'runtime', error_type: 'poisoned' } as const;
      this.#driver.give({ type: 'stop', stop });
      return;
    }
    const resume = { why: 'host_lost', detail: 'its host ended', suspect } as const;
    const refused = this.#options.tree.regain(this.state);
    this.#driver.give({ type: 'resume', resume, refused });
  }

  outcome(): ChildOutcome {
    return outcomeOf(this.state);
  }

  /** Calls back once the run has ended, at once if it has. */
  onEnded(listener: () => void): void {
    if (this.hasEnded) listener();
    else this.#onEnded = [...this.#onEnded, listener];
  }

  /** Resolves once the run's end is durable. @throws Fault `journal.unwritable` where the journal failed before. */
  async durableEnd(): Promise<void> {
    await new Promise<void>((resolve) => this.onEnded(resolve));
    if (this.#failure !== null) throw this.#failure;
    await this.#durableEnd;
  }

  /**
   * Hands a note to the run and to every child still wanted, recursively (SPEC N1).
   * @returns false, with nothing recorded, if the run has ended.
   * @throws Fault `mailbox.full` if it holds too many that it has not read.
   */
  note(note: Note, cause: string | null = null): boolean {
    if (this.hasEnded || this.state.phase === 'pending') return false;
    if (this.state.unread.length >= UNREAD_NOTES_MAX) {
      throw new Fault(
        'mailbox.full',
        `run ${this.runId} already holds ${UNREAD_NOTES_MAX} notes it has not read; wait for its next turn`,
        { retry: 'safe' },
      );
    }
    const children = wantedChildren(this.state).map((child) => child.runId);
    const takes = (runId: string) => this.#options.tree.find(runId)?.takesNotes === true;
    this.#noteCause = cause;
    this.#driver.give({
      type: 'note',
      note,
      forwardedTo: children.filter(takes),
      forwardFailed: children.filter((runId) => !takes(runId)),
    });
    this.#noteCause = null;
    return true;
  }

  /** SPEC X5: its job is due once more. @returns false, with nothing recorded, if the run has ended. */
  skipCron(skipped: RunEventData<'run.cron_skipped'>): boolean {
    if (this.hasEnded) return false;
    this.#driver.give({ type: 'cron-due', skipped });
    return true;
  }

  /** Stops the run and all below it, of an ended one its background runs; the first cause wins. @returns what it did. */
  cancel(reason: string, by: string): 'running' | 'stopping' | 'ended' {
    if (this.hasEnded) this.#options.tree.tasks.cancelBelow(this.runId, reason);
    if (this.hasEnded) return 'ended';
    if (this.state.stopping !== null) return 'stopping';
    const stop = { status: 'cancelled', reason, by, error_type: null } as const;
    this.#driver.give({ type: 'stop', stop });
    return 'running';
  }

  /** The journal failed: nothing more can be promised about this run, so everything it does is taken back. */
  perish(fault: Fault): void {
    if (this.#failure !== null) return;
    this.#failure = fault;
    this.#driver.perish();
    this.#effects.release();
    this.#tellEnded();
  }

  /** What the run's actor says. */
  receive(body: FromAgent): void {
    this.#effects.heard(body);
  }

  /** The thread under the run's actor is gone (SPEC J7). */
  lost(fault: FaultWire): void {
    const { clock } = this.#options.engine;
    const judged = judgeRestart(this.#threadLosses, THREAD_LOSSES, clock.now());
    if (judged.type === 'restart' && this.state.stopping === null) {
      this.#threadLosses = judged.times;
      const suspect = fault.code === 'actor.crashed' || isWorking(this.state, 'actor');
      if (suspect) this.#suspectLosses += 1;
      const resume = { why: 'thread_lost', detail: fault.message, suspect } as const;
      this.#driver.give({ type: 'resume', resume, refused: [] });
      // Its own work did it twice, or the next loss would be the end of a run that may be innocent.
      const isLastChance = judged.times.length >= THREAD_LOSSES.restartsMax;
      this.#effects.restart(isLastChance || this.#suspectLosses >= SUSPECT_LOSSES_SHARED);
      return;
    }
    const reason = `the thread that ran it ended: ${fault.message}`;
    const stop = { status: 'failed', reason, by: 'runtime', error_type: 'actor_crashed' } as const;
    this.#driver.give({ type: 'stop', stop });
    this.#effects.actorLost();
  }

  /** SPEC J4: recorded before acted on. A request to the model changes nothing outside, so it need not wait. */
  waitsForDisk({ type }: RunEffect): boolean {
    return type === 'tool.run' || type === 'child.run' || type === 'approval.ask';
  }

  whenQuiet(exceptKey: string, fn: () => void): void {
    this.#driver.whenQuiet(exceptKey, fn);
  }

  begin(effect: RunEffect, settle: Settle): () => void {
    try {
      return this.#effects.start(effect, settle);
    } catch (thrown) {
      settle(cannotBegin(thrown));
      return () => undefined;
    }
  }

  record(steps: readonly Step<RunState, RunEvent>[]): Promise<void> {
    const { clock, journal } = this.#options.engine;
    const nowMs = clock.now();
    const ts = new Date(nowMs).toISOString();
    const entries = steps.map(({ before, event }) => this.#entry(before, event, ts));
    const { durable } = journal.append(entries);
    this.#options.tree.recorded(this, steps, nowMs);
    for (const { before, event } of steps) {
      if (event.type === 'run.user_note') {
        this.#forward(event.data, event.data.forwarded_to, eventId(this.runId, before.count + 1));
      } else if (event.type === 'run.stopping') {
        this.#effects.stopping();
        this.#options.tree.tasks.cancelBelow(this.runId, event.data.reason);
      } else if (isTerminal(event.type)) {
        this.#durableEnd = durable;
        this.#effects.release();
        // The machine's state is complete only after this batch: whoever hears of the end reads it then.
        queueMicrotask(() => this.#tellEnded());
      }
    }
    return durable;
  }

  #entry(before: RunState, event: RunEvent, ts: string): NewEvent {
    return {
      event_id: eventId(this.runId, before.count + 1),
      run_id: this.runId,
      parent_run_id: this.parentRunId,
      parent_event_id: this.#causeOf(before, event),
      frame_id: event.frame,
      ts,
      type: event.type,
      v: EVENT_VERSION,
      data: event.data as unknown as NewEvent['data'],
      ...(event.type === 'run.started' ? { line: this.#options.tree.specText(event.data) } : {}),
    };
  }

  #causeOf(before: RunState, event: RunEvent): string | null {
    if (event.type === 'run.started') return this.#options.parentEventId;
    if (event.type === 'run.user_note' && this.#noteCause !== null) return this.#noteCause;
    return eventId(this.runId, causeOf(before, event));
  }

  /** I4. */
  #forward(note: Note, to: readonly string[], cause: string): void {
    const { note_id, text } = note;
    for (const runId of to) this.#options.tree.find(runId)?.note({ note_id, text }, cause);
  }

  #tellEnded(): void {
    const forget = () => this.#options.tree.forget(this.runId);
    if (this.#options.tree.isTop(this)) this.durableEnd().then(forget, forget);
    const listeners = this.#onEnded;
    this.#onEnded = NOTHING;
    for (const listener of listeners) listener();
  }
}
