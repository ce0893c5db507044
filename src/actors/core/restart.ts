/** At most `restartsMax` restarts within any `periodMs`. */
export interface RestartIntensity {
  readonly restartsMax: number;
  readonly periodMs: number;
}

export type RestartVerdict =
  | { readonly type: 'restart'; readonly times: readonly number[] }
  | { readonly type: 'give-up' };

/**
 * May what just ended be started again? `times` are the moments of earlier restarts as this function returned them; keep
 * the ones it returns. A restart exactly `periodMs` ago no longer counts.
 */
export function judgeRestart(
  times: readonly number[],
  { restartsMax, periodMs }: RestartIntensity,
  nowMs: number,
): RestartVerdict {
  const recent = times.filter((time) => nowMs - time < periodMs);
  if (recent.length >= restartsMax) return { type: 'give-up' };
  return { type: 'restart', times: [...recent, nowMs] };
}
