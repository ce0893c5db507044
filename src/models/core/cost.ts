import type { ProviderEntry, Usage } from '../../runtime/core/model.ts';

/**
 * Cents of one request; `null` where the price, the input or the output tokens are unknown (SPEC M4). Where the
 * provider reports no cached share, all input counts at the full price.
 */
export function costCents(usage: Usage, price: ProviderEntry['price']): number | null {
  if (price === null || usage.inputTokens === null || usage.outputTokens === null) return null;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const millionths =
    (usage.inputTokens - cached) * price.input +
    cached * price.cachedInput +
    usage.outputTokens * price.output;
  return millionths / 1_000_000;
}
