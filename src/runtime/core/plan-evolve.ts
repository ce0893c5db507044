import type { KeptAnswer, PlanEvent, PlanEventData, TaskRunEnd } from './plan-event.ts';
import { upstreamOf } from './plan-graph.ts';
import { launchOf, type PlanState, type TaskState, taskOf, UNREPORTED } from './plan-state.ts';
import type { RunStatusEnded } from './run-event.ts';

/**
 * The state after an event. Total: an event that does not fit changes nothing but the places. `place` is the event's
 * place in its run, by which later events name their cause (SPEC J1); a plan on its own counts its own events.
 */
export function evolvePlan(
  before: PlanState,
  event: PlanEvent,
  place: number = before.places.last + 1,
): PlanState {
  const state = { ...before, places: { ...before.places, last: place } };
  switch (event.type) {
    case 'plan.started':
      return started(state, event);
    case 'plan.task.started':
      return taskStarted(state, event.data);
    case 'plan.task.rejected':
    case 'plan.task.reopened':
    case 'plan.task.invalidated':
    case 'plan.task.skipped':
      return evolveTask(state, event);
    case 'plan.stopped':
      return closed(state, 'stopped', event.data.task_id);
    case 'plan.aborted':
      return closed(state, 'aborted', event.data.task_id);
    case 'plan.time_limit':
      return { ...state, isOutOfTime: true, places: { ...state.places, closed: place } };
    case 'plan.completed':
      return state.ended === null ? { ...state, ended: event.data } : state;
    default:
      return evolveEnd(state, event);
  }
}

type EventOf<Type extends PlanEvent['type']> = Extract<PlanEvent, { type: Type }>;

function started(state: PlanState, { frame, data }: EventOf<'plan.started'>): PlanState {
  if (state.spec !== null) return state;
  const { operation_id, earlier, ...spec } = data;
  const upstream = upstreamOf(spec.tasks);
  const tasks = spec.tasks.map(
    (task): TaskState => ({
      task,
      upstream: upstream.get(task.id) ?? [],
      status: 'pending',
      round: 0,
      returns: 0,
      ordinal: null,
      answer: null,
      leftover: null,
      rework: null,
      verdict: null,
      end: null,
      place: state.places.last,
    }),
  );
  const places = { ...state.places, started: state.places.last };
  return { ...state, frame, operationId: operation_id, spec, earlier, tasks, places };
}

function taskStarted(state: PlanState, data: PlanEventData<'plan.task.started'>): PlanState {
  const { task_id, child_run_id, agent_id, ordinal, round } = data;
  if (taskOf(state, task_id) === undefined || launchOf(state, ordinal) !== undefined) return state;
  const launch = {
    task_id,
    child_run_id,
    agent_id,
    ordinal,
    round,
    ...UNREPORTED,
    status: 'running',
    superseded: false,
    startedAt: state.places.last,
  } as const;
  return withTask({ ...state, launches: [...state.launches, launch] }, task_id, () => ({
    status: 'running',
    round,
    ordinal,
  }));
}

type TaskEvent = EventOf<
  'plan.task.rejected' | 'plan.task.reopened' | 'plan.task.invalidated' | 'plan.task.skipped'
>;

function evolveTask(state: PlanState, event: TaskEvent): PlanState {
  switch (event.type) {
    case 'plan.task.rejected': {
      const { returns, task_id } = event.data;
      const rejections = [...state.rejections, event.data];
      return withTask({ ...state, rejections }, task_id, () => ({ returns }));
    }
    case 'plan.task.reopened':
      return reopened(state, event.data.task_id);
    case 'plan.task.invalidated':
      return invalidated(state, event.data);
    case 'plan.task.skipped': {
      const { task_id, reason, blocked_by } = event.data;
      const end = { kind: 'skipped', reason, blocked_by } as const;
      return withTask(state, task_id, () => ({ status: 'skipped', end }));
    }
  }
}

function reopened(state: PlanState, taskId: string): PlanState {
  const rejection = state.rejections.findLast((each) => each.task_id === taskId);
  return withTask(state, taskId, ({ answer }) => ({
    ...NO_ANSWER,
    status: 'pending',
    rework:
      rejection === undefined
        ? null
        : { by: rejection.by, round: rejection.round, remarks: rejection.remarks, answer },
  }));
}

/** Remarks that the task has not answered yet outlast this; its answer does not (SPEC P8). */
function invalidated(state: PlanState, data: PlanEventData<'plan.task.invalidated'>): PlanState {
  const launches = state.launches.map((launch) =>
    launch.ordinal === data.ordinal ? { ...launch, superseded: true } : launch,
  );
  const change = { ...NO_ANSWER, status: 'pending' } as const;
  return withTask({ ...state, launches }, data.task_id, () => change);
}

const NO_ANSWER = { ordinal: null, answer: null, verdict: null } as const;

type EndEvent = EventOf<
  'plan.task.completed' | 'plan.task.failed' | 'plan.task.incomplete' | 'plan.task.discarded'
>;

function evolveEnd(state: PlanState, event: EndEvent): PlanState {
  switch (event.type) {
    case 'plan.task.completed': {
      const { verdict, verdict_source, child_status, task_id } = event.data;
      return withTask(withEnd(state, event.data, child_status), task_id, () => ({
        status: 'completed',
        answer: kept(event.data),
        rework: null,
        verdict:
          verdict === null || verdict_source === null
            ? null
            : { verdict, source: verdict_source, child_status },
      }));
    }
    case 'plan.task.failed': {
      const { error_type, error, task_id } = event.data;
      const end = { kind: 'failed', error_type, error } as const;
      return withTask(withEnd(state, event.data, 'failed'), task_id, ({ answer }) => ({
        status: 'failed',
        answer: null,
        verdict: null,
        leftover: answer,
        end,
      }));
    }
    case 'plan.task.incomplete': {
      const { reason, child_status, task_id } = event.data;
      const end = { kind: 'incomplete', reason } as const;
      const leftover = event.data.answer === '' ? null : kept(event.data);
      return withTask(withEnd(state, event.data, child_status), task_id, () => ({
        status: 'incomplete',
        leftover,
        end,
      }));
    }
    case 'plan.task.discarded':
      return withEnd(state, event.data, event.data.child_status);
    default:
      // Total: a type that a later version writes changes nothing here.
      return state;
  }
}

/** A run ends once: what a later event says of it (SPEC P9's exhaustion) is about its task alone. */
function withEnd(state: PlanState, data: TaskRunEnd, status: RunStatusEnded): PlanState {
  const launches = state.launches.map((launch) => {
    if (launch.ordinal !== data.ordinal || launch.status !== 'running') return launch;
    const { turns, effect, operations, usage, cost_cents } = data;
    return { ...launch, status, turns, effect, operations, usage, cost_cents };
  });
  return { ...state, launches };
}

function kept(data: KeptAnswer): KeptAnswer {
  const { task_id, child_run_id, answer, full_path } = data;
  return { task_id, child_run_id, answer, full_path };
}

function closed(state: PlanState, kind: 'stopped' | 'aborted', by: string): PlanState {
  if (state.stop !== null) return state;
  return { ...state, stop: { kind, by }, places: { ...state.places, closed: state.places.last } };
}

function withTask(
  state: PlanState,
  id: string,
  change: (task: TaskState) => Partial<TaskState>,
): PlanState {
  const tasks = state.tasks.map((each) =>
    each.task.id === id ? { ...each, ...change(each), place: state.places.last } : each,
  );
  return { ...state, tasks };
}
