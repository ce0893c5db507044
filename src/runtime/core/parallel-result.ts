import type { JsonObject } from '../../base/json.ts';
import { delegateResult } from './child-result.ts';
import { clip, fairShares, surelyWhole } from './clip.ts';
import { type ChildOutcome, callFrame, type RunEvent, runEvent } from './run-event.ts';
import type { CallState, RunState } from './run-state.ts';
import { type Effect, worseEffect } from './tool.ts';

const BETWEEN_BLOCKS = '\n\n';
const ERROR = 'Error: ';

/** A child's part of its call's result. */
export function partText(outcome: ChildOutcome): string {
  const { text, partial } = delegateResult(outcome);
  return partial === '' ? text : `${text}${BETWEEN_BLOCKS}${partial}`;
}

/** Have all children ended that this call has or will have? */
export function isParallelOver(state: RunState, { verdict, parts }: CallState): boolean {
  if (verdict.kind !== 'parallel' || parts.some(({ end }) => end === null)) return false;
  const launchesNoMore = state.stopping !== null || state.isOutOfTime;
  return parts.length === verdict.entries.length || launchesNoMore;
}

interface Block {
  readonly head: string;
  readonly body: string;
  readonly fullPath: string | null;
}

/**
 * The result of a parallel call (SPEC D8): a block an entry, in their order; what was not launched says `why`. It fails if
 * any of its children did, and its effect is the gravest of theirs.
 */
export function parallelResult(state: RunState, call: CallState, why: string): RunEvent {
  const ends = endsOf(call, why);
  const isError = ends.some((end) => end.isError);
  const text = textOf(state, ends);
  const frame = callFrame(state.turn, call.index);
  const about = { call_id: call.id, name: call.name, text, chars: text.length, full_path: null };
  const structured = structuredOf(ends);
  if (!isError) return runEvent('tool.completed', frame, { ...about, structured });
  return runEvent('tool.failed', frame, {
    ...about,
    structured,
    error_type: 'parallel_failed',
    error: 'One or more parallel agents failed',
    effect: structured.effect,
  });
}

/** Characters that each child's part may have without ever being cut. */
export function partRoom(call: CallState, wholeChars: number): number {
  if (call.verdict.kind !== 'parallel') return wholeChars;
  const { entries } = call.verdict;
  const around = entries.reduce(
    (sum, { agent_id: agentId }) => sum + headOf(agentId, false).length + ERROR.length,
    titleOf(entries.length).length + BETWEEN_BLOCKS.length * entries.length,
  );
  return Math.floor((wholeChars - around) / entries.length);
}

function endsOf({ verdict, parts }: CallState, why: string) {
  const entries = verdict.kind === 'parallel' ? verdict.entries : [];
  return entries.map(({ agent_id: agentId }, at) => {
    const structured = { agent_id: agentId, status: 'not_started', effect: 'none' as Effect };
    const end = parts[at]?.end ?? { isError: true, text: why, fullPath: null, structured };
    return { agentId, ...end };
  });
}

function textOf(state: RunState, ends: ReturnType<typeof endsOf>): string {
  const blocks = ends.map(({ agentId, isError, text, fullPath }): Block => {
    const head = headOf(agentId, !isError);
    return { head: isError ? `${head}${ERROR}` : head, body: text, fullPath };
  });
  const title = titleOf(ends.length);
  const around = blocks.reduce(
    (sum, { head }) => sum + head.length + BETWEEN_BLOCKS.length,
    title.length,
  );
  const shares = fairShares(
    blocks.map(({ body }) => body.length),
    Math.max(0, charsMax(state) - around),
  );
  const cut = blocks.map(
    ({ head, body, fullPath }, at) => head + clip(body, shares[at] ?? 0, fullPath),
  );
  return title + cut.join(BETWEEN_BLOCKS);
}

/** Cut here, where every part keeps its head and its file, and not again for the turn's sake (SPEC R12). */
function charsMax({ spec, calls }: RunState): number {
  if (spec === null) return 0;
  return surelyWhole(spec.result_chars_max, spec.turn_result_chars_max, calls.length);
}

function titleOf(agents: number): string {
  return `[Parallel delegation: ${agents} agents]${BETWEEN_BLOCKS}`;
}

function headOf(agentId: string, success: boolean): string {
  return `--- ${agentId} (success=${success}) ---\n`;
}

function structuredOf(ends: ReturnType<typeof endsOf>): JsonObject & { readonly effect: Effect } {
  const children = ends.map(({ structured }) => structured);
  const effect = children.reduce<Effect>(
    (worst, child) => worseEffect(worst, child.effect),
    'none',
  );
  return {
    status: ends.some(({ isError }) => isError) ? 'failed' : 'completed',
    effect,
    children,
  };
}
