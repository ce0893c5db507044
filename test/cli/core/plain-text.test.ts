import { describe, expect, it } from 'vitest';
import { jsonLine, safeBlock, safeJson, safeLine } from '../../../src/cli/core/plain-text.ts';

/** Every code that a terminal may obey: C0 without tab and line feed, DEL, C1. */
const CONTROLS = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...Array.from({ length: 33 }, (_, at) => 0x7f + at),
].filter((code) => code !== 9 && code !== 10);

describe('text for a terminal', () => {
  it('K1: no control character of a text is left in it, on one line or on several', () => {
    for (const code of CONTROLS) {
      const text = `a${String.fromCharCode(code)}b`;
      for (const safe of [safeBlock(text), safeLine(text)]) {
        expect([...safe].map((character) => character.charCodeAt(0))).not.toContain(code);
      }
    }
  });

  it.each([
    ['an escape sequence is shown, not sent', '\u001b[31mred', '\\x1b[31mred'],
    ['the eight-bit introducer is shown', '\u009b31m', '\\x9b31m'],
    ['marks that turn the writing round are shown', 'a\u202egnp.exe', 'a\\u202egnp.exe'],
    ['half a surrogate pair becomes the replacement mark', 'a\ud800b', 'a\ufffdb'],
    ['letters, emoji and joiners stay', 'né 漢字 👩‍💻', 'né 漢字 👩‍💻'],
    ['line ends and tabs stay', 'a\n\tb', 'a\n\tb'],
    ['a carriage return before a line feed goes', 'a\r\nb', 'a\nb'],
    ['a lone carriage return cannot overwrite a line', 'safe\rfake', 'safe\\x0dfake'],
  ])('%s', (_title, text, shown) => {
    expect(safeBlock(text)).toBe(shown);
  });

  it.each([
    ['a\r\n\n b\tc ', 'a b c'],
    ['a\u2028b\u0085c', 'a b c'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
  ])('one line of %j is %j', (text, line) => {
    expect(safeLine(text)).toBe(line);
  });

  it('JSON reads back as the same value though nothing in it can steer a terminal', () => {
    const value = { text: 'a\u001b[0m\u007f\u009b\u202e\u2028\ud800 漢 "quoted"' };
    const line = jsonLine(value);
    expect(JSON.parse(line)).toEqual(value);
    expect(line).toMatch(/^[ -~漢]+$/);
    expect(safeJson(line)).toBe(line);
  });
});
