import { expect } from 'vitest';
import { fold, type Machine } from '../../src/base/machine.ts';

/** What a walk did to a machine: a law is checked over all of it. */
export interface Walk<State, Event> {
  readonly states: readonly State[];
  readonly events: readonly Event[];
}

interface Keyed {
  readonly key: string;
}

/** Drives a machine by commands and checks, at every step, the laws that `machine.ts` states. */
export function walk<State, Command, Event, Effect extends Keyed>(
  machine: Machine<State, Command, Event, Effect>,
  commands: Iterable<Command>,
): Walk<State, Event> {
  let state = machine.initial;
  const states = [state];
  const events: Event[] = [];
  const settled = new Set<string>();
  for (const command of commands) {
    const before = JSON.stringify(state);
    const dueBefore = keysOf(machine, state);
    const decided = machine.decide(state, command);
    expect(machine.decide(state, command), 'decide is a function').toEqual(decided);
    let next = state;
    for (const event of decided) {
      const frozen = JSON.stringify(next);
      const after = machine.evolve(next, event);
      expect(JSON.stringify(next), 'evolve changes no argument').toBe(frozen);
      next = after;
    }
    expect(JSON.stringify(state), 'decide changes no argument').toBe(before);
    const dueAfter = keysOf(machine, next);
    if (decided.length === 0) expect(dueAfter, 'a refusal changes nothing due').toEqual(dueBefore);
    for (const key of dueBefore) if (!dueAfter.includes(key)) settled.add(key);
    for (const key of dueAfter) {
      expect(settled.has(key), `${key} was settled and is due again`).toBe(false);
    }
    events.push(...decided);
    states.push(next);
    state = next;
  }
  const throughJson = JSON.parse(JSON.stringify(events)) as Event[];
  const again = fold(machine, throughJson);
  expect(machine.due(again), 'events through JSON owe the same').toEqual(machine.due(state));
  expect(again, 'events through JSON fold to the same state').toEqual(state);
  return { states, events };
}

function keysOf<State, Command, Event, Effect extends Keyed>(
  machine: Machine<State, Command, Event, Effect>,
  state: State,
): string[] {
  const keys = machine.due(state).map((effect) => effect.key);
  expect(new Set(keys).size, 'no effect is due twice').toBe(keys.length);
  return keys;
}
