import { describe, expect, it } from 'vitest';
import { runMachine } from '../../../src/runtime/core/run.ts';
import type { RunCommand } from '../../../src/runtime/core/run-command.ts';
import type { CallVerdict, RunEvent } from '../../../src/runtime/core/run-event.ts';
import type { RunSpec } from '../../../src/runtime/core/run-spec.ts';
import type { RunState } from '../../../src/runtime/core/run-state.ts';
import { walk } from '../../support/machine-laws.ts';
import {
  answerOf,
  childOutcome,
  delegateTo,
  readTool,
  type SaidCall,
  specOf,
  writeTool,
} from '../../support/run-fixtures.ts';

const machine = runMachine('run_r');

function start(spec: Partial<RunSpec> = {}): RunCommand {
  return { type: 'start', spec: specOf(spec), stop: null };
}

function answered(turn: number, text: string, said: [SaidCall, CallVerdict][] = []): RunCommand {
  const answer = answerOf(
    text,
    said.map(([call]) => call),
  );
  return { type: 'answered', turn, answer, verdicts: said.map(([, verdict]) => verdict) };
}

function ran(call: number, text = 'ok', turn = 1): RunCommand {
  const kept = { outcome: { ok: true, text } as const, chars: text.length, fullPath: null };
  return { type: 'ran', turn, call, kept };
}

function ended(ordinal: number, change = {}): RunCommand {
  return { type: 'child-ended', ordinal, outcome: childOutcome(change) };
}

const cancel = {
  type: 'stop',
  stop: { status: 'cancelled', reason: 'enough', by: 'user', error_type: null },
} satisfies RunCommand;

function reached(...commands: RunCommand[]): { state: RunState; events: readonly RunEvent[] } {
  const { states, events } = walk(machine, commands);
  return { state: states.at(-1) as RunState, events };
}

function types(events: readonly RunEvent[]): string[] {
  return events.map((event) => event.type);
}

function dueKeys(state: RunState): string[] {
  return machine.due(state).map((effect) => effect.key);
}

describe('a budget', () => {
  const words = 'Cost budget exhausted: lead has none left.';

  it('R3, X2: that is spent ends the run before its next turn, with its last words and the reason', () => {
    const seen: number[] = [];
    const poor = runMachine('run_r', {
      overspent: (_runId, unrecorded) => {
        seen.push(unrecorded);
        return unrecorded > 0 ? { errorType: 'cost_budget', words } : null;
      },
    });
    const { states, events } = walk(poor, [
      start(),
      answered(1, 'thinking', [
        [{ name: 'missing' }, { kind: 'refused', error_type: 'x', words: 'no' }],
      ]),
    ]);
    expect(types(events).slice(-2)).toEqual(['turn.completed', 'run.incomplete']);
    expect(states.at(-1)?.ended).toMatchObject({
      reason: 'cost_budget',
      error_type: 'cost_budget',
      error: words,
      answer: 'thinking',
      turns: 1,
    });
    expect(seen, 'the answer that is being carried out counts as well').toContain(1);
  });

  it('X2, J5: that others used up while a host was down refuses what had been granted, and its model is told', () => {
    const resume = { why: 'host_lost', detail: 'it ended', suspect: false } as const;
    const refusal = { call: 2, errorType: 'action_budget', words: 'nothing left' } as const;
    const { state, events } = reached(
      start({ parallel_tools: false }),
      answered(1, '', [
        [{ name: 'act' }, writeTool],
        [{ name: 'act', args: { n: 2 } }, writeTool],
      ]),
      { type: 'resume', resume, refused: [refusal] },
    );
    expect(types(events)).toContain('run.resumed');
    const told = state.history.at(-1);
    expect(JSON.stringify(told)).toContain('nothing left');
    expect(JSON.stringify(told)).toContain('it was not repeated');
  });
});

