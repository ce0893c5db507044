import { callFailed } from './call-end.ts';
import type { RefusedCall } from './run-command.ts';
import { type ResumeData, type RunEvent, runEvent } from './run-event.ts';
import { type CallState, callAt, type RunState } from './run-state.ts';
import type { ToolPlace } from './tool.ts';

/** The `error_type` of a call of which nobody knows how far it came. */
export const INTERRUPTED = 'interrupted';

/**
 * SPEC J5: what was in flight when the host or the thread was lost. A call that changes nothing, or the same thing
 * twice, is run again; of an effectful one nobody knows, so it is not repeated and its model is told.
 */
export function resumed(
  state: RunState,
  resume: ResumeData,
  refused: readonly RefusedCall[],
): RunEvent[] {
  if (state.phase === 'pending') return [];
  const lost = resume.why === 'host_lost' ? 'the host was lost' : 'the thread was lost';
  const uncertain = state.calls.filter((call) => isLost(call, resume.why));
  return [
    runEvent('run.resumed', null, resume),
    ...uncertain.map((call) => {
      const words = `Interrupted: ${lost} while '${call.name}' was running. It may or may not have taken effect; it was not repeated. Check before you call it again.`;
      return callFailed(state, call, INTERRUPTED, words, 'uncertain');
    }),
    // SPEC X2: granted and never begun, and the budget was used for other things since.
    ...refused.flatMap(({ call: index, errorType, words }) => {
      const call = callAt(state, index);
      return call === undefined ? [] : [callFailed(state, call, errorType, words)];
    }),
  ];
}

/** A lost thread takes along only what ran on it. */
function isLost({ status, verdict }: CallState, why: 'host_lost' | 'thread_lost'): boolean {
  if (status !== 'running' || verdict.kind !== 'tool' || verdict.effect !== 'effectful')
    return false;
  return why === 'host_lost' || verdict.place === 'actor';
}

/** Calls that tools are carrying out, at one of these places. */
export function isWorking(state: RunState, ...places: readonly ToolPlace[]): boolean {
  return (
    state.agenda.counts.working > 0 &&
    state.calls.findFrom(
      0,
      ({ status, verdict }) =>
        status === 'running' && verdict.kind === 'tool' && places.includes(verdict.place),
    ) !== undefined
  );
}

/**
 * Which of the runs of a lost host may have ended it: those whose own tools were at work, or, where none was, those that
 * waited for their model. A run that only waits for its children or for a person is not to blame.
 */
export function suspectsOf(runs: readonly RunState[]): ReadonlySet<string> {
  const live = runs.filter(({ ended, stopping }) => ended === null && stopping === null);
  const working = live.filter((run) => isWorking(run, 'actor', 'compute', 'host'));
  const suspects = working.length > 0 ? working : live.filter(({ phase }) => phase === 'asking');
  return new Set(suspects.map(({ runId }) => runId));
}
