import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import type { Usage } from '../runtime/core/model.ts';

/** Where providers put their own counts. A zero counts only if one of these says so. */
const OWN_FIELDS = {
  inputTokens: ['prompt_tokens', 'input_tokens', 'promptTokenCount'],
  outputTokens: [
    'completion_tokens',
    'output_tokens',
    'candidatesTokenCount',
    'thoughtsTokenCount',
  ],
  cachedInputTokens: [
    'prompt_tokens_details.cached_tokens',
    'input_tokens_details.cached_tokens',
    'cache_read_input_tokens',
    'cachedContentTokenCount',
  ],
} as const satisfies Record<keyof Usage, readonly string[]>;

/** Tokens as reported. The provider library fills gaps with 0; here what was not said is `null` (SPEC M4). */
export function reportedUsage(usage: LanguageModelV3Usage | undefined): Usage {
  const counts = {
    inputTokens: usage?.inputTokens.total,
    outputTokens: usage?.outputTokens.total,
    cachedInputTokens: usage?.inputTokens.cacheRead,
  };
  const said = (name: keyof Usage): number | null => {
    const count = counts[name];
    // What is no count is not known: negative ones would refill a budget, and huge ones could not be added up.
    if (count === undefined || !Number.isSafeInteger(count) || count < 0) return null;
    if (count !== 0) return count;
    return OWN_FIELDS[name].some((path) => typeof at(usage?.raw, path) === 'number') ? 0 : null;
  };
  return {
    inputTokens: said('inputTokens'),
    outputTokens: said('outputTokens'),
    cachedInputTokens: said('cachedInputTokens'),
  };
}

function at(value: unknown, path: string): unknown {
  let here = value;
  for (const name of path.split('.')) {
    if (here === null || typeof here !== 'object') return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}