describe('turns', () => {
  it('R4: an answer without calls ends the run with that text', () => {
    const { state, events } = reached(start(), answered(1, 'the answer'));
    expect(types(events)).toEqual([
      'run.started',
      'turn.started',
      'model.started',
      'model.completed',
      'turn.completed',
      'run.completed',
    ]);
    expect(state.ended?.answer).toBe('the answer');
    expect(dueKeys(state)).toEqual([]);
  });

  it('R2: a model that never stops calling tools ends incomplete at max_turns with its last words', () => {
    const call: [SaidCall, CallVerdict] = [{ name: 'look' }, readTool];
    const { state } = reached(
      start({ max_turns: 2 }),
      answered(1, 'one', [call]),
      ran(1),
      answered(2, 'two', [call]),
      ran(1, 'ok', 2),
    );
    expect(state.status).toBe('incomplete');
    expect(state.ended).toMatchObject({ reason: 'turn_limit', answer: 'two', turns: 2 });
  });

  it('R2: an answer cut off at its length is no final answer, and its words are kept', () => {
    const cut = {
      ...answered(1, 'half an ans'),
      answer: { ...answerOf('half an ans'), finishReason: 'length' },
    };
    const { state } = reached(start(), cut as RunCommand);
    expect(state.status).toBe('incomplete');
    expect(state.ended).toMatchObject({ reason: 'answer_length', answer: 'half an ans' });
  });

  it('R13: a model error fails the run and is never an empty success', () => {
    const fault = {
      code: 'model.server-error',
      message: 'boom',
      retry: 'safe',
      detail: {},
    } as const;
    const { state, events } = reached(start(), { type: 'model-failed', turn: 1, fault });
    expect(types(events).slice(-2)).toEqual(['model.failed', 'run.failed']);
    expect(state.ended).toMatchObject({ error_type: 'model.server-error', error: 'boom' });
  });

  it.each([
    ['', ''],
    ['only thoughts', '<think>hm, hm</think> '],
    ['unclosed', '<think>and so on'],
  ])('D6: an empty final answer (%s) is a failure', (_, text) => {
    const { state } = reached(start(), answered(1, text));
    expect(state.status).toBe('failed');
    expect(state.ended?.error).toBe('model provider returned an invalid semantic completion.');
  });

  it('S3: a sub-agent that says nothing completes without output', () => {
    const { state } = reached(start({ is_subagent: true, depth: 1 }), answered(1, '  '));
    expect(state.status).toBe('completed');
    expect(state.ended?.answer).toBe('');
  });

  it('R8: a run that is not agentic makes one request, whatever calls the model invents', () => {
    const { state } = reached(
      start({ agentic: false, max_turns: 1 }),
      answered(1, 'plain', [[{ name: 'look' }, readTool]]),
    );
    expect(state.status).toBe('completed');
    expect(state.ended?.answer).toBe('plain');
  });

  it('R7: the history of a later turn begins with the whole history of an earlier one', () => {
    const { states } = walk(machine, [
      start(),
      answered(1, 'a', [[{ name: 'look' }, readTool]]),
      ran(1),
      answered(2, 'b', [[{ name: 'look' }, readTool]]),
      ran(1, 'x', 2),
      answered(3, 'end'),
    ]);
    for (let at = 1; at < states.length; at += 1) {
      const earlier = states[at - 1]?.history ?? [];
      expect(states[at]?.history.slice(0, earlier.length)).toEqual(earlier);
    }
  });
});

