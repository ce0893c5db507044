import type { ChildOutcome } from './run-event.ts';
import type { RunSpec } from './run-spec.ts';
import type { RunState } from './run-state.ts';
import { NO_USAGE } from './usage.ts';

/** How a run ended, from the fold of its events: `result()`, the parent and every view read the same. */
export function outcomeOf(state: RunState): ChildOutcome {
  const { ended, spec } = state;
  const known = state.status === 'pending' || state.status === 'running' ? 'failed' : state.status;
  return {
    child_run_id: state.runId,
    agent_id: spec?.agent_id ?? '',
    status: known,
    answer: ended?.answer ?? '',
    full_path: null,
    turns: ended?.turns ?? state.turn,
    effect: ended?.effect ?? state.effect,
    operations: ended?.operations ?? state.operations,
    usage: ended?.usage ?? state.usage,
    cost_cents: ended === null ? state.costCents : ended.cost_cents,
    error_type: ended?.error_type ?? null,
    error: ended?.error ?? null,
    reason: ended?.reason ?? null,
    stopped_by: ended?.by ?? null,
    review: ended?.review ?? null,
    model_label: spec === null ? '' : modelLabel(spec),
  };
}

/** Every run that began has a model. */
export function hasBegun(outcome: ChildOutcome): boolean {
  return outcome.model_label !== '';
}

/** The outcome of a child that never began, because its launch failed or was called off. */
export function unstarted(
  runId: string,
  agentId: string,
  why: Pick<ChildOutcome, 'status' | 'error_type' | 'error' | 'reason' | 'stopped_by'>,
): ChildOutcome {
  return {
    child_run_id: runId,
    agent_id: agentId,
    answer: '',
    full_path: null,
    turns: 0,
    effect: 'none',
    operations: [],
    usage: NO_USAGE,
    cost_cents: 0,
    model_label: '',
    review: null,
    ...why,
  };
}

/** SPEC D5 `<provider_type>/<model>`; a script is named as what it is, never as a model of a provider. */
export function modelLabel(spec: Pick<RunSpec, 'provider_type' | 'model'>): string {
  return spec.provider_type === 'scripted'
    ? spec.model.model
    : `${spec.provider_type}/${spec.model.model}`;
}
