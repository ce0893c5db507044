import { describe, expect, test } from 'vitest';
import { matchOf, textFault } from '../../../src/runtime/core/memory.ts';

describe('X4: a query in words', () => {
  test.each([
    ['red fox', '"red"* OR "fox"*'],
    ['Red red RED', '"red"*'],
    ['a AND b NOT (c OR "d"*)', '"a"* OR "and"* OR "b"* OR "not"* OR "c"* OR "or"* OR "d"*'],
    ['key:secret', '"key"* OR "secret"*'],
    ['naïve Ärger', '"naïve"* OR "ärger"*'],
    ['птица 鳥', '"птица"* OR "鳥"*'],
    ['x\0y\ud800z', '"x"* OR "y"* OR "z"*'],
  ])('%j is read as %s, and nothing of it as an operator', (query, match) => {
    expect(matchOf(query)).toBe(match);
  });

  test.each(['', '   ', '"*()-^:', '\0'])('%j has no word', (query) => {
    expect(matchOf(query)).toBeNull();
  });

  test('counts 32 words and no more', () => {
    const words = Array.from({ length: 40 }, (_, at) => `w${at}`);
    expect(matchOf(words.join(' '))?.split(' OR ')).toHaveLength(32);
  });
});

test.each([
  [' \n', "'key' must not be blank"],
  ['a\0b', "'key' must not hold a NUL character"],
  ['a\ud83d', "'key' holds half of a surrogate pair"],
  ['a 😀', null],
])('a text %j is answered with %j', (text, words) => {
  expect(textFault('key', text)).toBe(words);
});
