import type { Usage } from './model.ts';

/** The usage of no request at all. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };

/** A total that holds an unknown part is unknown: it is never counted as 0 (SPEC M4). */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: addKnown(left.inputTokens, right.inputTokens),
    outputTokens: addKnown(left.outputTokens, right.outputTokens),
    cachedInputTokens: addKnown(left.cachedInputTokens, right.cachedInputTokens),
  };
}

export function addKnown(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}
