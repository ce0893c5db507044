import { type RunEvent, runEvent, type StopData, type TerminalData } from './run-event.ts';
import { type RunState, turnsOf } from './run-state.ts';

type EndType = `run.${'completed' | 'failed' | 'cancelled' | 'incomplete'}`;

/**
 * The unread notes' last receipts and the one terminal event, in this order (SPEC N1, R13). A run that ends by itself
 * without a final answer stops its background children first (SPEC N4).
 */
export function endOf(state: RunState, type: EndType, said: Partial<TerminalData>): RunEvent[] {
  if (type !== 'run.completed' && state.stopping === null && state.backgroundRunning > 0) {
    return [stopInstead(type, said)];
  }
  const late = type === 'run.completed' || type === 'run.incomplete';
  const receipts = state.unread.map(({ note_id }) =>
    late
      ? runEvent('note.too_late', null, { note_id })
      : runEvent('note.dead_letter', null, { note_id, why: `the run ended as ${type.slice(4)}` }),
  );
  const data: TerminalData = {
    answer: '',
    turns: turnsOf(state),
    usage: state.usage,
    cost_cents: state.costCents,
    effect: state.effect,
    operations: state.operations,
    error_type: null,
    error: null,
    reason: null,
    by: null,
    review: null,
    ...said,
  };
  return [...receipts, runEvent(type, null, data)];
}

function stopInstead(type: EndType, said: Partial<TerminalData>): RunEvent {
  const status = type.slice('run.'.length) as StopData['status'];
  const reason = said.error ?? said.reason ?? status;
  const by = status === 'failed' ? 'runtime' : 'limit';
  return runEvent('run.stopping', null, {
    status,
    reason,
    by,
    error_type: said.error_type ?? null,
  });
}
