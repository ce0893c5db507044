import type { PlanEvent } from '../../src/runtime/core/plan-event.ts';
import type { PlanSpec, PlanTask } from '../../src/runtime/core/plan-spec.ts';

interface Watched {
  readonly task: PlanTask;
  status: string;
  launches: number;
  returns: number;
  /** Ordinal of the run that answered, while the answer stands. */
  answeredBy: number | null;
  /** Which answers its latest run was started on, by dependency. */
  startedOn: ReadonlyMap<string, number | null>;
  errorType: string | null;
  blocked: { reason: string; by: string | null } | null;
}

/**
 * A second, slower account of a plan, kept from its events alone and without the machine's own fold: it throws at the
 * first event that breaks a rule of SPEC section 8.
 */
export class PlanOracle {
  readonly #tasks: ReadonlyMap<string, Watched>;
  readonly #live = new Map<number, { task: string; superseded: boolean }>();
  readonly #spec: PlanSpec;
  readonly #width: number;
  #launches = 0;
  #closed: string | null = null;
  #isOver = false;
  /** What the review being applied may touch; reset by whatever else happens. */
  #mayTouch = new Set<string>();

  constructor(spec: PlanSpec, width: number) {
    this.#spec = spec;
    this.#width = width;
    this.#tasks = new Map(
      spec.tasks.map((task) => [
        task.id,
        {
          task,
          status: 'pending',
          launches: 0,
          returns: 0,
          answeredBy: null,
          startedOn: new Map(),
          errorType: null,
          blocked: null,
        },
      ]),
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  watch(event: PlanEvent): void {
    this.#must(!this.#isOver, `${event.type} after plan.completed`);
    switch (event.type) {
      case 'plan.started':
        return;
      case 'plan.task.started':
        this.#started(event.data);
        return;
      case 'plan.task.completed': {
        const { task_id, ordinal, feedback, verdict } = event.data;
        this.#ends(task_id, ordinal, false);
        const task = this.#task(task_id);
        task.status = 'completed';
        task.answeredBy = ordinal;
        this.#must(
          task.task.review_of.length > 0 === (verdict !== null),
          `${task_id}: verdict ${verdict}`,
        );
        this.#mayTouch =
          verdict === 'rework' ? this.#withDownstream(Object.keys(feedback)) : new Set();
        return;
      }
      case 'plan.task.failed':
      case 'plan.task.incomplete':
        this.#unanswered(event);
        return;
      case 'plan.task.discarded':
        this.#ends(event.data.task_id, event.data.ordinal, true);
        return;
      case 'plan.task.rejected': {
        const task = this.#task(event.data.task_id);
        this.#must(
          task.status === 'completed',
          `${event.data.task_id} rejected while ${task.status}`,
        );
        this.#must(
          this.#mayTouch.has(event.data.task_id),
          `${event.data.task_id} rejected by nobody`,
        );
        task.returns += 1;
        return;
      }
      case 'plan.task.reopened':
      case 'plan.task.invalidated':
        this.#backToPending(event);
        return;
      case 'plan.task.skipped':
        this.#skipped(event.data.task_id, event.data.reason, event.data.blocked_by);
        return;
      case 'plan.stopped':
      case 'plan.aborted':
        this.#closed ??= event.data.task_id;
        return;
      case 'plan.time_limit':
        this.#closed ??= 'time';
        return;
      case 'plan.completed':
        this.#completed(event.data.statuses);
        return;
    }
  }

  #started(data: Extract<PlanEvent, { type: 'plan.task.started' }>['data']): void {
    const task = this.#task(data.task_id);
    this.#must(task.status === 'pending', `${data.task_id} started while ${task.status}`);
    this.#must(this.#closed === null, `${data.task_id} started after ${this.#closed}`);
    const needs = task.task.depends_on;
    for (const need of needs) {
      this.#must(this.#task(need).answeredBy !== null, `${data.task_id} started before ${need}`);
    }
    const downstream = this.#withDownstream([data.task_id]);
    for (const { task: other } of this.#live.values()) {
      this.#must(!downstream.has(other), `${data.task_id} started beside ${other}`);
    }
    task.status = 'running';
    task.launches += 1;
    this.#must(data.round === task.launches, `${data.task_id}: round ${data.round}`);
    task.startedOn = new Map(needs.map((need) => [need, this.#task(need).answeredBy]));
    this.#live.set(data.ordinal, { task: data.task_id, superseded: false });
    this.#launches += 1;
    this.#must(this.#live.size <= this.#width, `${this.#live.size} at once`);
    const most = this.#spec.tasks.length * (1 + this.#spec.max_rework);
    this.#must(this.#launches <= most, `${this.#launches} launches`);
  }

  /** Every run ends once, and only one that is not superseded may say anything about its task. */
  #ends(id: string, ordinal: number, superseded: boolean): void {
    const run = this.#live.get(ordinal);
    this.#must(run?.task === id, `${id}: run ${ordinal} ended, which was not running`);
    this.#must(run?.superseded === superseded, `${id}: run ${ordinal} superseded: ${!superseded}`);
    this.#live.delete(ordinal);
  }

  #unanswered(
    event: Extract<PlanEvent, { type: 'plan.task.failed' | 'plan.task.incomplete' }>,
  ): void {
    const { task_id, ordinal } = event.data;
    const task = this.#task(task_id);
    const errorType = event.type === 'plan.task.failed' ? event.data.error_type : 'incomplete';
    if (errorType === 'rework_exhausted') {
      this.#must(task.returns === this.#spec.max_rework + 1, `${task_id}: ${task.returns} returns`);
    } else {
      this.#ends(task_id, ordinal, false);
      this.#mayTouch = new Set();
    }
    task.status = event.type === 'plan.task.failed' ? 'failed' : 'incomplete';
    task.errorType = errorType;
    task.answeredBy = null;
  }

  #backToPending(
    event: Extract<PlanEvent, { type: 'plan.task.reopened' | 'plan.task.invalidated' }>,
  ): void {
    const id = event.data.task_id;
    const task = this.#task(id);
    this.#must(this.#mayTouch.has(id), `${id} touched by a rework of other branches`);
    this.#must(['running', 'completed'].includes(task.status), `${id} reset while ${task.status}`);
    if (event.type === 'plan.task.reopened') {
      this.#must(task.returns <= this.#spec.max_rework, `${id} reopened too often`);
    } else if (event.data.ordinal !== null) {
      const run = this.#live.get(event.data.ordinal);
      this.#must(run?.task === id, `${id}: no run ${event.data.ordinal} to cancel`);
      if (run !== undefined) run.superseded = true;
    }
    task.status = 'pending';
    task.answeredBy = null;
  }

  #skipped(id: string, reason: string, by: string | null): void {
    const task = this.#task(id);
    this.#must(task.status === 'pending', `${id} skipped while ${task.status}`);
    const cause = by === null ? null : this.#task(by);
    const upstream = this.#spec.tasks.filter((each) => this.#withDownstream([each.id]).has(id));
    const isUp = by !== null && by !== id && upstream.some((each) => each.id === by);
    const fits: Record<string, boolean> = {
      upstream_failed: isUp && cause?.status === 'failed' && cause.errorType !== 'rework_exhausted',
      upstream_incomplete: isUp && cause?.status === 'incomplete',
      upstream_rework_exhausted: isUp && cause?.errorType === 'rework_exhausted',
      plan_stopped: this.#spec.on_failure === 'stop' && by !== null && this.#closed !== null,
      plan_aborted: this.#spec.on_failure === 'abort' && by !== null && this.#closed !== null,
      run_time_limit: this.#closed !== null && by === null,
      execution_budget:
        by === null && this.#launches === this.#spec.tasks.length * (1 + this.#spec.max_rework),
    };
    this.#must(fits[reason] === true, `${id} skipped for ${reason} by ${by}`);
    task.status = 'skipped';
    task.blocked = { reason, by };
  }

  #completed(statuses: Readonly<Record<string, string>>): void {
    this.#must(this.#live.size === 0, `plan.completed with ${this.#live.size} running`);
    this.#must(
      Object.keys(statuses).length === this.#tasks.size,
      `statuses of ${Object.keys(statuses).length} tasks`,
    );
    for (const [id, task] of this.#tasks) {
      const isLeft = task.status === 'pending' && this.#spec.mode === 'wave';
      const expected = isLeft ? 'not_started' : task.status;
      this.#must(statuses[id] === expected, `${id}: ${statuses[id]}, not ${expected}`);
      this.#must(!['pending', 'running'].includes(statuses[id] ?? 'pending'), `${id} has no end`);
      if (task.status !== 'completed') continue;
      for (const [need, answer] of task.startedOn) {
        this.#must(this.#task(need).answeredBy === answer, `${id} stands on a stale ${need}`);
      }
    }
    this.#isOver = true;
  }

  #withDownstream(ids: readonly string[]): Set<string> {
    const reached = new Set(ids);
    for (let size = -1; size !== reached.size; ) {
      size = reached.size;
      for (const { id, depends_on } of this.#spec.tasks) {
        if (depends_on.some((need) => reached.has(need))) reached.add(id);
      }
    }
    return reached;
  }

  #task(id: string): Watched {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new Error(`event about the unknown task ${id}`);
    return task;
  }

  #must(holds: boolean, words: string): void {
    if (!holds) throw new Error(words);
  }
}