describe('calls', () => {
  it('R12: results stand in call order whatever order they arrived in', () => {
    const calls: [SaidCall, CallVerdict][] = [
      [{ name: 'a' }, readTool],
      [{ name: 'b' }, readTool],
      [{ name: 'c' }, { kind: 'refused', error_type: 'unknown_tool', words: 'Unknown tool: c' }],
    ];
    const { state } = reached(start(), answered(1, '', calls), ran(2, 'second'), ran(1, 'first'));
    const last = state.history.at(-1);
    expect(last?.role === 'tool' && last.results.map((each) => each.text)).toEqual([
      'first',
      'second',
      'Unknown tool: c',
    ]);
  });

  it('R12: identical ids of a sloppy model still get one result each', () => {
    const { state } = reached(
      start(),
      answered(1, '', [
        [{ id: 'x', name: 'a', args: { n: 1 } }, readTool],
        [{ id: 'x', name: 'a', args: { n: 2 } }, readTool],
      ]),
      ran(1, 'one'),
      ran(2, 'two'),
    );
    const last = state.history.at(-1);
    const results = last?.role === 'tool' ? last.results : [];
    expect(results.map((each) => [each.callId, each.text])).toEqual([
      ['x', 'one'],
      ['x~2', 'two'],
    ]);
  });

  it('R6: a second call with canonically equal arguments is not executed and says so', () => {
    const { state, events } = reached(
      start(),
      answered(1, '', [
        [{ name: 'look', args: '{"a":1,"b":[2]}' }, readTool],
        [{ name: 'look', args: '{ "b": [2], "a": 1 }' }, readTool],
      ]),
    );
    expect(dueKeys(state)).toEqual(['tool:1/1']);
    const failed = events.find((event) => event.type === 'tool.failed');
    expect(failed?.data).toMatchObject({ error_type: 'duplicate_call', effect: 'none' });
  });

  it('R6: identical spawn_subagent calls all run', () => {
    const spawn: [SaidCall, CallVerdict] = [
      { name: 'spawn_subagent', args: { prompt: 'p' } },
      { kind: 'subagent', prompt: 'p', approval: false },
    ];
    const { state } = reached(start(), answered(1, '', [spawn, spawn, spawn]));
    expect(state.children.map((child) => child.runId)).toEqual([
      'run_r/subagent/01',
      'run_r/subagent/02',
      'run_r/subagent/03',
    ]);
  });

  it('R6: identical delegations share one child and its result by default, and run apart where asked', () => {
    const call: [SaidCall, CallVerdict] = [{ name: 'delegate', args: { p: 1 } }, delegateTo('a')];
    const shared = reached(start(), answered(1, '', [call, call]), ended(1));
    expect(shared.state.children).toHaveLength(1);
    const last = shared.state.history.at(-1);
    const texts = last?.role === 'tool' ? last.results.map((each) => each.text) : [];
    expect(texts).toEqual(["[Agent 'a' (scripted/m)]\ndone", "[Agent 'a' (scripted/m)]\ndone"]);
    const apart = reached(start({ identical: 'run' }), answered(1, '', [call, call]));
    expect(apart.state.children).toHaveLength(2);
  });

  it('R3: without parallel_tools one tool runs after the other, delegations at once', () => {
    const { state } = reached(
      start({ parallel_tools: false }),
      answered(1, '', [
        [{ name: 'a' }, readTool],
        [{ name: 'b' }, readTool],
        [{ name: 'delegate' }, delegateTo('x')],
      ]),
    );
    expect(dueKeys(state).filter((key) => !key.startsWith('await'))).toEqual([
      'tool:1/1',
      'child:1',
    ]);
    const next = reached(
      start({ parallel_tools: false }),
      answered(1, '', [
        [{ name: 'a' }, readTool],
        [{ name: 'b' }, readTool],
      ]),
      ran(1),
    );
    expect(dueKeys(next.state)).toEqual(['tool:1/2']);
  });

  it('R12: results of 8 × 200 KB are cut to their share of the turn, each with a mark', () => {
    const calls = Array.from({ length: 8 }, (_, at): [SaidCall, CallVerdict] => [
      { name: 't', args: { at } },
      readTool,
    ]);
    const big = 'x'.repeat(200_000);
    const { state } = reached(
      start(),
      answered(1, '', calls),
      ...calls.map((_, at) => ran(at + 1, big)),
    );
    const last = state.history.at(-1);
    const texts = last?.role === 'tool' ? last.results.map((each) => each.text) : [];
    expect(texts).toHaveLength(8);
    expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(64_000);
    for (const text of texts) expect(text).toMatch(/\d+ of \d+ characters left out here/);
  });

  it('D7: a denied approval is the result of the call, and the run goes on', () => {
    const { state, events } = reached(
      start(),
      answered(1, '', [[{ name: 'w' }, { ...writeTool, approval: true } as CallVerdict]]),
      { type: 'approval', turn: 1, call: 1, granted: false, by: 'me', why: 'no' },
    );
    expect(types(events)).toContain('approval.denied');
    expect(state.phase).toBe('asking');
    expect(state.turn).toBe(2);
  });

  it('D7: once approved, a delegation starts its child directly', () => {
    const verdict = { ...delegateTo('a'), approval: true } as CallVerdict;
    const { state } = reached(start(), answered(1, '', [[{ name: 'delegate' }, verdict]]), {
      type: 'approval',
      turn: 1,
      call: 1,
      granted: true,
      by: 'me',
      why: '',
    });
    expect(dueKeys(state)).toContain('child:1');
  });
});

