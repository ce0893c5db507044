/**
 * A state machine whose past is its events and whose obligations are its state. All functions are pure: the driver
 * owns time, randomness and I/O. Laws (pinned by `test/support/machine-laws.ts`): `evolve` is total and changes no
 * argument; an effect stays due until an event settles it and is never due again after; a refusal changes nothing
 * that is due; events that went through JSON fold to a state that owes the same.
 */
export interface Machine<State, Command, Event, Effect> {
  readonly initial: State;
  /** What happens if this is asked for now? Refusals are events too; nothing at all is an answer. */
  decide(state: State, command: Command): readonly Event[];
  /** The state after an event. Never throws, never refuses. */
  evolve(state: State, event: Event): State;
  /** Everything this state still owes the world, in order. The same after a replay as before it. */
  due(state: State): readonly Effect[];
}

export function fold<State, Command, Event, Effect>(
  machine: Machine<State, Command, Event, Effect>,
  events: Iterable<Event>,
  from: State = machine.initial,
): State {
  let state = from;
  for (const event of events) state = machine.evolve(state, event);
  return state;
}
