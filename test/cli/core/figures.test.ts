import { describe, expect, it } from 'vitest';
import { EXIT, exitOfFault, exitOfStatus } from '../../../src/cli/core/exit-code.ts';
import {
  counted,
  dayAndTime,
  formatCost,
  formatElapsed,
  timeOfDay,
} from '../../../src/cli/core/figures.ts';
import { modelWords, modelWordsOf } from '../../../src/cli/core/model-words.ts';
import { outcomeJson } from '../../../src/cli/core/outcome-json.ts';
import { receiptLine } from '../../../src/cli/core/receipt-line.ts';

describe('figures', () => {
  it.each([
    [-5, '0.0s'],
    [0, '0.0s'],
    [449, '0.4s'],
    [9949, '9.9s'],
    [9950, '9s'],
    [59_999, '59s'],
    [60_000, '1m00s'],
    [187_000, '3m07s'],
    [3_599_999, '59m59s'],
    [7_500_000, '2h05m'],
    [273_600_000, '3d04h'],
  ])('%i ms are shown as %s', (ms, text) => {
    expect(formatElapsed(ms)).toBe(text);
  });

  it.each([
    [null, '-'],
    [0, '0¢'],
    [0.004, '<0.01¢'],
    [0.016, '0.02¢'],
    [12.5, '12.5¢'],
    [250, '250¢'],
  ])('M4: a cost of %s is shown as %s: unknown is never nothing', (cents, text) => {
    expect(formatCost(cents)).toBe(text);
  });

  it('times of events are shown in UTC', () => {
    expect(timeOfDay('2026-03-01T12:00:01.123Z')).toBe('12:00:01.123Z');
    expect(dayAndTime('2026-03-01T12:00:01.123Z')).toBe('2026-03-01 12:00:01Z');
    expect(dayAndTime(null)).toBe('-');
    expect(counted(1, 'turn')).toBe('1 turn');
    expect(counted(0, 'turn')).toBe('0 turns');
  });
});

describe('names of models', () => {
  it.each([
    ['scripted.audit', 'scripted (no language model)', 'scripted (no language model)'],
    ['scripted', 'gpt-5', 'scripted (no language model)'],
    ['scripted.audit', null, 'scripted (no language model)'],
    ['openai-compatible.ollama', 'qwen3', 'openai-compatible.ollama/qwen3'],
    ['scriptedly.x', 'm', 'scriptedly.x/m'],
  ])('K1: %s with model %s is %s', (provider, model, words) => {
    expect(modelWords(provider, model)).toBe(words);
  });

  it('reads provider and model from one label', () => {
    expect(modelWordsOf('scripted.a/m')).toBe('scripted (no language model)');
    expect(modelWordsOf('openai-compatible.ollama/library/qwen3')).toBe(
      'openai-compatible.ollama/library/qwen3',
    );
    expect(modelWordsOf('openai.main')).toBe('openai.main');
  });
});

describe('exit codes', () => {
  it.each([
    ['completed', 0],
    ['failed', 1],
    ['incomplete', 3],
    ['cancelled', 130],
  ] as const)('K1: a run that is %s exits %i', (status, code) => {
    expect(exitOfStatus(status)).toBe(code);
  });

  it.each([
    ['config.invalid', EXIT.usage],
    ['argument.invalid', EXIT.usage],
    ['agent.not-found', EXIT.usage],
    ['state.locked', EXIT.failed],
    ['journal.corrupt', EXIT.failed],
    ['host.absent', EXIT.failed],
    ['run.ended', EXIT.failed],
  ] as const)('K1: the fault %s exits %i', (code, exit) => {
    expect(exitOfFault(code)).toBe(exit);
  });
});

describe('the outcome as JSON', () => {
  const ended = {
    runId: 'run_a',
    status: 'completed',
    answer: 'yes',
    turns: 2,
    usage: { inputTokens: 10, outputTokens: null, cachedInputTokens: 0 },
    cost: null,
    effect: 'none',
  } as const;

  it('K1: has exactly the keys of the contract, in snake case', () => {
    expect(outcomeJson(ended)).toEqual({
      run_id: 'run_a',
      status: 'completed',
      answer: 'yes',
      turns: 2,
      usage: { input_tokens: 10, output_tokens: null, cached_input_tokens: 0 },
      cost_cents: null,
      effect: 'none',
    });
  });

  it('K1: a failed one has its error, an incomplete one its reason', () => {
    const error = { code: 'model.refused', message: 'no' };
    expect(outcomeJson({ ...ended, status: 'failed', error })).toMatchObject({ error });
    expect(outcomeJson({ ...ended, status: 'incomplete', reason: 'turn_limit' })).toMatchObject({
      reason: 'turn_limit',
    });
  });
});

describe('receipts of a note', () => {
  it.each([
    ['read', 3, 'run_a: read in turn 3'],
    ['too_late', null, 'run_a: too late, it ended without another turn'],
    ['dead_letter', null, 'run_a: dead letter, it was stopped before it could read it'],
    ['forward_failed', null, 'run_a: forward failed, it had ended when the note came'],
  ] as const)('N1: %s is told in words', (outcome, turn, line) => {
    expect(receiptLine({ run_id: 'run_a', outcome, turn })).toBe(line);
  });
});
