import type { Json, JsonObject } from '../../base/json.ts';
import { ID_PATTERN } from './config.ts';
import { CHILD_TURNS_MAX, CHILD_TURNS_MIN } from './delegate-arguments.ts';
import { nearest } from './nearest.ts';
import { type DraftTask, graphFaults } from './plan-faults.ts';
import {
  FAILURE_POLICIES,
  PLAN_MODES,
  PLAN_REWORK_DEFAULT,
  PLAN_REWORK_MAX,
  PLAN_TASKS_MAX,
  type PlanSpec,
} from './plan-spec.ts';

/** What a call of `plan` is checked against. */
export interface PlanCallContext {
  /** Tasks that earlier plans of this run answered: their answers may be placed (SPEC P11). */
  readonly answered: ReadonlySet<string>;
  /** The target that a name means for this caller, or why it is none (SPEC G4, G5). */
  readonly resolveAgent: (
    asked: string,
  ) =>
    | { readonly ok: true; readonly agentId: string }
    | { readonly ok: false; readonly words: string };
}

export type ReadPlanCall =
  | { readonly ok: true; readonly spec: PlanSpec }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Longer lists are refused by their length alone. */
const TASKS_READ_MAX = 64;
/** Faults that are listed; the rest are counted. */
const FAULTS_SHOWN_MAX = 40;
const PLAN_FIELDS = ['goal', 'tasks', 'max_rework', 'on_failure', 'mode'];
const TASK_FIELDS = ['id', 'agent_id', 'prompt', 'depends_on', 'review_of', 'max_turns'];

/**
 * SPEC P1: the whole call, checked before anything starts. Every fault is reported, with the task and the field it is
 * in; a call without one is a plan that can run.
 */
export function readPlanCall(args: JsonObject, context: PlanCallContext): ReadPlanCall {
  const faults: string[] = [];
  readUnknown(args, PLAN_FIELDS, 'plan', faults);
  const goal = readGoal(args, faults);
  const maxRework = readRework(args, faults);
  const onFailure = readChoice(args, 'on_failure', FAILURE_POLICIES, faults);
  const mode = readChoice(args, 'mode', PLAN_MODES, faults);
  const drafts = readTasks(args, context, faults);
  faults.push(...graphFaults(drafts, context.answered));
  if (faults.length > 0) return { ok: false, faults };
  const tasks = drafts.map(({ place: _, ...task }) => ({
    ...task,
    depends_on: [...new Set([...task.depends_on, ...task.review_of])],
  }));
  return {
    ok: true,
    spec: { goal, tasks, max_rework: maxRework, on_failure: onFailure, mode },
  };
}

/** What the model reads of a refused plan: `error_type: plan_invalid`, `effect: none`. */
export function planFaultWords(faults: readonly string[]): string {
  const shown = faults.slice(0, FAULTS_SHOWN_MAX);
  const more = faults.length - shown.length;
  const rest = more === 0 ? [] : [`and ${more} more`];
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  const lines = [...shown, ...rest].map((fault) => `- ${fault}`).join('\n');
  return `Invalid plan, nothing was started (${count}):\n${lines}\nMend all of it and call plan again.`;
}

/** A model that has nothing to say for a field may write `null`. */
function given(from: JsonObject, name: string): Json | undefined {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return value === null ? undefined : value;
}

function readUnknown(
  from: JsonObject,
  known: readonly string[],
  place: string,
  faults: string[],
): void {
  for (const name of Object.keys(from)) {
    if (known.includes(name) || given(from, name) === undefined) continue;
    const meant = nearest(name, known);
    const advice = meant === null ? `allowed: ${known.join(', ')}` : `did you mean '${meant}'?`;
    faults.push(`${place}: unknown field '${name}'; ${advice}`);
  }
}

function readGoal(args: JsonObject, faults: string[]): string | null {
  const goal = given(args, 'goal');
  if (goal !== undefined && typeof goal !== 'string') {
    faults.push(`goal: must be a text, found ${kindOf(goal)}`);
    return null;
  }
  return goal?.trim() || null;
}

function readRework(args: JsonObject, faults: string[]): number {
  const value = given(args, 'max_rework');
  if (value === undefined) return PLAN_REWORK_DEFAULT;
  const fits =
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= PLAN_REWORK_MAX;
  if (fits) return value;
  const found = typeof value === 'number' ? value : kindOf(value);
  faults.push(`max_rework: must be a whole number from 0 to ${PLAN_REWORK_MAX}, found ${found}`);
  return PLAN_REWORK_DEFAULT;
}

