import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utcMs, utcText } from '../../../src/runtime/core/utc-time.ts';

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

describe('a moment as text', () => {
  it('is what Date says of it, and comes back as the same milliseconds', () => {
    const moment = fc.integer({ min: Date.parse('0000-03-01T00:00:00.000Z'), max: LAST_MS });
    fc.assert(
      fc.property(moment, (ms) => {
        expect(utcText(ms)).toBe(new Date(ms).toISOString());
        expect(utcMs(utcText(ms))).toBe(ms);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '1970-01-01T00:00:00.000Z',
    '2000-02-29T23:59:59.999Z',
    '1900-02-28T12:00:00.000Z',
    '2024-12-31T23:59:59.001Z',
    '2100-03-01T00:00:00.000Z',
  ])('%s keeps its day around the ends of months, years and centuries', (text) => {
    expect(utcMs(text)).toBe(Date.parse(text));
    expect(utcText(Date.parse(text))).toBe(text);
  });

  it('is none where the text has another form', () => {
    expect(utcMs('2024-12-31')).toBeNull();
    expect(utcMs('2024-12-31T23:59:59.001+02:00')).toBeNull();
  });
});
