import type { Json, JsonObject } from '../../base/json.ts';
import {
  CHILD_TURNS_MAX,
  CHILD_TURNS_MIN,
  given,
  quoted,
  type ReadText,
  type RefusedCall,
  readTask,
  readText,
} from './delegate-arguments.ts';
import { MANAGEMENT_ACTIONS, readTaskCall, type TaskCall } from './task-call.ts';
import type { ToolSpec } from './tool.ts';

export interface DelegateCall {
  readonly ok: true;
  readonly action: 'delegate';
  /**
   * As the model wrote them, without blanks around them: ids, or display names. One, or with `parallel` as many as there
   * are to be children.
   */
  readonly agentIds: readonly string[];
  readonly isParallel: boolean;
  /** It returns at once (SPEC D9). */
  readonly isBackground: boolean;
  readonly prompt: string;
  readonly context: string | null;
  /** Within the bounds of SPEC D2; `null` = the target's own budget. */
  readonly maxTurns: number | null;
}

const ACTIONS = ['delegate', ...MANAGEMENT_ACTIONS];
const USED = [
  'action',
  'agent',
  'agent_id',
  'background',
  'context',
  'max_turns',
  'parallel',
  'prompt',
];
/** Arguments of other actions. */
const UNUSED = ['task_id', 'task_ids', 'timeout_ms'];

/**
 * The arguments of `delegate`, checked in the order of SPEC section 6: action, arguments that it does not use, target,
 * prompt, the rest. This check stands in place of one by the advertised schema, whose errors would say less.
 */
export function readDelegateCall(args: JsonObject): DelegateCall | RefusedCall {
  const refusal =
    actionRefusal(given(args, 'action')) ?? unusedRefusal(args) ?? backgroundRefusal(args);
  if (refusal !== null) return { ok: false, words: refusal };
  if (given(args, 'parallel') !== undefined) return readParallel(args);
  const target = readTarget(args);
  if (!target.ok) return target;
  const task = readTask(args);
  if (!task.ok) return task;
  const isBackground = given(args, 'background') === true;
  return { ...task, action: 'delegate', agentIds: [target.text], isParallel: false, isBackground };
}

/** SPEC D8. */
function readParallel(args: JsonObject): DelegateCall | RefusedCall {
  const task = readTask(args, ' for parallel execution');
  if (!task.ok) return task;
  const other = ['agent_id', 'agent'].find((name) => given(args, name) !== undefined);
  if (other !== undefined) {
    const words = `'parallel' names the agents: leave out '${other}', or put it into 'parallel'.`;
    return { ok: false, words };
  }
  const list = given(args, 'parallel');
  if (!Array.isArray(list)) return { ok: false, words: "'parallel' must be an array of agent ids" };
  if (list.some((each) => typeof each !== 'string')) {
    return { ok: false, words: "'parallel' must contain only strings" };
  }
  const agentIds = list.map((each) => String(each).trim()).filter((each) => each !== '');
  if (agentIds.length === 0) {
    return { ok: false, words: "'parallel' array must contain at least one agent name" };
  }
  return { ...task, action: 'delegate', agentIds, isParallel: true, isBackground: false };
}

/** What the arguments ask about background tasks; `null` where they ask for nothing of that kind. */
export function readManagement(args: JsonObject): TaskCall | RefusedCall | null {
  const action = given(args, 'action');
  const known = MANAGEMENT_ACTIONS.find((each) => each === action);
  return known === undefined ? null : readTaskCall(known, args);
}

/** SPEC D13. */
function actionRefusal(action: Json | undefined): string | null {
  if (action === undefined || action === 'delegate') return null;
  const written = typeof action === 'string' ? action : JSON.stringify(action);
  return `Unknown action '${written}'. Use ${ACTIONS.join('/')}.`;
}

