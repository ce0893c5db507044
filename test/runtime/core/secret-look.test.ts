import { describe, expect, test } from 'vitest';
import { looksLikeKey, withoutKeys } from '../../../src/runtime/core/secret-look.ts';

describe('C6: a text that looks like a key', () => {
  test.each([
    'sk-abc123',
    'sk-proj-0123456789abcdef',
    'sk_live_51Habc',
    'gsk_abcdefghijkl',
    'AIzaSyA-0123456789',
    'hf_abcdefgh',
    'xai-0123456789',
    'ghp_0123456789abcdef',
    'Bearer abc',
    '0123456789abcdef0123456789abcdef',
    'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF',
  ])('is %s', (text) => {
    expect(looksLikeKey(text)).toBe(true);
  });

  test.each([
    'OPENAI_API_KEY',
    'my_key',
    'skill',
    'MY_VERY_LONG_ENVIRONMENT_VARIABLE_NAME_2',
    'http://127.0.0.1:11434/v1/some/Longer/path0123456789',
    '',
  ])('is not %s', (text) => {
    expect(looksLikeKey(text)).toBe(false);
  });

  test('is taken out of the words of others', () => {
    expect(withoutKeys('unresolved alias: sk-0123456789 at a')).toBe(
      'unresolved alias: (not shown) at a',
    );
  });
});
