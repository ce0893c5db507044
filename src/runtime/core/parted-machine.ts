import type { Machine } from '../../base/machine.ts';

/** An event and what it made of the state. */
export interface Step<State, Event> {
  readonly before: State;
  readonly event: Event;
  readonly after: State;
}

/**
 * A machine whose due can be looked at in parts, so that an event costs what it changes and not what the state holds.
 * `due` is `dueInPart` of all `parts`, in their order; no key is due in two parts.
 */
export interface PartedMachine<State, Command, Event, Effect>
  extends Machine<State, Command, Event, Effect> {
  /** What `decide` says, with the states that its events lead to, which were made on the way. */
  advance(state: State, command: Command): readonly Step<State, Event>[];
  /** Every part in which something may be due. */
  parts(state: State): readonly string[];
  dueInPart(state: State, part: string): readonly Effect[];
  /** The parts whose due may differ after `event`; `state` is the one it led to or a later one. `null` = any part. */
  partsTouched(state: State, event: Event): readonly string[] | null;
}
