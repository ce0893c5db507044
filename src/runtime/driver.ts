// The one driver of every machine. It owns the order decide -> append -> evolve -> start what is newly due, and the
// flights: what was started and has not settled.
// I1  One command at a time: a command that arrives while another is being carried out waits its turn.
// I2  An effect is started once for each time it becomes due, and not before the events that owe it are as durable as
//     the effect asks for.
// I3  What is no longer due is taken back; it stays in flight until it has settled, so that a halt can wait for it.
import type { Machine } from '../base/machine.ts';

export interface Step<State, Event> {
  readonly before: State;
  readonly event: Event;
}

/** What a driver's owner does for it. */
export interface Shell<State, Command, Event, Effect> {
  /** Puts events in the journal in this order; resolves once they are durable. Must not throw. */
  record(steps: readonly Step<State, Event>[]): Promise<void>;
  /** True where the effect may begin only after the disk has its events. */
  waitsForDisk(effect: Effect): boolean;
  /**
   * Begins an effect. `settle` is called once, with the outcome as a command or `null`. Returns how to take it back,
   * which must lead to `settle` too.
   */
  start(effect: Effect, settle: (command: Command | null) => void): () => void;
}

interface Flight {
  readonly key: string;
  /** `null` until it really began. */
  cancel: (() => void) | null;
  settled: boolean;
  takenBack: boolean;
}

export class Driver<State, Command, Event, Effect extends { readonly key: string }> {
  readonly #machine: Machine<State, Command, Event, Effect>;
  readonly #shell: Shell<State, Command, Event, Effect>;
  readonly #flights = new Map<string, Flight>();
  readonly #waiting: { readonly command: Command; readonly from: Flight | null }[] = [];
  #state: State;
  #busy = false;
  #dead = false;
  #onQuiet: (() => void) | null = null;

  constructor(
    machine: Machine<State, Command, Event, Effect>,
    shell: Shell<State, Command, Event, Effect>,
    state: State = machine.initial,
  ) {
    this.#machine = machine;
    this.#shell = shell;
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  /** Carries out a command, now or after the one in progress (I1). */
  give(command: Command): void {
    this.#take(command, null);
  }

  #take(command: Command, from: Flight | null): void {
    if (this.#dead) return;
    this.#waiting.push({ command, from });
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#carryOut(next.command);
        // I2: a flight lands only once its outcome is part of the state, or its effect would look due again.
        if (next.from !== null) this.#land(next.from);
      }
    } finally {
      this.#busy = false;
    }
  }

  /** Starts what the state already owes: how a run goes on after its events were read back. */
  resume(): void {
    this.#reconcile(Promise.resolve());
  }

  /** Calls `fn` once, as soon as nothing but `exceptKey` is in flight; at once if that is so already. */
  whenQuiet(exceptKey: string, fn: () => void): void {
    const check = () => {
      for (const key of this.#flights.keys()) if (key !== exceptKey) return;
      this.#onQuiet = null;
      fn();
    };
    this.#onQuiet = check;
    check();
  }

  /** Gives up: takes everything back and hears no further command. For a journal that can no longer be written. */
  perish(): void {
    this.#dead = true;
    for (const flight of this.#flights.values()) this.#takeBack(flight);
    this.#flights.clear();
  }

  #carryOut(command: Command): void {
    const events = this.#machine.decide(this.#state, command);
    if (events.length === 0) return;
    const steps: Step<State, Event>[] = [];
    for (const event of events) {
      steps.push({ before: this.#state, event });
      this.#state = this.#machine.evolve(this.#state, event);
    }
    this.#reconcile(this.#shell.record(steps));
  }

  #reconcile(durable: Promise<void>): void {
    const due = this.#machine.due(this.#state);
    const keys = new Set<string>();
    const gated: [Flight, Effect][] = [];
    for (const effect of due) {
      keys.add(effect.key);
      if (this.#flights.has(effect.key)) continue;
      const flight: Flight = { key: effect.key, cancel: null, settled: false, takenBack: false };
      this.#flights.set(effect.key, flight);
      if (this.#shell.waitsForDisk(effect)) gated.push([flight, effect]);
      else this.#begin(flight, effect);
    }
    // I2: rejected means the journal failed; whoever owns it ends this driver by `perish`.
    if (gated.length > 0) {
      durable.then(
        () => {
          for (const [flight, effect] of gated) this.#begin(flight, effect);
        },
        () => undefined,
      );
    }
    for (const flight of this.#flights.values()) {
      if (!keys.has(flight.key)) this.#takeBack(flight);
    }
  }

  #begin(flight: Flight, effect: Effect): void {
    if (flight.takenBack || this.#dead) return;
    const settle = (command: Command | null) => {
      if (flight.settled) return;
      flight.settled = true;
      if (command === null) this.#land(flight);
      else this.#take(command, flight);
    };
    const cancel = this.#shell.start(effect, settle);
    flight.cancel = cancel;
    if (flight.takenBack && !flight.settled) cancel();
  }

  #takeBack(flight: Flight): void {
    if (flight.takenBack || flight.settled) return;
    flight.takenBack = true;
    if (flight.cancel === null) this.#land(flight);
    else flight.cancel();
  }

  #land(flight: Flight): void {
    if (this.#flights.get(flight.key) === flight) this.#flights.delete(flight.key);
    this.#onQuiet?.();
  }
}