describe('delegation', () => {
  const four = ['a', 'b', 'c', 'd'].map((id): [SaidCall, CallVerdict] => [
    { name: 'delegate', args: { id } },
    delegateTo(id),
  ]);

  it('D3: fifo awaits the oldest child before the next start, so the order depends on the calls alone', () => {
    const { events } = reached(
      start({ width_max: 2 }),
      answered(1, '', four),
      ended(1),
      ended(2),
      ended(3),
      ended(4),
    );
    const order = events.flatMap((event) =>
      event.type === 'delegation.started' || event.type === 'delegation.completed'
        ? [`${event.type.slice(11)} ${event.data.ordinal}`]
        : [],
    );
    expect(order).toEqual([
      'started 1',
      'started 2',
      'completed 1',
      'started 3',
      'completed 2',
      'started 4',
      'completed 3',
      'completed 4',
    ]);
  });

  it('D3: fifo waits for the oldest only, eager for any', () => {
    const fifo = reached(start({ width_max: 2 }), answered(1, '', four));
    expect(dueKeys(fifo.state).filter((key) => key.startsWith('await'))).toEqual(['await:1']);
    const eager = reached(start({ width_max: 2, order: 'eager' }), answered(1, '', four));
    expect(dueKeys(eager.state).filter((key) => key.startsWith('await'))).toEqual([
      'await:1',
      'await:2',
    ]);
  });

  it('D6: an incomplete child gives its reason and its last text, and the event says incomplete', () => {
    const { state, events } = reached(
      start(),
      answered(1, '', four.slice(0, 1)),
      ended(1, { status: 'incomplete', reason: 'turn_limit', answer: 'so far' }),
    );
    expect(events.find((event) => event.type === 'delegation.completed')?.data).toMatchObject({
      child_status: 'incomplete',
    });
    const last = state.history.at(-1);
    const text = last?.role === 'tool' ? last.results[0]?.text : '';
    expect(text).toContain('turn_limit');
    expect(text).toContain('so far');
  });

  it('D6: a failed child names its operations unless it left nothing outside', () => {
    const failed = { status: 'failed', error: 'boom', error_type: 'x', turns: 2 };
    const clean = reached(start(), answered(1, '', four.slice(0, 1)), ended(1, failed));
    const last = clean.state.history.at(-1);
    expect(last?.role === 'tool' && last.results[0]?.text).toBe("Agent 'a' failed: boom");
    const dirty = reached(
      start(),
      answered(1, '', four.slice(0, 1)),
      ended(1, {
        ...failed,
        effect: 'uncertain',
        operations: ['shell (turn-1/call-1, uncertain)'],
      }),
    );
    const shown = dirty.state.history.at(-1);
    expect(shown?.role === 'tool' && shown.results[0]?.text).toContain('uncertain: shell');
    expect(dirty.state.effect).toBe('uncertain');
  });

  it('D6: a child that ran out of time failed by timeout', () => {
    const { state, events } = reached(
      start(),
      answered(1, '', four.slice(0, 1)),
      ended(1, { status: 'cancelled', stopped_by: 'deadline', reason: 'timed out after 5s' }),
    );
    expect(events.find((event) => event.type === 'delegation.failed')?.data).toMatchObject({
      error_type: 'timeout',
    });
    const last = state.history.at(-1);
    expect(last?.role === 'tool' && last.results[0]?.text).toBe("Agent 'a' timed out after 5s");
  });

  it('M4: unknown usage of one child makes the total unknown, never smaller', () => {
    const unknown = { inputTokens: null, outputTokens: 3, cachedInputTokens: 0 };
    const { state } = reached(
      start(),
      answered(1, '', four.slice(0, 1)),
      ended(1, { usage: unknown, cost_cents: null }),
      answered(2, 'end'),
    );
    expect(state.ended?.usage).toEqual({
      inputTokens: null,
      outputTokens: 13,
      cachedInputTokens: 0,
    });
    expect(state.ended?.cost_cents).toBeNull();
  });
});

