import { Fault } from '../base/fault.ts';
import type { JournalEvent } from './core/event.ts';
import { type PlanView, planView } from './core/plan-view.ts';
import type { RunEvent } from './core/run-event.ts';
import { evolveRun } from './core/run-evolve.ts';
import { taskIdOf } from './core/run-id.ts';
import { pendingRun, type RunState, widthInUse } from './core/run-state.ts';

/** One run as `troupe ps` shows it (SPEC K1). */
export interface RunSummary {
  readonly run_id: string;
  readonly agent_id: string;
  readonly status: RunState['status'];
  readonly depth: number;
  readonly parent_run_id: string | null;
  readonly turns: number;
  /** RFC 3339. */
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** A run with its children, in the order they were launched (SPEC K1). */
export interface RunTreeView extends RunSummary {
  readonly effect: string;
  readonly cost_cents: number | null;
  readonly width: { readonly running: number; readonly max: number };
  /** What it is doing: the model it waits for, or the tools that run. */
  readonly doing: string;
  readonly error: string | null;
  readonly reason: string | null;
  /** The task of its parent's plan that it does; `null` where it was launched by no plan. */
  readonly task_id: string | null;
  /** Of a background run (SPEC D9); else `null`. */
  readonly background_task_id: string | null;
  /** In the order in which they started. */
  readonly plans: readonly PlanView[];
  readonly children: readonly RunTreeView[];
}

interface Seen {
  state: RunState;
  readonly parentRunId: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

/** Runs as the fold of journaled events: the same fold that the supervisors decide on. Feed it events in `seq` order. */
export class RunViews {
  readonly #runs = new Map<string, Seen>();

  see(event: JournalEvent): void {
    const { run_id: runId } = event;
    const seen = this.#runs.get(runId) ?? {
      state: pendingRun(runId),
      parentRunId: event.parent_run_id,
      startedAt: null,
      endedAt: null,
    };
    this.#runs.set(runId, seen);
    seen.state = evolveRun(seen.state, machineEvent(event));
    if (event.type === 'run.started') seen.startedAt = event.ts;
    if (seen.state.ended !== null) seen.endedAt ??= event.ts;
  }

  /** In the order in which the runs began. */
  summaries(): readonly RunSummary[] {
    return [...this.#runs.values()].map(summaryOf);
  }

  state(runId: string): RunState | undefined {
    return this.#runs.get(runId)?.state;
  }

  tree(runId: string): RunTreeView | undefined {
    const seen = this.#runs.get(runId);
    if (seen === undefined) return undefined;
    const { state } = seen;
    const children = [...state.children].flatMap((child) => {
      const view = this.tree(child.runId);
      return view === undefined ? [] : [view];
    });
    return {
      ...summaryOf(seen),
      effect: state.effect,
      cost_cents: state.costCents,
      width: {
        running: widthInUse(state),
        max: state.spec?.width_max ?? 0,
      },
      doing: doingOf(state),
      error: state.ended?.error ?? null,
      reason: state.ended?.reason ?? null,
      task_id: taskIdOf(runId),
      background_task_id: state.spec?.background?.task_id ?? null,
      plans: state.plans.flatMap((plan) => planView(plan, state.ended !== null) ?? []),
      children,
    };
  }
}

/** A journaled event as the run machine made it. */
export function machineEvent(event: JournalEvent): RunEvent {
  return { type: event.type, frame: event.frame_id, data: event.data } as unknown as RunEvent;
}

function summaryOf({ state, parentRunId, startedAt, endedAt }: Seen): RunSummary {
  return {
    run_id: state.runId,
    agent_id: state.spec?.agent_id ?? '',
    status: state.status,
    depth: state.spec?.depth ?? 0,
    parent_run_id: parentRunId,
    turns: state.turn,
    started_at: startedAt,
    ended_at: endedAt,
  };
}

function doingOf(state: RunState): string {
  if (state.ended !== null) return '';
  if (state.stopping !== null) return `stopping: ${state.stopping.reason}`;
  if (state.phase === 'asking') return 'model';
  const running = state.calls.filter((call) => call.status === 'running');
  const asking = state.calls.filter((call) => call.status === 'asking');
  const names = [
    ...running.map((call) => call.name),
    ...asking.map((call) => `approval of ${call.name}`),
  ];
  return [...new Set(names)].join(', ');
}

export function noSuchRun(runId: string): Fault {
  return new Fault('run.not-found', `no run '${runId}' in this journal; \`troupe ps\` lists them`);
}
