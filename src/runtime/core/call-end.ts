import type { JsonObject } from '../../base/json.ts';
import { callFrame, type RunEvent, runEvent } from './run-event.ts';
import type { CallState, RunState } from './run-state.ts';
import type { Effect } from './tool.ts';

/** A call's success in words that are short enough to stay whole. */
export function callSaid(
  state: RunState,
  call: CallState,
  text: string,
  structured?: JsonObject,
): RunEvent {
  return runEvent('tool.completed', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    text,
    chars: text.length,
    full_path: null,
    ...(structured === undefined ? {} : { structured }),
  });
}

/** A call's failure of which there is nothing to show but the error. */
export function callFailed(
  state: RunState,
  call: CallState,
  errorType: string,
  error: string,
  effect: Effect = 'none',
): RunEvent {
  return runEvent('tool.failed', callFrame(state.turn, call.index), {
    call_id: call.id,
    name: call.name,
    error_type: errorType,
    error,
    effect,
    text: '',
    chars: 0,
    full_path: null,
  });
}
