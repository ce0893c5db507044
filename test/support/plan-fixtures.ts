import type { AnswerBook } from '../../src/runtime/core/plan-answers.ts';
import type {
  PlanEvent,
  PlanEventData,
  PlanEventType,
  ReviewVerdict,
} from '../../src/runtime/core/plan-event.ts';
import {
  type PlanCommand,
  type PlanEffect,
  type PlanPlace,
  planMachine,
} from '../../src/runtime/core/plan-machine.ts';
import type { PlanSpec, PlanTask } from '../../src/runtime/core/plan-spec.ts';
import { liveLaunches, type PlanState, taskOf } from '../../src/runtime/core/plan-state.ts';
import type { ChildOutcome } from '../../src/runtime/core/run-event.ts';
import { walk } from './machine-laws.ts';
import { childOutcome } from './run-fixtures.ts';

export const FRAME = 'turn-1/call-1';

/** A task in short: `task('b', ['a'])`; what it reviews is upstream of it as in a plan that was read from a call. */
export function task(
  id: string,
  dependsOn: readonly string[] = [],
  change: Partial<PlanTask> = {},
): PlanTask {
  const reviewOf = change.review_of ?? [];
  return {
    id,
    agent_id: `agent-${id}`,
    prompt: `do ${id}`,
    max_turns: null,
    ...change,
    review_of: reviewOf,
    depends_on: [...new Set([...dependsOn, ...reviewOf])],
  };
}

export function reviewer(
  id: string,
  reviewed: readonly string[],
  dependsOn: readonly string[] = [],
): PlanTask {
  return task(id, dependsOn, { review_of: reviewed });
}

export function planOf(tasks: readonly PlanTask[], change: Partial<PlanSpec> = {}): PlanSpec {
  return { goal: null, tasks, max_rework: 2, on_failure: 'continue', mode: 'full', ...change };
}

export function accept(summary: string | null = null): ReviewVerdict {
  return { verdict: 'accept', feedback: {}, summary };
}

export function rework(feedback: Record<string, string>): ReviewVerdict {
  return { verdict: 'rework', feedback, summary: null };
}

/** Outcomes by what a test says of them; the answer names task and round, so that a stale one is seen. */
export function outcomeOf(
  taskId: string,
  round: number,
  change: Partial<ChildOutcome> = {},
): ChildOutcome {
  return childOutcome({ agent_id: `agent-${taskId}`, answer: `${taskId}@${round}`, ...change });
}

/** A plan played by hand on its own machine: a test says who ends and how. */
export class PlanPlay {
  readonly commands: PlanCommand[] = [];
  readonly events: PlanEvent[] = [];
  readonly #machine;
  state: PlanState;

  constructor(spec: PlanSpec, options: Partial<PlanPlace> & { book?: AnswerBook } = {}) {
    const { book = [], ...place } = options;
    this.#machine = planMachine({
      parentRunId: 'run_r',
      width: 8,
      childDepth: 1,
      firstOrdinal: 1,
      ...place,
    });
    this.state = this.#machine.initial;
    this.say({ type: 'start', spec, operationId: `run_r/${FRAME}`, frame: FRAME, book });
  }

  say(command: PlanCommand): readonly PlanEvent[] {
    const decided = this.#machine.decide(this.state, command);
    this.commands.push(command);
    this.events.push(...decided);
    for (const event of decided) this.state = this.#machine.evolve(this.state, event);
    return decided;
  }

  /** Ends the run that the task waits for. */
  end(
    taskId: string,
    change: Partial<ChildOutcome> = {},
    verdict: ReviewVerdict | null = null,
  ): readonly PlanEvent[] {
    const ordinal = taskOf(this.state, taskId)?.ordinal;
    if (ordinal === null || ordinal === undefined) throw new Error(`${taskId} is not running`);
    return this.endRun(ordinal, change, verdict);
  }

  /** Ends a run by its ordinal, also one that nobody waits for. */
  endRun(
    ordinal: number,
    change: Partial<ChildOutcome> = {},
    verdict: ReviewVerdict | null = null,
  ): readonly PlanEvent[] {
    const launch = this.state.launches.find((each) => each.ordinal === ordinal);
    const outcome = outcomeOf(launch?.task_id ?? '?', launch?.round ?? 0, change);
    return this.say({ type: 'task-ended', ordinal, outcome, verdict });
  }

  fail(taskId: string): readonly PlanEvent[] {
    return this.end(taskId, { status: 'failed', error_type: 'model.timeout', error: 'too slow' });
  }

  /** Ids of the tasks whose runs hold a slot, superseded ones too. */
  running(): string[] {
    return liveLaunches(this.state).map((launch) => launch.task_id);
  }

  due(): readonly PlanEffect[] {
    return this.#machine.due(this.state);
  }

  statuses(): Readonly<Record<string, string>> | undefined {
    return this.state.ended?.statuses;
  }

  /** Everything that was said of a task, in short. */
  story(taskId: string): string[] {
    return this.events
      .filter(({ data }) => 'task_id' in data && data.task_id === taskId)
      .map(({ type }) => type.replace('plan.task.', ''));
  }

  of<Type extends PlanEventType>(type: Type): PlanEventData<Type>[] {
    return this.events.flatMap((event) =>
      event.type === type ? [event.data as PlanEventData<Type>] : [],
    );
  }

  /** The laws of every machine, over everything that was said to this one. */
  checkLaws(): void {
    walk(this.#machine, this.commands);
  }
}
