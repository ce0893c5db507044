import { assertNever } from '../../base/never.ts';
import { callFailed, callSaid } from './call-end.ts';
import { childBegan, childEnded, unlaunchedWords } from './child-end.ts';
import { parallelResult } from './parallel-result.ts';
import type { Step } from './parted-machine.ts';
import { planEvent } from './plan-event.ts';
import { resumed } from './resumption.ts';
import type { RunCommand } from './run-command.ts';
import { endOf } from './run-end.ts';
import { callFrame, type RunEvent, runEvent, turnFrame } from './run-event.ts';
import { evolveRun } from './run-evolve.ts';
import { ALONE, following, type RunSurroundings, refusalOf } from './run-follow.ts';
import { type CallState, callAt, livePlans, type RunState } from './run-state.ts';
import { settleCalls } from './run-verdict.ts';

/** So many events decided, the rest is left to a command of its own: nothing else waits for a fan-out of thousands. */
const EVENTS_A_STEP = 32;

const EMPTY_ANSWER = 'model provider returned an invalid semantic completion.';

/** The events of a command and all that follows of itself from them; none where the command comes too late. */
export function decideRun(
  state: RunState,
  command: RunCommand,
  around: RunSurroundings = ALONE,
): readonly RunEvent[] {
  return advanceRun(state, command, around).map(({ event }) => event);
}

export function advanceRun(
  state: RunState,
  command: RunCommand,
  around: RunSurroundings = ALONE,
): readonly Step<RunState, RunEvent>[] {
  if (state.ended !== null) return [];
  const steps: Step<RunState, RunEvent>[] = [];
  let last = state;
  const take = (events: readonly RunEvent[]) => {
    for (const event of events) {
      const before = last;
      last = evolveRun(before, event);
      steps.push({ before, event, after: last });
    }
    return events.length > 0;
  };
  if (!take(respond(state, command)) && command.type !== 'proceed') return steps;
  const unrecorded = command.type === 'answered' ? (command.answer.costCents ?? 0) : 0;
  while (steps.length < EVENTS_A_STEP && take(following(last, around, unrecorded)));
  return steps;
}

function respond(state: RunState, command: RunCommand): readonly RunEvent[] {
  switch (command.type) {
    case 'start':
      return started(state, command);
    case 'answered':
      return answered(state, command);
    case 'model-failed':
      return modelFailed(state, command);
    case 'ran':
      return ran(state, command);
    case 'approval':
      return approval(state, command);
    case 'child-began':
      return childBegan(state, command.ordinal);
    case 'child-ended':
      return childEnded(state, command.ordinal, command.outcome);
    case 'note':
      return [
        runEvent('run.user_note', null, {
          ...command.note,
          forwarded_to: command.forwardedTo,
          forward_failed: command.forwardFailed,
        }),
      ];
    case 'cron-due':
      return [runEvent('run.cron_skipped', null, command.skipped)];
    case 'stop':
      return stop(state, command);
    case 'resume':
      return resumed(state, command.resume, command.refused);
    case 'halted':
      return halted(state);
    case 'proceed':
      return [];
    default:
      return assertNever(command);
  }
}

type Asked<Type extends RunCommand['type']> = Extract<RunCommand, { type: Type }>;

function started(state: RunState, command: Asked<'start'>): RunEvent[] {
  if (state.phase !== 'pending') return [];
  const began = runEvent('run.started', null, command.spec);
  return command.stop === null ? [began] : [began, runEvent('run.stopping', null, command.stop)];
}

/** A model's word counts only for the turn that waits for it, and not once the run is being stopped (SPEC R13). */
function waitsForModel(state: RunState, turn: number): boolean {
  return state.phase === 'asking' && state.turn === turn && state.stopping === null;
}

function answered(state: RunState, command: Asked<'answered'>): RunEvent[] {
  const spec = state.spec;
  if (spec === null || !waitsForModel(state, command.turn)) return [];
  const { answer } = command;
  const frame = turnFrame(state.turn);
  const calls = spec.agentic ? settleCalls(answer.calls, command.verdicts, spec.identical) : [];
  const said = runEvent('model.completed', frame, {
    turn: state.turn,
    text: answer.text,
    calls,
    usage: answer.usage,
    cost_cents: answer.costCents,
    served_by: answer.servedBy,
    finish_reason: answer.finishReason,
    attempts: answer.attempts,
    ...(answer.providerMeta === undefined ? {} : { provider_meta: answer.providerMeta }),
  });
  if (calls.some(({ verdict }) => verdict.kind === 'review')) return reviewed(state, said);
  if (calls.length > 0) return [said];
  const events = [said, runEvent('turn.completed', frame, { turn: state.turn })];
  const after = events.reduce(evolveRun, state);
  if (answer.finishReason === 'length') {
    const cut = { reason: 'answer_length', answer: answer.text };
    return [...events, ...endOf(after, 'run.incomplete', cut)];
  }
  const blank = withoutThinking(answer.text).trim() === '';
  if (blank && !spec.is_subagent) {
    const why = { error_type: 'empty_answer', error: EMPTY_ANSWER };
    return [...events, ...endOf(after, 'run.failed', why)];
  }
  return [...events, ...endOf(after, 'run.completed', { answer: blank ? '' : answer.text })];
}