function unusedRefusal(args: JsonObject): string | null {
  const names = Object.keys(args).filter((name) => given(args, name) !== undefined);
  const unknown = names.filter((name) => !USED.includes(name) && !UNUSED.includes(name));
  if (unknown.length > 0) return `Unknown parameters for delegate: ${quoted(unknown)}`;
  const unused = names.filter((name) => UNUSED.includes(name));
  return unused.length === 0
    ? null
    : `Action 'delegate' does not use these parameters: ${quoted(unused)}`;
}

/** SPEC D8: a parallel call returns when all of its agents have answered. */
function backgroundRefusal(args: JsonObject): string | null {
  const background = given(args, 'background') ?? false;
  if (typeof background !== 'boolean') return "'background' parameter must be true or false";
  if (!background || given(args, 'parallel') === undefined) return null;
  return "'parallel' and 'background' cannot be used together. Make one background call for each agent, or leave 'background' out: the call then returns when all of them have answered.";
}

function readTarget(args: JsonObject): ReadText {
  if (given(args, 'agent') === undefined) return readText(args, 'agent_id');
  const alias = readText(args, 'agent');
  if (given(args, 'agent_id') === undefined || !alias.ok) return alias;
  const target = readText(args, 'agent_id');
  if (!target.ok || target.text === alias.text) return target;
  const words = `'agent' and 'agent_id' name different agents: '${alias.text}' and '${target.text}'. Give 'agent_id' alone.`;
  return { ok: false, words };
}

/** SPEC D1: what the child is asked. */
export function composePrompt(prompt: string, context: string | null): string {
  return context === null ? prompt : `[Context]\n${context}\n\n[Task]\n${prompt}`;
}

/**
 * How `delegate` is advertised (SPEC A1). `reachableIds` must be empty where the caller may not delegate. The schema
 * shows one way to call it; `readDelegateCall` also takes what it does not show.
 */
export function delegateSpec(reachableIds: readonly string[]): ToolSpec {
  const ids = reachableIds.length === 0 ? '(none)' : reachableIds.join(', ');
  return {
    name: 'delegate',
    description:
      "Hands a task to another agent and returns its final answer as this call's result. " +
      'Call the tool agents first, and use the agent_id it lists verbatim. ' +
      'The other agent sees nothing of this conversation: put everything it needs into prompt and context. ' +
      'Several delegate calls in one answer run at the same time.',
    parameters: {
      type: 'object',
      properties: {
        agent_id: {
          type: 'string',
          minLength: 1,
          description: `Id of the agent, verbatim from the tool agents. Available: ${ids}`,
        },
        prompt: { type: 'string', minLength: 1, description: 'The task, complete in itself.' },
        context: {
          type: 'string',
          description: 'What the agent should know beforehand, set before the task.',
        },
        parallel: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          description:
            'In place of agent_id: several agents that are each given the same task. The call returns when all have answered.',
        },
        background: {
          type: 'boolean',
          description:
            'true: the call returns at once with a task_id, and the agent goes on meanwhile. Not with parallel.',
        },
        max_turns: {
          type: 'integer',
          description: `Most turns it may take; values outside ${CHILD_TURNS_MIN} to ${CHILD_TURNS_MAX} are moved to the nearer bound. Left out: its own limit.`,
        },
        action: {
          type: 'string',
          enum: [...ACTIONS],
          description:
            'delegate (default) hands over the task. For background tasks: check_result and cancel_task take task_id, await_sessions takes task_ids and waits until all of them have ended, list_results takes nothing.',
        },
        task_id: { type: 'string', description: 'Of check_result and cancel_task.' },
        task_ids: {
          type: 'array',
          items: { type: 'string' },
          description: 'Of await_sessions: 1 to 128, each once.',
        },
        timeout_ms: {
          type: 'integer',
          description:
            'Of await_sessions: milliseconds to wait at most, 0 to 120000; default 30000.',
        },
      },
      required: [],
      additionalProperties: false,
    },
  };
}

export function agentsSpec(): ToolSpec {
  return {
    name: 'agents',
    description:
      'Lists the agents that you can delegate to: agent_id, name, purpose, what each may do, its model, and whether it can delegate further. ' +
      'Call it before delegate, and use agent_id verbatim there.',
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  };
}
