import type { Json, JsonObject } from '../../base/json.ts';
import type { ToolSpec } from './tool.ts';

/** Refused words are the call's whole result; nothing has happened (SPEC G6). */
export interface RefusedCall {
  readonly ok: false;
  readonly words: string;
}

export interface DelegateCall {
  readonly ok: true;
  readonly action: 'delegate';
  /** As the model wrote it, without blanks around it: an id, or a display name. */
  readonly agentId: string;
  readonly prompt: string;
  readonly context: string | null;
  /** Within the bounds of SPEC D2; `null` = the target's own budget. */
  readonly maxTurns: number | null;
}

/** SPEC D2. */
export const CHILD_TURNS_MIN = 24;
export const CHILD_TURNS_MAX = 100;

const MANAGEMENT_ACTIONS = ['check_result', 'list_results', 'cancel_task', 'await_sessions'];
const ACTIONS = ['delegate', ...MANAGEMENT_ACTIONS];
const USED = ['action', 'agent', 'agent_id', 'background', 'context', 'max_turns', 'prompt'];
/** Arguments of other actions, and of this one in later versions. */
const UNUSED = ['parallel', 'task_id', 'task_ids', 'timeout_ms'];

/**
 * The arguments of `delegate`, checked in the order of SPEC section 6: action, arguments that it does not use, target,
 * prompt, the rest. This check stands in place of one by the advertised schema, whose errors would say less.
 */
export function readDelegateCall(args: JsonObject): DelegateCall | RefusedCall {
  const refusal = actionRefusal(given(args, 'action')) ?? unusedRefusal(args) ?? laterRefusal(args);
  if (refusal !== null) return { ok: false, words: refusal };
  const target = readTarget(args);
  if (!target.ok) return target;
  const prompt = readText(args, 'prompt');
  if (!prompt.ok) return prompt;
  const context = given(args, 'context');
  if (context !== undefined && typeof context !== 'string') {
    return { ok: false, words: "'context' parameter must be a text" };
  }
  const turns = given(args, 'max_turns');
  if (turns !== undefined && !Number.isInteger(turns)) {
    return { ok: false, words: "'max_turns' parameter must be a whole number" };
  }
  return {
    ok: true,
    action: 'delegate',
    agentId: target.text,
    prompt: prompt.text,
    context: context?.trim() || null,
    maxTurns: turns === undefined ? null : clampTurns(Number(turns)),
  };
}

function clampTurns(turns: number): number {
  return Math.min(CHILD_TURNS_MAX, Math.max(CHILD_TURNS_MIN, turns));
}

/** A model that has nothing to say for an argument may write `null`. */
function given(args: JsonObject, name: string): Json | undefined {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === null ? undefined : value;
}

/** SPEC D13. */
function actionRefusal(action: Json | undefined): string | null {
  if (action === undefined || action === 'delegate') return null;
  const written = typeof action === 'string' ? action : JSON.stringify(action);
  if (MANAGEMENT_ACTIONS.includes(written)) {
    return `Action '${written}' is not available in this version: there are no background delegations. Call delegate without 'action' and read the answer in its result.`;
  }
  return `Unknown action '${written}'. Use ${ACTIONS.join('/')}.`;
}

function unusedRefusal(args: JsonObject): string | null {
  const names = Object.keys(args).filter((name) => given(args, name) !== undefined);
  const unknown = names.filter((name) => !USED.includes(name) && !UNUSED.includes(name));
  if (unknown.length > 0) return `Unknown parameters for delegate: ${quoted(unknown)}`;
  const unused = names.filter((name) => UNUSED.includes(name) && name !== 'parallel');
  return unused.length === 0
    ? null
    : `Action 'delegate' does not use these parameters: ${quoted(unused)}`;
}

function laterRefusal(args: JsonObject): string | null {
  if (given(args, 'parallel') !== undefined) {
    return "'parallel' is not available in this version. Make one delegate call for each agent in the same answer; they run at the same time.";
  }
  const background = given(args, 'background') ?? false;
  if (typeof background !== 'boolean') return "'background' parameter must be true or false";
  if (!background) return null;
  return "'background' is not available in this version. Leave it out: the call returns when the agent has answered.";
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

type ReadText = { readonly ok: true; readonly text: string } | RefusedCall;

function readText(args: JsonObject, name: string): ReadText {
  const value = given(args, name);
  if (typeof value !== 'string') return { ok: false, words: `Missing '${name}' parameter` };
  const text = value.trim();
  return text === ''
    ? { ok: false, words: `'${name}' parameter must not be empty` }
    : { ok: true, text };
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
        max_turns: {
          type: 'integer',
          description: `Most turns it may take; values outside ${CHILD_TURNS_MIN} to ${CHILD_TURNS_MAX} are moved to the nearer bound. Left out: its own limit.`,
        },
      },
      required: ['agent_id', 'prompt'],
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
