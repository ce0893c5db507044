import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { logLine, progressLine, showsProgress } from '../../../src/cli/core/event-line.ts';
import { eventWords } from '../../../src/cli/core/event-words.ts';
import { plain } from '../../../src/cli/core/paint.ts';
import { textWidth } from '../../../src/cli/core/text-width.ts';
import { EVENT_TYPES, type EventType, type JournalEvent } from '../../../src/runtime/core/event.ts';

function event(
  type: EventType,
  data: JsonObject,
  change: Partial<JournalEvent> = {},
): JournalEvent {
  return {
    seq: 7,
    event_id: 'run_a#1',
    run_id: 'run_a',
    parent_run_id: null,
    parent_event_id: null,
    frame_id: null,
    ts: '2026-03-01T12:00:01.123Z',
    type,
    v: 1,
    data,
    ...change,
  };
}

describe('the words of an event', () => {
  it.each<[EventType, JsonObject, string]>([
    [
      'run.started',
      { agent_id: 'lead', prompt: 'go', model: { provider: 'scripted.a', model: 'x' } },
      'agent lead, scripted (no language model): go',
    ],
    [
      'run.started',
      { agent_id: 'ops', prompt: 'go', provider_type: 'openai', independent: true, narrowings: [] },
      'agent ops (independent), openai: go',
    ],
    [
      'run.started',
      { agent_id: 'ops', prompt: 'go', provider_type: 'openai', narrowings: [{}] },
      'agent ops (narrowed), openai: go',
    ],
    [
      'run.user_note',
      { note_id: 'n1', text: 'hey', forwarded_to: ['run_a/delegate/01'], forward_failed: [] },
      'n1: hey; forwarded to run_a/delegate/01',
    ],
    [
      'run.stopping',
      { status: 'cancelled', by: 'user', reason: 'enough' },
      'cancelled by user: enough',
    ],
    ['run.completed', { turns: 1, answer: 'yes' }, '1 turn: yes'],
    [
      'run.failed',
      { turns: 2, error_type: 'model.timeout', error: 'slow' },
      '2 turns, model.timeout: slow',
    ],
    ['run.incomplete', { turns: 2, reason: 'turn_limit' }, '2 turns: turn_limit'],
    ['note.read', { note_id: 'n1', turn: 3 }, 'n1 in turn 3'],
    ['model.started', { provider: 'openai.a', model: 'm' }, 'openai.a/m'],
    [
      'model.completed',
      {
        text: 'hm',
        calls: [{ name: 'delegate' }, { name: 'agents' }],
        cost_cents: 0.5,
        usage: { inputTokens: 10, outputTokens: null, cachedInputTokens: null },
      },
      '0.5¢; 10 in, ? out; calls delegate, agents',
    ],
    ['model.completed', { text: 'the answer', calls: [] }, 'the answer'],
    ['tool.completed', { name: 'agents', chars: 12 }, 'agents, 12 characters'],
    [
      'tool.failed',
      { name: 'shell', error_type: 'timeout', error: 'late' },
      'shell, timeout: late',
    ],
    ['approval.denied', { by: 'nobody', why: 'no one asked' }, 'by nobody: no one asked'],
    [
      'delegation.started',
      { ordinal: 2, agent_id: 'part', child_run_id: 'run_a/delegate/02' },
      '#2 part as run_a/delegate/02',
    ],
  ])('%s', (type, data, words) => {
    expect(eventWords(type, data)).toBe(words);
  });

  it('is total: every known type, and any other, has words for data that lacks everything', () => {
    for (const type of [...EVENT_TYPES, 'later.type', 'constructor', '__proto__']) {
      expect(typeof eventWords(type, {})).toBe('string');
    }
    expect(eventWords('later.type', { x: 1 })).toBe('{"x":1}');
  });
});

describe('a line of the log', () => {
  const started = event('tool.started', { name: 'agents' }, { frame_id: 'turn-1/call-2' });

  it('J3: has seq, time, place in the run, type and words', () => {
    expect(logLine(started, 'run_a', { paint: plain, width: null })).toBe(
      '    7 12:00:01.123Z turn-1/call-2 tool.started          agents',
    );
    expect(
      logLine(event('run.completed', { turns: 1, answer: 'a' }), 'run_a', {
        paint: plain,
        width: null,
      }),
    ).toBe('    7 12:00:01.123Z -             run.completed         1 turn: a');
  });

  it('names a run below the one that was asked for by what stands below it', () => {
    const below = { ...started, run_id: 'run_a/delegate/01' };
    expect(logLine(below, 'run_a', { paint: plain, width: null, subtree: true })).toContain(
      ' delegate/01 turn-1/call-2 tool.started ',
    );
  });

  it('is one line of the terminal, whatever an answer holds', () => {
    const answer = `first\nsecond\u001b[2J${'漢'.repeat(500)}`;
    const ended = event('run.completed', { turns: 1, answer });
    const line = logLine(ended, 'run_a', { paint: plain, width: 90 });
    expect(textWidth(line)).toBeLessThanOrEqual(90);
    expect(line).toContain('first second\\x1b[2J');
    expect(line).not.toContain('\u001b');
  });

  it('K1: a line of progress names the whole run, and leaves out what others say better', () => {
    expect(progressLine(started, { paint: plain, width: null })).toBe(
      '12:00:01.123Z run_a turn-1/call-2 tool.started          agents',
    );
    expect(showsProgress(started)).toBe(true);
    expect(showsProgress(event('turn.started', {}))).toBe(false);
  });
});
