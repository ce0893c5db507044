import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { evolveRun } from '../../src/runtime/core/run-evolve.ts';
import { pendingRun, type RunState } from '../../src/runtime/core/run-state.ts';
import { machineEvent } from '../../src/runtime/run-views.ts';
import { SimLog } from './sim-log.ts';
import type { TakenNote } from './sim-world.ts';

/** What is judged: a journal, and what is known of how it came about. */
export interface Told {
  readonly events: readonly JournalEvent[];
  readonly log?: SimLog;
  /** Runs as their supervisors had them. */
  readonly states?: ReadonlyMap<string, RunState>;
  /** Notes that runs of the last host took. */
  readonly notes?: readonly TakenNote[];
  /** SPEC R11's limit on this journal's roots. */
  readonly runsMax?: number;
  /** Milliseconds a stop may take, where nothing but it was in the way of one. */
  readonly stopMs?: number;
}

/** A journal sorted for those who judge it. */
export class Story {
  readonly events: readonly JournalEvent[];
  readonly log: SimLog;
  readonly told: Told;
  readonly byRun = new Map<string, JournalEvent[]>();
  readonly byId = new Map<string, JournalEvent>();
  #states: Map<string, RunState> | null = null;

  constructor(told: Told) {
    this.told = told;
    this.events = told.events;
    this.log = told.log ?? new SimLog();
    for (const event of told.events) {
      this.byId.set(event.event_id, event);
      const own = this.byRun.get(event.run_id);
      if (own === undefined) this.byRun.set(event.run_id, [event]);
      else own.push(event);
    }
  }

  /** Each run as its events fold. */
  get states(): ReadonlyMap<string, RunState> {
    this.#states ??= new Map(
      [...this.byRun].map(([runId, own]) => [
        runId,
        own.reduce((state, event) => evolveRun(state, machineEvent(event)), pendingRun(runId)),
      ]),
    );
    return this.#states;
  }

  eventsOf(runId: string): readonly JournalEvent[] {
    return this.byRun.get(runId) ?? [];
  }

  /** The last event that was there when a host did something; what it had not committed by its end never was. */
  known(position: { readonly given: number; readonly host: number }): number {
    return Math.min(position.given, this.log.hostEnds[position.host] ?? position.given);
  }

  /** The run itself and every run above it. */
  *lineage(runId: string): Generator<string> {
    let id: string | null = runId;
    while (id !== null) {
      yield id;
      id = this.byRun.get(id)?.[0]?.parent_run_id ?? null;
    }
  }
}

/** @throws Error with these words unless it holds. */
export function must(holds: boolean, words: string): asserts holds {
  if (!holds) throw new Error(words);
}
