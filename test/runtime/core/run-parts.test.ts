import { describe, expect, it } from 'vitest';
import { runMachine } from '../../../src/runtime/core/run.ts';
import { agendaOf, standingOf } from '../../../src/runtime/core/run-agenda.ts';
import type { RunCommand } from '../../../src/runtime/core/run-command.ts';
import type { CallVerdict } from '../../../src/runtime/core/run-event.ts';
import { isRunning, type RunState } from '../../../src/runtime/core/run-state.ts';
import {
  answerOf,
  childOutcome,
  delegateTo,
  readTool,
  specOf,
} from '../../support/run-fixtures.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const machine = runMachine('run_r');

function keys(state: RunState, part: string): string[] {
  return machine.dueInPart(state, part).map((effect) => effect.key);
}

/** The laws of `parted-machine.ts`, of the counters beside the calls, and of `advance`, at one step. */
function step(state: RunState, command: RunCommand): RunState {
  const steps = machine.advance(state, command);
  expect(machine.decide(state, command)).toEqual(steps.map(({ event }) => event));
  const after = steps.at(-1)?.after ?? state;
  const all = machine.parts(after).flatMap((part) => keys(after, part));
  expect(machine.due(after).map((effect) => effect.key)).toEqual(all);
  expect(new Set(all).size, 'no key is due in two parts').toBe(all.length);
  const touched = steps.map(({ event }) => machine.partsTouched(after, event));
  if (!touched.includes(null)) {
    const may = new Set(touched.flatMap((parts) => parts ?? []));
    for (const part of [...machine.parts(state), ...machine.parts(after)]) {
      if (!may.has(part)) expect(keys(after, part), part).toEqual(keys(state, part));
    }
  }
  expect(after.agenda.counts).toEqual(countsOf(after));
  const running = [...after.children].filter(isRunning);
  expect(after.childrenRunning).toBe(running.length);
  if (running.length > 0)
    expect(after.children.findFrom(after.firstRunning, isRunning)).toBe(running[0]);
  return after;
}

function countsOf(state: RunState): RunState['agenda']['counts'] {
  const counts = { ...agendaOf(state.calls).counts };
  for (const key of Object.keys(counts) as (keyof typeof counts)[]) {
    Object.assign(counts, { [key]: state.calls.filter((call) => standingOf(call) === key).length });
  }
  return counts;
}

const VERDICTS: readonly CallVerdict[] = [
  delegateTo('a'),
  readTool,
  { kind: 'tool', place: 'actor', effect: 'read', approval: true },
  { kind: 'delegate', agent_id: 'b', prompt: 'p', max_turns: null, approval: true },
  { kind: 'subagent', prompt: 'p', approval: false },
  { kind: 'refused', error_type: 'unknown_tool', words: 'no' },
];

function commandFor(state: RunState, random: ReturnType<typeof seededRandom>): RunCommand {
  const due = machine.due(state);
  const effect = due[random.int(due.length)];
  const { turn } = state;
  if (random.unit() < 0.02) {
    return {
      type: 'stop',
      stop: { status: 'cancelled', reason: 'r', by: 'user', error_type: null },
    };
  }
  if (random.unit() < 0.1) {
    const note = { note_id: random.id(), text: 'n' };
    return { type: 'note', note, forwardedTo: [], forwardFailed: [] };
  }
  switch (effect?.type) {
    case 'model.ask': {
      const calls = random.unit() < 0.3 ? 0 : 1 + random.int(40);
      const verdicts = Array.from({ length: calls }, () => VERDICTS[random.int(6)] as CallVerdict);
      const said = verdicts.map((_, at) => ({ name: `tool${at % 7}`, args: { at: at % 11 } }));
      return { type: 'answered', turn, answer: answerOf('text', said), verdicts };
    }
    case 'tool.run': {
      const kept = { outcome: { ok: true, text: 'x' } as const, chars: 1, fullPath: null };
      return { type: 'ran', turn, call: effect.call.index, kept };
    }
    case 'approval.ask':
      return {
        type: 'approval',
        turn,
        call: effect.call.index,
        granted: random.unit() < 0.7,
        by: 'b',
        why: '',
      };
    case 'child.await':
      return { type: 'child-ended', ordinal: effect.child.ordinal, outcome: childOutcome() };
    case 'halt':
      return { type: 'halted' };
    default:
      return { type: 'proceed' };
  }
}

describe('what an event does not touch stays due as it was', () => {
  it.each(['fifo', 'eager'] as const)('in 150 seeded runs of 200 steps, order %s', (order) => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = seededRandom(seed);
      const spec = specOf({
        order,
        width_max: 1 + random.int(9),
        parallel_tools: random.unit() < 0.5,
      });
      let state = step(machine.initial, { type: 'start', spec, stop: null });
      for (let at = 0; at < 200 && state.ended === null; at += 1) {
        state = step(state, commandFor(state, random));
      }
    }
  });

  it('a fan-out of 600 is admitted some at a time, and nothing is left out or launched twice', () => {
    const said = Array.from({ length: 600 }, () => ({ name: 'delegate', args: { agent_id: 'a' } }));
    const verdicts = said.map(() => delegateTo('a'));
    const spec = specOf({ width_max: 1000, identical: 'run' });
    let state = step(machine.initial, { type: 'start', spec, stop: null });
    state = step(state, { type: 'answered', turn: 1, answer: answerOf('', said), verdicts });
    expect(state.childrenRunning).toBeLessThan(100);
    let steps = 0;
    while (machine.due(state).some((effect) => effect.type === 'proceed')) {
      state = step(state, { type: 'proceed' });
      steps += 1;
    }
    expect(steps).toBeGreaterThan(5);
    expect(state.childrenRunning).toBe(600);
    expect(new Set([...state.children].map(({ call }) => call)).size).toBe(600);
  });
});
