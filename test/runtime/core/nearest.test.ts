import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearest } from '../../../src/runtime/core/nearest.ts';

const KEYS = ['name', 'max_turns', 'model', 'model_provider', 'api_key_env', 'tools', 'enabled'];

describe('C1: the nearest known key', () => {
  test.each([
    ['max_turn', 'max_turns'],
    ['maxturns', 'max_turns'],
    ['max-turns', 'max_turns'],
    ['MAX_TURNS', 'max_turns'],
    ['nmae', 'name'],
    ['modle', 'model'],
    ['api_key', 'api_key_env'],
    ['model_provder', 'model_provider'],
    ['tool', 'tools'],
    ['temperature', null],
    ['x', null],
    ['', null],
  ])('of %s is %s', (asked, expected) => {
    expect(nearest(asked, KEYS)).toBe(expected);
  });

  test('among several equally near is the first listed', () => {
    expect(nearest('bat', ['cat', 'rat'])).toBe('cat');
  });

  test('among none is none', () => {
    expect(nearest('name', [])).toBeNull();
  });
});

describe('the edit distance', () => {
  test.each([
    ['', '', 0],
    ['abc', '', 3],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
  ])('from %j to %j is %d', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  test('is symmetric, zero only for equals, and never above the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});
