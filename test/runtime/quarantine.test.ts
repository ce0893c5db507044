import { describe, expect, it } from 'vitest';
import { suspectsOf } from '../../src/runtime/core/resumption.ts';
import type { RunEvent } from '../../src/runtime/core/run-event.ts';
import { runEvent } from '../../src/runtime/core/run-event.ts';
import { evolveRun } from '../../src/runtime/core/run-evolve.ts';
import { pendingRun, type RunState } from '../../src/runtime/core/run-state.ts';
import { Quarantine, type Suspect } from '../../src/runtime/quarantine.ts';
import { specOf } from '../support/run-fixtures.ts';

const LOST = runEvent('run.resumed', null, { why: 'host_lost', detail: '', suspect: true });

function fold(runId: string, ...events: readonly RunEvent[]): RunState {
  return events.reduce(evolveRun, pendingRun(runId));
}

function answered(place: 'actor' | 'compute', effect: 'read' | 'effectful' = 'read'): RunEvent {
  const verdict = { kind: 'tool', place, effect, approval: false } as const;
  return runEvent('model.completed', 'turn-1', {
    turn: 1,
    text: '',
    calls: [{ id: 'c', name: 't', args_text: '{}', verdict }],
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    cost_cents: 0,
    served_by: 'x',
    finish_reason: 'tool_calls',
    attempts: 1,
  });
}

const STARTED = runEvent('run.started', null, specOf());
const ASKING = [STARTED, runEvent('turn.started', 'turn-1', { turn: 1 })];
const BEGAN = runEvent('tool.started', 'turn-1/call-1', {
  call_id: 'c',
  name: 't',
  effect_class: 'read',
});
const TURN_DONE = runEvent('turn.completed', 'turn-1', { turn: 1 });

function failed(errorType: string): RunEvent {
  return runEvent('tool.failed', 'turn-1/call-1', {
    call_id: 'c',
    name: 't',
    error_type: errorType,
    error: 'x',
    effect: 'none',
    text: '',
    chars: 0,
    full_path: null,
  });
}

describe('who may have ended the host', () => {
  const working = fold('working', ...ASKING, answered('compute'), BEGAN);
  const asking = fold('asking', ...ASKING);
  const between = fold('between', STARTED);
  const stopping = fold(
    'stopping',
    ...ASKING,
    answered('actor'),
    BEGAN,
    runEvent('run.stopping', null, {
      status: 'cancelled',
      reason: '',
      by: 'user',
      error_type: null,
    }),
  );

  it('J5: a run whose tool was at work, and then none that only waited for its model', () => {
    expect([...suspectsOf([asking, working, between, stopping])]).toEqual(['working']);
  });

  it('J5: those that waited for their model, where no tool was at work', () => {
    expect([...suspectsOf([asking, between, stopping])]).toEqual(['asking']);
  });
});

describe('losses that count', () => {
  it('J5: are forgiven after a turn that went well, and not after one that was interrupted', () => {
    const lost = [...ASKING, answered('actor'), BEGAN, LOST];
    expect(fold('r', ...lost).hostLosses).toBe(1);
    expect(fold('r', ...lost, failed('not_found'), TURN_DONE).hostLosses).toBe(0);
    const interrupted = fold('r', ...lost, failed('interrupted'), TURN_DONE);
    expect(interrupted.hostLosses).toBe(1);
    const next = [runEvent('turn.started', 'turn-2', { turn: 2 }), TURN_DONE];
    expect(next.reduce(evolveRun, interrupted).hostLosses).toBe(0);
  });

  it('J5: are those of a run that was a suspect', () => {
    const innocent = { why: 'host_lost', detail: '', suspect: false } as const;
    expect(fold('r', ...ASKING, runEvent('run.resumed', null, innocent)).hostLosses).toBe(0);
  });
});

describe('the quarantine', () => {
  class Held implements Suspect {
    readonly runId: string;
    state = fold('r', ...ASKING, answered('actor'), BEGAN, LOST, LOST);
    hasEnded = false;
    resumed = 0;

    constructor(runId: string) {
      this.runId = runId;
    }

    resume(): void {
      this.resumed += 1;
    }
  }

  const turns = (all: readonly Held[]) => all.map(({ resumed }) => resumed);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('J5: takes up one at a time: the next when the one before has ended, got on, or waits for others', async () => {
    const quarantine = new Quarantine();
    const all = ['a', 'b', 'c', 'd'].map((name) => new Held(name));
    const [a, b, c] = all;
    for (const held of all) quarantine.add(held);
    quarantine.next();
    quarantine.next();
    expect(turns(all)).toEqual([1, 0, 0, 0]);
    quarantine.recorded('b');
    quarantine.recorded('a');
    await settled();
    expect(turns(all)).toEqual([1, 0, 0, 0]);
    if (a !== undefined) a.hasEnded = true;
    quarantine.recorded('a');
    await settled();
    expect(turns(all)).toEqual([1, 1, 0, 0]);
    if (b !== undefined) b.state = fold('b', ...ASKING);
    quarantine.recorded('b');
    await settled();
    expect(turns(all)).toEqual([1, 1, 1, 0]);
    if (c !== undefined) c.state = fold('c', ...ASKING, answered('actor'), LOST, LOST);
    quarantine.recorded('c');
    await settled();
    expect(turns(all)).toEqual([1, 1, 1, 1]);
  });

  it('J5: passes over one that ended or was stopped while it waited', () => {
    const quarantine = new Quarantine();
    const [ended, last] = [new Held('ended'), new Held('last')];
    ended.hasEnded = true;
    quarantine.add(ended);
    quarantine.add(last);
    quarantine.next();
    expect(turns([ended, last])).toEqual([0, 1]);
  });
});
