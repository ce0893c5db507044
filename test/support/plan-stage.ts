/**
 * Plans through the library: what a lead plans, and what each task says, by its id and round.
 *
 *   const plan = await tellPlan(stage, [plans([task('a'), task('b', { depends_on: ['a'] })])], { a: 'one', b: 'two' });
 *   expect(plan.story).toEqual(['started a', 'completed a', 'started b', 'completed b']);
 */
import type { JsonObject } from '../../src/base/json.ts';
import type { Run } from '../../src/run.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { StartRequest } from '../../src/start-request.ts';
import type { ModelReply, Reply, ReplyCall } from './model-server.ts';
import { calls, type Moment, ofRun, ofType, type Stage, type Told } from './troupe-fixture.ts';

/** One request of a task's run. */
export interface TaskMoment extends Moment {
  readonly task: string;
  /** 1 for the task's first run. */
  readonly round: number;
}

/** What a task says: always the same, or what a function makes of it. */
export type TaskPart = Reply | ((moment: TaskMoment) => Reply | Promise<Reply>);

/** What the model of a plan's caller says, one thing a turn; `done` once that is over. */
export type LeadPart = readonly Reply[];

/** A plan being played: filled as it goes. */
export interface Playing {
  /** What the lead read after each of its turns. */
  readonly read: string[][];
  /** The prompts of a task's runs, by its id. */
  readonly prompts: Readonly<Record<string, string[]>>;
}

export interface PlannedRun extends Told, Playing {
  /** What the lead read of its first call. */
  readonly summary: string;
  readonly structured: JsonObject;
  /** What happened in the lead's plans, in short, in order. */
  readonly story: readonly string[];
}

/** The agents that do tasks; each says what its task's part says. */
export const WORKERS = ['worker', 'other', 'small'] as const;

export const STAGE_AGENTS = { lead: {}, worker: {}, other: {} };

/** A task whose prompt is its id. */
export function task(id: string, more: object = {}): object {
  return { id, agent_id: 'worker', prompt: id, ...more };
}

export function reviewer(id: string, reviewed: readonly string[], more: object = {}): object {
  return task(id, { review_of: reviewed, ...more });
}

export function planning(tasks: readonly object[], more: object = {}): ReplyCall {
  return { name: 'plan', args: { tasks, ...more } };
}

export function plans(tasks: readonly object[], more: object = {}): ModelReply {
  return calls(planning(tasks, more));
}

export function submission(
  verdict: string,
  feedback: object | null = null,
  summary: string | null = null,
): ReplyCall {
  return { name: 'submit_review', args: { verdict, feedback, summary } };
}

export function accepts(summary: string | null = null): ModelReply {
  return calls(submission('accept', null, summary));
}

export function sendsBack(feedback: Readonly<Record<string, string>>): ModelReply {
  return calls(submission('rework', feedback));
}

/** A reviewer that sends back in its first rounds, as given, and accepts afterwards. */
export function reviews(...rounds: readonly Readonly<Record<string, string>>[]): TaskPart {
  return ({ round }) => {
    const remarks = rounds[round - 1];
    return remarks === undefined ? accepts() : sendsBack(remarks);
  };
}

/** Sets what the lead and the tasks say from now on. */
export function playPlan(
  stage: Stage,
  lead: LeadPart,
  tasks: Readonly<Record<string, TaskPart>>,
  caller = 'lead',
): Playing {
  const read: string[][] = [];
  const prompts: Record<string, string[]> = {};
  const doTask = (moment: Moment): Reply | Promise<Reply> => {
    const id = /^\S+/.exec(moment.prompt)?.[0] ?? '';
    const part = tasks[id];
    if (part === undefined) throw new Error(`task ${id} has no part`);
    const seen = prompts[id] ?? [];
    prompts[id] = seen;
    if (moment.turn === 1) seen.push(moment.prompt);
    const round = seen.lastIndexOf(moment.prompt) + 1;
    return typeof part === 'function' ? part({ ...moment, task: id, round }) : part;
  };
  stage.play({
    ...Object.fromEntries(WORKERS.map((worker) => [worker, doTask])),
    [caller]: ({ turn, results }) => {
      if (turn > 1) read.push([...results]);
      return lead[turn - 1] ?? 'done';
    },
  });
  return { read, prompts };
}

export async function tellPlan(
  stage: Stage,
  lead: LeadPart,
  tasks: Readonly<Record<string, TaskPart>>,
  more: { readonly caller?: string; readonly start?: Partial<StartRequest> } = {},
): Promise<PlannedRun> {
  const caller = more.caller ?? 'lead';
  const playing = playPlan(stage, lead, tasks, caller);
  return endPlan(stage, await stage.start(caller, 'go', more.start), playing);
}

export async function endPlan(stage: Stage, run: Run, playing: Playing): Promise<PlannedRun> {
  const told = await stage.end(run);
  const [result] = ofType(ofRun(told.events, run.id), 'tool.completed', 'tool.failed');
  return {
    ...told,
    ...playing,
    summary: playing.read[0]?.[0] ?? '',
    structured: (result?.data['structured'] ?? {}) as JsonObject,
    story: storyOf(told.events, run.id),
  };
}

/** The events of a run's plans in short: `started a`, `rejected a by r`, `skipped b upstream_failed a`. */
export function storyOf(events: readonly JournalEvent[], runId: string): string[] {
  return ofRun(events, runId).flatMap(({ type, data }) => {
    if (!type.startsWith('plan.') || type === 'plan.started' || type === 'plan.completed') {
      return [];
    }
    const what = type.slice(type.lastIndexOf('.') + 1);
    const more = [
      data['by'] === undefined || what === 'reopened' ? '' : `by ${data['by']}`,
      what === 'skipped' ? `${data['reason']} ${data['blocked_by'] ?? ''}`.trim() : '',
      what === 'failed' ? String(data['error_type']) : '',
      what === 'incomplete' ? String(data['reason']) : '',
    ];
    return [[what, data['task_id'] ?? '', ...more].filter((word) => word !== '').join(' ')];
  });
}

/** The data of the `plan.completed` of a run, of its first plan if it has several. */
export function planEnd(events: readonly JournalEvent[], runId: string): JsonObject {
  return (ofType(ofRun(events, runId), 'plan.completed')[0]?.data ?? {}) as JsonObject;
}

/** The event of a kind about a task. */
export function about(type: string, taskId: string): (event: JournalEvent) => boolean {
  return (event) => event.type === type && event.data['task_id'] === taskId;
}
