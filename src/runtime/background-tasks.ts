// The background delegations of this host (SPEC D9 to D12): which are in flight, what each came to, who may ask. It owns
// the limit on them and their result files.
// I1  At most 128 are in flight: one is counted from the record of its call until its run ends or cannot begin.
// I2  What a task came to is what its run's terminal event says; the first word is the last. Its file is an export of
//     that, written once the event is durable, and is never read back.
// I3  A task is known until its whole tree is gone: while its root or any background run below that root goes on.
// I4  A run knows the tasks that it or a run below it started, and no others.
import { outcomeOf } from './core/outcome.ts';
import { isBackground } from './core/run-agenda.ts';
import type { ChildOutcome, RunEvent } from './core/run-event.ts';
import { rootOf } from './core/run-id.ts';
import type { RunSpec } from './core/run-spec.ts';
import { type ChildState, callOf, type RunState } from './core/run-state.ts';
import { finished, type TaskRecord } from './core/task-record.ts';
import type { EnginePort } from './engine.ts';
import type { RunSupervisor } from './run-supervisor.ts';
import type { RecoveredRun } from './unfinished-runs.ts';

/** SPEC D9. */
const IN_FLIGHT_MAX = 128;

const TOO_MANY = `Too many background delegations in flight (limit ${IN_FLIGHT_MAX}). Wait for some to finish (check_result) or cancel one (cancel_task) before starting more.`;

type Means = Pick<EnginePort, 'clock' | 'journal' | 'exportTask'>;

interface Task {
  record: TaskRecord;
  readonly resultsDir: string;
  readonly supervisor: RunSupervisor | null;
  /** Called once, when it is no longer running. */
  listeners: (() => void)[];
  /** What has been handed to its file so far. */
  exported: Promise<void>;
}

export class BackgroundTasks {
  readonly #engine: Means;
  readonly #isTop: (supervisor: RunSupervisor) => boolean;
  readonly #inFlight = new Set<string>();
  readonly #tasks = new Map<string, Task>();
  /** By root: how many of its tasks are running. */
  readonly #running = new Map<string, number>();
  readonly #writing = new Set<Promise<void>>();

  /** `isTop` = no run waits for this one. */
  constructor(engine: Means, isTop: (supervisor: RunSupervisor) => boolean) {
    this.#engine = engine;
    this.#isTop = isTop;
  }

  /** I1. `more` = how many the same answer asks for already. @returns the refusal in words where there is no room. */
  refusal(more: number): string | null {
    return this.#inFlight.size + more >= IN_FLIGHT_MAX ? TOO_MANY : null;
  }

  /** I1: a call is recorded that asks for one, or an event by which one turns out never to begin. */
  recorded(before: RunState, event: RunEvent): void {
    if (event.type === 'model.completed') {
      for (const { verdict } of event.data.calls) {
        if (isBackground(verdict)) this.#inFlight.add(verdict.task_id);
      }
    } else if (event.type === 'tool.failed') {
      const verdict = callOf(before, event.data.call_id)?.verdict;
      if (verdict !== undefined && isBackground(verdict)) this.#release(verdict.task_id);
    }
  }

  #release(taskId: string): void {
    if (this.#tasks.get(taskId)?.record.status !== 'running') this.#inFlight.delete(taskId);
  }

  /** A run that has begun in the background. */
  began(supervisor: RunSupervisor, spec: RunSpec): void {
    const { background } = spec;
    if (background === undefined) return;
    const record = recordOf(supervisor.runId, spec, background.task_id);
    this.#watch(record, background.results_dir, supervisor);
  }

