import { type AuditDesk, type AuditedRun, expectThat, type Sum } from './audit-run.ts';
import type { JournalEvent } from './event.ts';
import type { TerminalData } from './run-event.ts';

/** Sums of cents are compared with this much room: they are added in the order of the journal, and so in the run. */
const CENTS_TOLERANCE = 1e-9;

/** SPEC M4: what a run says of itself at its end is its own requests and its children, each counted once. */
export function auditTotals(
  desk: AuditDesk,
  run: AuditedRun,
  said: TerminalData,
  at: JournalEvent,
): void {
  const whose = 'is not the sum of its own requests and its children';
  const isUsage = isSameUsage(said.usage, run.usage) || (run.mayBeUnknown && isUnknown(said.usage));
  expectThat(isUsage, desk, 'usage-differs', at, `its usage ${whose}`);
  const isUnknownCost = run.mayBeUnknown && said.cost_cents === null;
  const isCost = isSameCost(said.cost_cents, run.cost) || isUnknownCost;
  expectThat(isCost, desk, 'cost-differs', at, `its cost ${whose}`);
  expectThat(
    said.turns === run.turn,
    desk,
    'turns-differs',
    at,
    `it says ${said.turns} turns, the journal holds ${run.turn}`,
  );
  expectThat(
    said.effect === run.effect,
    desk,
    'effect-differs',
    at,
    `it says effect ${said.effect}, its calls say ${run.effect}`,
  );
}

function isUnknown({ inputTokens, outputTokens, cachedInputTokens }: Sum): boolean {
  return inputTokens === null && outputTokens === null && cachedInputTokens === null;
}

export function isSameUsage(left: Sum, right: Sum): boolean {
  return (
    left.inputTokens === right.inputTokens &&
    left.outputTokens === right.outputTokens &&
    left.cachedInputTokens === right.cachedInputTokens
  );
}

export function isSameCost(left: number | null, right: number | null): boolean {
  if (left === null || right === null) return left === right;
  return Math.abs(left - right) <= CENTS_TOLERANCE * Math.max(1, Math.abs(left), Math.abs(right));
}