/** SPEC P7: `submit_review` ends the run; nothing else of that answer is carried out. */
function reviewed(state: RunState, said: RunEvent): RunEvent[] {
  const asked = evolveRun(state, said);
  const results = asked.calls.map((call): RunEvent => {
    if (call.verdict.kind !== 'review') return refusalOf(asked, call);
    const text = `Review submitted: ${call.verdict.review.verdict}.`;
    return callSaid(state, call, text);
  });
  const events = [
    said,
    ...results,
    runEvent('turn.completed', turnFrame(state.turn), { turn: state.turn }),
  ];
  const verdict = asked.calls.find((call) => call.verdict.kind === 'review')?.verdict;
  const review = verdict?.kind === 'review' ? verdict.review : null;
  const answer = review?.summary ?? asked.lastText;
  return [
    ...events,
    ...endOf(events.reduce(evolveRun, state), 'run.completed', { answer, review }),
  ];
}

/** SPEC P10: out of time, a run whose plan is going lets it finish what runs; any other stops at once. */
function stop(state: RunState, command: Asked<'stop'>): RunEvent[] {
  if (state.stopping !== null || state.phase === 'pending') return [];
  const plans = livePlans(state);
  if (command.stop.by !== 'limit' || plans.length === 0) {
    return [runEvent('run.stopping', null, command.stop)];
  }
  return plans.map((plan) =>
    planEvent('plan.time_limit', plan.frame, { reason: 'run_time_limit' }),
  );
}

function modelFailed(state: RunState, command: Asked<'model-failed'>): RunEvent[] {
  if (!waitsForModel(state, command.turn)) return [];
  const why = { error_type: command.fault.code, error: command.fault.message };
  const failed = runEvent('model.failed', turnFrame(state.turn), { turn: state.turn, ...why });
  return [failed, ...endOf(evolveRun(state, failed), 'run.failed', why)];
}

function callIn(state: RunState, turn: number, index: number): CallState | undefined {
  return state.turn === turn ? callAt(state, index) : undefined;
}

function ran(state: RunState, command: Asked<'ran'>): RunEvent[] {
  const call = callIn(state, command.turn, command.call);
  if (call?.status !== 'running' || call.verdict.kind !== 'tool') return [];
  const { outcome, chars, fullPath } = command.kept;
  const frame = callFrame(state.turn, call.index);
  const about = { call_id: call.id, name: call.name, chars, full_path: fullPath };
  if (outcome.ok) return [runEvent('tool.completed', frame, { ...about, text: outcome.text })];
  return [
    runEvent('tool.failed', frame, {
      ...about,
      error_type: outcome.errorType,
      error: outcome.error,
      effect: wasRepeated(state, call) && outcome.effect === 'none' ? 'uncertain' : outcome.effect,
      text: outcome.text ?? '',
    }),
  ];
}

function approval(state: RunState, command: Asked<'approval'>): RunEvent[] {
  const call = callIn(state, command.turn, command.call);
  if (call?.status !== 'asking' || state.stopping !== null) return [];
  const frame = callFrame(state.turn, call.index);
  const { by, why } = command;
  if (command.granted) return [runEvent('approval.granted', frame, { call_id: call.id, by })];
  const words = `Tool call not executed: '${call.name}' requires approval, and it was denied by ${by}: ${why}`;
  return [
    runEvent('approval.denied', frame, { call_id: call.id, by, why }),
    callFailed(state, call, 'approval_denied', words),
  ];
}

/** The last step of a stopping run: every call that has no end gets one, then the one terminal event (SPEC N2, R12). */
function halted(state: RunState): RunEvent[] {
  const { stopping } = state;
  if (stopping === null || state.childrenRunning > 0) return [];
  const open = state.calls.filter((call) => call.status !== 'done');
  const cut = open.map((call) => cutOff(state, call));
  const after = cut.reduce(evolveRun, state);
  const { by, reason, error_type } = stopping;
  const said =
    stopping.status === 'failed' ? { by, error_type, error: reason } : { by, reason, error_type };
  const answer = stopping.status === 'incomplete' ? state.lastText : '';
  return [...cut, ...endOf(after, `run.${stopping.status}`, { ...said, answer })];
}

function cutOff(state: RunState, call: CallState): RunEvent {
  if (call.parts.length > 0) return parallelResult(state, call, unlaunchedWords(state));
  const effect = mayHaveActed(call) ? 'uncertain' : 'none';
  return callFailed(state, call, 'cancelled', unlaunchedWords(state), effect);
}

function mayHaveActed(call: CallState): boolean {
  return (
    call.status === 'running' && call.verdict.kind === 'tool' && call.verdict.effect !== 'read'
  );
}

/** An answer that is nothing but reasoning is no answer; an unclosed `<think>` swallows the rest. */
function withoutThinking(text: string): string {
  return text.replace(/<think>[\s\S]*?(<\/think>|$)/g, '');
}

/** An earlier attempt at a call that may be run again may have had the effect that the last one had not. */
function wasRepeated(state: RunState, call: CallState): boolean {
  const changes = call.verdict.kind === 'tool' && call.verdict.effect === 'idempotent';
  return changes && state.resumedAt > call.cause;
}
