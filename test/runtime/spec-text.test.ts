import { expect, it } from 'vitest';
import { SpecText } from '../../src/runtime/spec-text.ts';
import { specOf } from '../support/run-fixtures.ts';

it('is the record as JSON, also for a run that shares most of it with an earlier one', () => {
  const texts = new SpecText();
  const first = specOf({ prompt: 'one "quoted"\n' });
  const second = { ...first, prompt: 'two', session_key: 's2', started_at_ms: 7, max_turns: 3 };
  expect(JSON.parse(texts.of(first))).toEqual(first);
  expect(JSON.parse(texts.of(second))).toEqual(second);
});

it('takes nothing from a run that has the same scope and differs elsewhere', () => {
  const texts = new SpecText();
  const first = specOf({ tools: ['read_file'] });
  texts.of(first);
  const other = { ...first, tools: [], depth: 1 };
  expect(JSON.parse(texts.of(other))).toEqual(other);
  expect(JSON.parse(texts.of(first))).toEqual(first);
});