  #watch(record: TaskRecord, resultsDir: string, supervisor: RunSupervisor): void {
    const { task_id: taskId, child_run_id: runId } = record;
    const root = rootOf(runId);
    const write = () => this.#write(resultsDir, record, 'make');
    // SPEC J4: nothing tells of a task that a crash could still undo.
    const exported = this.#engine.journal.flush().then(write, () => undefined);
    const task: Task = { record, resultsDir, supervisor, listeners: [], exported };
    this.#tasks.set(taskId, task);
    this.#inFlight.add(taskId);
    this.#running.set(root, (this.#running.get(root) ?? 0) + 1);
    supervisor.onEnded(() => {
      this.#running.set(root, (this.#running.get(root) ?? 1) - 1);
      this.#inFlight.delete(taskId);
      if (supervisor.state.ended !== null) this.#end(task, supervisor.outcome());
      for (const listener of task.listeners.splice(0)) listener();
    });
  }

  /** I2. */
  #end(task: Task, outcome: ChildOutcome): void {
    task.record = finished(task.record, outcome, new Date(this.#engine.clock.now()).toISOString());
    const { record, supervisor } = task;
    const durable = supervisor === null ? Promise.resolve() : supervisor.durableEnd();
    const before = task.exported;
    task.exported = durable.then(
      () => before.then(() => this.#write(task.resultsDir, record, 'make')),
      () => undefined, // The journal failed: the next host says how it ended.
    );
  }

  #write(resultsDir: string, record: TaskRecord, how: 'make' | 'amend'): Promise<void> {
    const writing = this.#engine
      .exportTask(resultsDir, record, how)
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    return writing;
  }

  /**
   * Tasks of trees that are taken up again, or that ended with their files behind them. `supervised` = the run of that id,
   * if it goes on.
   */
  recover(
    runs: readonly RecoveredRun[],
    supervised: (runId: string) => RunSupervisor | undefined,
  ): void {
    for (const { state } of runs) {
      for (const { verdict, status } of state.calls) {
        if (isBackground(verdict) && status !== 'done') this.#inFlight.add(verdict.task_id);
      }
    }
    for (const run of runs) {
      const { spec, runId } = run.state;
      if (spec?.background === undefined) continue;
      const supervisor = supervised(runId);
      if (supervisor === undefined) this.#remember(run);
      else this.began(supervisor, spec);
    }
  }

  /** I3: one that does not go on, for those who may still ask. */
  #remember(run: RecoveredRun): void {
    const record = lastRecord(run);
    const background = run.state.spec?.background;
    if (record === null || background === undefined) return;
    const resultsDir = background.results_dir;
    const exported = this.#write(resultsDir, record, 'make');
    this.#tasks.set(record.task_id, {
      record,
      resultsDir,
      supervisor: null,
      listeners: [],
      exported,
    });
    this.#inFlight.delete(record.task_id);
    const root = rootOf(record.child_run_id);
    this.#running.set(root, this.#running.get(root) ?? 0);
  }

  /** The file of a task that had ended before its host was lost says so too, if it is still there. */
  async amend(run: RecoveredRun): Promise<void> {
    const record = lastRecord(run);
    const resultsDir = run.state.spec?.background?.results_dir;
    if (record !== null && resultsDir !== undefined) await this.#write(resultsDir, record, 'amend');
  }

  /** Resolves once the file of a task says that it runs. */
  announced(taskId: string): Promise<void> {
    return this.#tasks.get(taskId)?.exported ?? Promise.resolve();
  }

  /** I4. */
  find(runId: string, taskId: string): TaskRecord | undefined {
    const record = this.#tasks.get(taskId)?.record;
    return record !== undefined && isOf(runId, record) ? record : undefined;
  }

  /** I4: in the order in which they began. */
  all(runId: string): readonly TaskRecord[] {
    return [...this.#tasks.values()].flatMap(({ record }) => (isOf(runId, record) ? [record] : []));
  }

  /** Calls back once a task is no longer running, at once where it is not. @returns how to take that back. */
  onEnded(taskId: string, listener: () => void): () => void {
    const task = this.#tasks.get(taskId);
    if (task?.record.status !== 'running') {
      listener();
      return () => undefined;
    }
    task.listeners.push(listener);
    return () => {
      task.listeners = task.listeners.filter((other) => other !== listener);
    };
  }

  /** SPEC D12. */
  cancel(taskId: string, reason: string): void {
    this.#tasks.get(taskId)?.supervisor?.cancel(reason, 'parent');
  }

  /**
   * SPEC N2: a run that is called off takes along every task below it; those whose owners go on are their owners' to stop.
   */
  cancelBelow(runId: string, reason: string): void {
    if (!this.isLive(rootOf(runId))) return;
    for (const { supervisor } of this.#runningBelow(runId)) {
      const isLeft = supervisor !== null && this.#isTop(supervisor);
      if (isLeft) supervisor.cancel(reason, 'parent');
    }
  }

  /** Calls back once no task below the run goes on, at once where none does. */
  whenNoneBelow(runId: string, listener: () => void): void {
    const [first] = this.isLive(rootOf(runId)) ? this.#runningBelow(runId) : [];
    if (first === undefined) listener();
    else first.listeners.push(() => this.whenNoneBelow(runId, listener));
  }

  #runningBelow(runId: string): Task[] {
    return [...this.#tasks.values()].filter(
      ({ record }) => record.status === 'running' && isOf(runId, record),
    );
  }

  /** I3. */
  isLive(root: string): boolean {
    return (this.#running.get(root) ?? 0) > 0;
  }

  /** I3. */
  forget(root: string): void {
    if (!this.#running.delete(root)) return;
    for (const [taskId, { record }] of this.#tasks) {
      if (rootOf(record.child_run_id) === root) this.#tasks.delete(taskId);
    }
  }

  /** Resolves once every file says what there is to say. */
  async settled(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }
}

/** What the record of a background child says of that; `null` for any other. */
export function backgroundOf(
  { taskId }: ChildState,
  owner: RunSpec,
): NonNullable<RunSpec['background']> | null {
  const workspace = owner.scope.files[0]?.workspaceDir;
  if (taskId === null || workspace === undefined) return null;
  return { task_id: taskId, results_dir: `${workspace}/delegate_results` };
}

function isOf(runId: string, { child_run_id: childRunId }: TaskRecord): boolean {
  return childRunId.startsWith(`${runId}/`);
}

/** `null` of a run that is no task. */
function lastRecord({ state, endedAt }: RecoveredRun): TaskRecord | null {
  const { spec, runId } = state;
  if (spec?.background === undefined) return null;
  const record = recordOf(runId, spec, spec.background.task_id);
  if (state.ended === null) return { ...record, status: 'lost' };
  return finished(record, outcomeOf(state), endedAt ?? record.started_at);
}

function recordOf(runId: string, spec: RunSpec, taskId: string): TaskRecord {
  return {
    task_id: taskId,
    agent: spec.agent_id,
    status: 'running',
    output: null,
    error: null,
    started_at: new Date(spec.started_at_ms).toISOString(),
    finished_at: null,
    child_run_id: runId,
    owner_run_id: ownerOf(runId),
  };
}

/** SPEC R1: the id of a child is its parent's, its kind and its place. */
function ownerOf(runId: string): string {
  return runId.split('/').slice(0, -2).join('/');
}
