import type { Effect, ToolOutcome } from '../../runtime/core/tool.ts';

export type Failure = Extract<ToolOutcome, { readonly ok: false }>;

/** A value, or the outcome with which the tool call ends because there is none. */
export type Step<Value> = { readonly ok: true; readonly value: Value } | Failure;

/** A call that failed before it touched anything, unless `effect` says otherwise. */
export function failed(
  errorType: string,
  error: string,
  more: { readonly effect?: Effect; readonly text?: string } = {},
): Failure {
  const { effect = 'none', text } = more;
  return text === undefined || text === ''
    ? { ok: false, errorType, error, effect }
    : { ok: false, errorType, error, effect, text };
}

export function step<Value>(value: Value): Step<Value> {
  return { ok: true, value };
}
