import type { Usage } from '../../runtime/core/model.ts';
import type { RunStatusEnded } from '../../runtime/core/run-event.ts';
import type { Effect } from '../../runtime/core/tool.ts';

/** How a run ended, as the library says it. */
export interface EndedRun {
  readonly runId: string;
  readonly status: RunStatusEnded;
  readonly answer: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly effect: Effect;
  readonly error?: { readonly code: string; readonly message: string };
  readonly reason?: string;
}

/** The one object that `troupe run --json` prints (SPEC K1). */
export function outcomeJson(ended: EndedRun) {
  return {
    run_id: ended.runId,
    status: ended.status,
    answer: ended.answer,
    turns: ended.turns,
    usage: {
      input_tokens: ended.usage.inputTokens,
      output_tokens: ended.usage.outputTokens,
      cached_input_tokens: ended.usage.cachedInputTokens,
    },
    cost_cents: ended.cost,
    effect: ended.effect,
    ...(ended.error === undefined ? {} : { error: ended.error }),
    ...(ended.reason === undefined ? {} : { reason: ended.reason }),
  };
}
