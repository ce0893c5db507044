// The one driver of every machine. It owns the order decide -> append -> evolve -> start what is newly due, and the
// flights: what was started and has not settled.
// I1  One command at a time: a command that arrives while another is being carried out waits its turn.
// I2  An effect is started once for each time it becomes due, and not before the events that owe it are as durable as
//     the effect asks for.
// I3  What is no longer due is taken back; it stays in flight until it has settled, so that a halt can wait for it.
// I4  Only what an event may have changed is looked at; what is in flight is kept by the part of the machine it is due in.
import type { PartedMachine, Step } from './core/parted-machine.ts';
import { SmallMap } from './small-map.ts';

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
  begin(effect: Effect, settle: (command: Command | null) => void): () => void;
}

interface Flight {
  readonly key: string;
  readonly part: string;
  /** `null` until it really began. */
  cancel: (() => void) | null;
  settled: boolean;
  takenBack: boolean;
}

interface Errand<Command> {
  readonly command: Command;
  readonly from: Flight | null;
}

export class Driver<State, Command, Event, Effect extends { readonly key: string }> {
  readonly #machine: PartedMachine<State, Command, Event, Effect>;
  readonly #shell: Shell<State, Command, Event, Effect>;
  /** By part; no part without one. */
  readonly #flights = new SmallMap<Flight[]>();
  #waiting: Errand<Command>[] | null = null;
  #state: State;
  #busy = false;
  #dead = false;
  #onQuiet: (() => void) | null = null;

  constructor(
    machine: PartedMachine<State, Command, Event, Effect>,
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
    if (this.#busy) {
      this.#waiting ??= [];
      this.#waiting.push({ command, from });
      return;
    }
    this.#busy = true;
    try {
      this.#settle(command, from);
      for (let next = this.#waiting?.shift(); next !== undefined; next = this.#waiting?.shift()) {
        this.#settle(next.command, next.from);
      }
    } finally {
      this.#busy = false;
      if (this.#waiting?.length === 0) this.#waiting = null;
    }
  }

  #settle(command: Command, from: Flight | null): void {
    this.#carryOut(command);
    // I2: a flight lands only once its outcome is part of the state, or its effect would look due again.
    if (from !== null) this.#land(from);
  }

  /** Calls `fn` once, as soon as nothing but `exceptKey` is in flight; at once if that is so already. */
  whenQuiet(exceptKey: string, fn: () => void): void {
    const check = () => {
      const isBusy = this.#flights.some((each) => each.some(({ key }) => key !== exceptKey));
      if (isBusy) return;
      this.#onQuiet = null;
      fn();
    };
    this.#onQuiet = check;
    check();
  }

  /** Gives up: takes everything back and hears no further command. For a journal that can no longer be written. */
  perish(): void {
    this.#dead = true;
    for (const flights of this.#flights.values()) {
      for (const flight of [...flights]) this.#takeBack(flight);
    }
    this.#flights.clear();
  }

  #carryOut(command: Command): void {
    const steps = this.#machine.advance(this.#state, command);
    const last = steps.at(-1);
    if (last === undefined) return;
    this.#state = last.after;
    this.#reconcile(this.#shell.record(steps), this.#touched(steps));
  }

  /** I4. `null` = any part. */
  #touched(steps: readonly Step<State, Event>[]): ReadonlySet<string> | null {
    const touched = new Set<string>();
    for (const { event } of steps) {
      const parts = this.#machine.partsTouched(this.#state, event);
      if (parts === null) return null;
      for (const part of parts) touched.add(part);
    }
    return touched;
  }

  #reconcile(durable: Promise<void>, touched: ReadonlySet<string> | null): void {
    const parts =
      touched ?? new Set([...this.#machine.parts(this.#state), ...this.#flights.keys()]);
    const gated: [Flight, Effect][] = [];
    const gone: Flight[] = [];
    for (const part of parts) this.#reconcilePart(part, gated, gone);
    // I2: rejected means the journal failed; whoever owns it ends this driver by `perish`.
    if (gated.length > 0) {
      durable.then(
        () => {
          for (const [flight, effect] of gated) this.#begin(flight, effect);
        },
        () => undefined,
      );
    }
    for (const flight of gone) this.#takeBack(flight);
  }

  #reconcilePart(part: string, gated: [Flight, Effect][], gone: Flight[]): void {
    const due = this.#machine.dueInPart(this.#state, part);
    for (const flight of this.#flights.get(part) ?? []) {
      if (!due.some(({ key }) => key === flight.key)) gone.push(flight);
    }
    for (const effect of due) {
      const { key } = effect;
      const inFlight = this.#flights.get(part);
      if (inFlight?.some((flight) => flight.key === key) === true) continue;
      const flight: Flight = { key, part, cancel: null, settled: false, takenBack: false };
      if (inFlight === undefined) this.#flights.set(part, [flight]);
      else inFlight.push(flight);
      if (this.#shell.waitsForDisk(effect)) gated.push([flight, effect]);
      else this.#begin(flight, effect);
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
    const cancel = this.#shell.begin(effect, settle);
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
    const inPart = this.#flights.get(flight.part) ?? [];
    const at = inPart.indexOf(flight);
    if (at >= 0) inPart.splice(at, 1);
    if (inPart.length === 0) this.#flights.delete(flight.part);
    this.#onQuiet?.();
  }
}