describe('stopping', () => {
  const two = ['a', 'b'].map((id): [SaidCall, CallVerdict] => [
    { name: 'delegate', args: { id } },
    delegateTo(id),
  ]);

  it('N2: cancel while a child is queued never starts it', () => {
    const { state, events } = reached(
      start({ width_max: 1 }),
      answered(1, '', two),
      cancel,
      ended(1, { status: 'cancelled', reason: 'enough', stopped_by: 'parent' }),
      { type: 'halted' },
    );
    expect(types(events).filter((type) => type === 'delegation.started')).toHaveLength(1);
    expect(state.status).toBe('cancelled');
  });

  it('N4: a run is not over before its children are', () => {
    const { state, events } = reached(start(), answered(1, '', two), cancel, { type: 'halted' });
    expect(state.status).toBe('running');
    expect(types(events)).not.toContain('run.cancelled');
    expect(dueKeys(state)).toEqual([
      'child:1',
      'cancel:1',
      'await:1',
      'child:2',
      'cancel:2',
      'await:2',
    ]);
  });

  it('N2: nothing is recorded after the terminal event', () => {
    const { events } = reached(
      start(),
      answered(1, '', [[{ name: 'w' }, writeTool]]),
      cancel,
      { type: 'halted' },
      ran(1, 'late'),
      answered(2, 'late'),
      cancel,
      { type: 'note', note: { note_id: 'n', text: 't' }, forwardedTo: [], forwardFailed: [] },
    );
    expect(events.at(-1)?.type).toBe('run.cancelled');
    expect(types(events).filter((type) => type.startsWith('run.c'))).toEqual(['run.cancelled']);
  });

  it('R13: of a finish and a cancel in one tick the first wins', () => {
    expect(reached(start(), answered(1, 'x'), cancel).state.status).toBe('completed');
    const late = reached(start(), cancel, answered(1, 'x'), { type: 'halted' });
    expect(late.state.status).toBe('cancelled');
  });

  it('J5: an effectful call in flight at the end is uncertain, a reading one left nothing', () => {
    const { events, state } = reached(
      start(),
      answered(1, '', [
        [{ name: 'w' }, writeTool],
        [{ name: 'r' }, readTool],
      ]),
      cancel,
      { type: 'halted' },
    );
    const effects = events.flatMap((event) =>
      event.type === 'tool.failed' ? [event.data.effect] : [],
    );
    expect(effects).toEqual(['uncertain', 'none']);
    expect(state.ended?.effect).toBe('uncertain');
  });

  it('N2: a call that finished before the run stopped is recorded as finished', () => {
    const { events } = reached(
      start(),
      answered(1, '', [[{ name: 'w' }, writeTool]]),
      cancel,
      ran(1, 'it was done'),
      { type: 'halted' },
    );
    expect(types(events)).toContain('tool.completed');
    expect(types(events)).not.toContain('tool.failed');
  });

  it('N2: called off before it began, a run asks nothing', () => {
    const { state, events } = reached(
      { type: 'start', spec: specOf(), stop: cancel.stop },
      { type: 'halted' },
    );
    expect(types(events)).toEqual(['run.started', 'run.stopping', 'run.cancelled']);
    expect(state.turn).toBe(0);
  });
});

describe('notes', () => {
  const note = (id: string): RunCommand => ({
    type: 'note',
    note: { note_id: id, text: `say ${id}` },
    forwardedTo: [],
    forwardFailed: [],
  });

  it('N1: a note enters the history at the next turn and its receipt names the turn', () => {
    const { state, events } = reached(
      start(),
      note('n1'),
      answered(1, '', [[{ name: 'r' }, readTool]]),
      ran(1),
    );
    expect(events.find((event) => event.type === 'note.read')?.data).toEqual({
      note_id: 'n1',
      turn: 2,
    });
    expect(state.history.at(-1)).toEqual({ role: 'user', text: 'say n1' });
  });

  it('N1: a note that the run never read is too late where it completed, a dead letter where it was cancelled', () => {
    const late = reached(start(), note('n1'), answered(1, 'end'));
    expect(types(late.events).slice(-2)).toEqual(['note.too_late', 'run.completed']);
    const dead = reached(start(), note('n1'), cancel, { type: 'halted' });
    expect(types(dead.events).slice(-2)).toEqual(['note.dead_letter', 'run.cancelled']);
  });
});