function readChoice<Choice extends string>(
  args: JsonObject,
  name: string,
  choices: readonly [Choice, ...Choice[]],
  faults: string[],
): Choice {
  const value = given(args, name);
  const chosen = choices.find((choice) => choice === value);
  if (value !== undefined && chosen === undefined) {
    const found = typeof value === 'string' ? `'${value}'` : kindOf(value);
    faults.push(`${name}: must be one of ${choices.join(', ')}; found ${found}`);
  }
  return chosen ?? choices[0];
}

function readTasks(args: JsonObject, context: PlanCallContext, faults: string[]): DraftTask[] {
  const tasks = given(args, 'tasks');
  if (!isList(tasks)) {
    const found = tasks === undefined ? 'nothing' : kindOf(tasks);
    faults.push(`tasks: must be a list of 1 to ${PLAN_TASKS_MAX} tasks, found ${found}`);
    return [];
  }
  if (tasks.length < 1) faults.push('tasks: there must be at least 1 task');
  if (tasks.length > PLAN_TASKS_MAX) {
    faults.push(`tasks: ${tasks.length} tasks are given, at most ${PLAN_TASKS_MAX} are allowed`);
  }
  if (tasks.length > TASKS_READ_MAX) return [];
  return tasks.map((task, at) => readTask(task, at, context, faults));
}

function readTask(value: Json, at: number, context: PlanCallContext, faults: string[]): DraftTask {
  const task: JsonObject = isObject(value) ? value : {};
  const id = given(task, 'id');
  const place =
    typeof id === 'string' && id.length <= 80 ? `task '${id}' (tasks[${at}])` : `tasks[${at}]`;
  const draft: DraftTask = {
    place,
    id: typeof id === 'string' ? id : '',
    agent_id: '',
    prompt: '',
    depends_on: [],
    review_of: [],
    max_turns: null,
  };
  if (!isObject(value)) {
    faults.push(`${place}: must be an object, found ${kindOf(value)}`);
    return draft;
  }
  readUnknown(task, TASK_FIELDS, place, faults);
  if (typeof id !== 'string') {
    faults.push(
      `${place}, id: ${id === undefined ? 'missing' : `must be a text, found ${kindOf(id)}`}`,
    );
  } else if (!ID_PATTERN.test(id)) {
    faults.push(
      `${place}, id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit`,
    );
  }
  return {
    ...draft,
    agent_id: readAgent(task, place, context, faults),
    prompt: readText(task, 'prompt', place, faults),
    depends_on: readNames(task, 'depends_on', place, faults),
    review_of: readNames(task, 'review_of', place, faults),
    max_turns: readTurns(task, place, faults),
  };
}

function readAgent(
  task: JsonObject,
  place: string,
  context: PlanCallContext,
  faults: string[],
): string {
  const asked = readText(task, 'agent_id', place, faults);
  if (asked === '') return '';
  const target = context.resolveAgent(asked);
  if (target.ok) return target.agentId;
  faults.push(`${place}, agent_id: ${target.words}`);
  return '';
}

function readText(task: JsonObject, name: string, place: string, faults: string[]): string {
  const value = given(task, name);
  if (value === undefined) faults.push(`${place}, ${name}: missing`);
  else if (typeof value !== 'string') {
    faults.push(`${place}, ${name}: must be a text, found ${kindOf(value)}`);
  } else if (value.trim() === '') faults.push(`${place}, ${name}: must not be empty`);
  return typeof value === 'string' ? value.trim() : '';
}

/** A list of task ids; one that is named twice counts once. */
function readNames(task: JsonObject, name: string, place: string, faults: string[]): string[] {
  const value = given(task, name);
  if (value === undefined) return [];
  if (!isList(value)) {
    faults.push(`${place}, ${name}: must be a list of task ids, found ${kindOf(value)}`);
    return [];
  }
  const names = value.filter((each) => typeof each === 'string');
  if (names.length < value.length) {
    const odd = value.find((each) => typeof each !== 'string') ?? null;
    faults.push(`${place}, ${name}: must hold task ids only, found ${kindOf(odd)}`);
  }
  return [...new Set(names)];
}

/** SPEC D2. */
function readTurns(task: JsonObject, place: string, faults: string[]): number | null {
  const turns = given(task, 'max_turns');
  if (turns === undefined) return null;
  if (typeof turns !== 'number' || !Number.isInteger(turns)) {
    const found = typeof turns === 'number' ? turns : kindOf(turns);
    faults.push(`${place}, max_turns: must be a whole number, found ${found}`);
    return null;
  }
  return Math.min(CHILD_TURNS_MAX, Math.max(CHILD_TURNS_MIN, turns));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'number' ? 'a number' : String(value);
}
