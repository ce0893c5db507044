import { CHILD_TURNS_MAX, CHILD_TURNS_MIN } from './delegate-arguments.ts';
import type { ToolSpec } from './tool.ts';

/** SPEC section 8: what one call of `plan` may hold. */
export const PLAN_TASKS_MAX = 16;
export const PLAN_REWORK_MAX = 4;
export const PLAN_REWORK_DEFAULT = 2;

export const FAILURE_POLICIES = ['continue', 'stop', 'abort'] as const;
export const PLAN_MODES = ['full', 'wave'] as const;

export type FailurePolicy = (typeof FAILURE_POLICIES)[number];
export type PlanMode = (typeof PLAN_MODES)[number];

/** One task of a checked plan. Keys are the journal's own spelling. */
export interface PlanTask {
  readonly id: string;
  /** The resolved id; its configuration is resolved again at every launch (SPEC P12). */
  readonly agent_id: string;
  /** As the parent's model wrote it, placeholders and all. */
  readonly prompt: string;
  /** What must have completed before it starts; holds all of `review_of` (SPEC P7). Without repetitions. */
  readonly depends_on: readonly string[];
  /** The tasks whose work it may send back; empty = not a reviewer. */
  readonly review_of: readonly string[];
  /** Within the bounds of SPEC D2; `null` = the agent's own budget. */
  readonly max_turns: number | null;
}

/** A plan that passed every check of SPEC P1: acyclic, every name known, every agent resolved. */
export interface PlanSpec {
  readonly goal: string | null;
  /** 1 to 16, in the order in which ready tasks start (SPEC P2). */
  readonly tasks: readonly PlanTask[];
  /** How often one task may be sent back, 0 to 4. */
  readonly max_rework: number;
  readonly on_failure: FailurePolicy;
  readonly mode: PlanMode;
}

/** SPEC P9: every launch of every task counts, whatever became of it. */
export function launchBudget(spec: PlanSpec): number {
  return spec.tasks.length * (1 + spec.max_rework);
}

const ID_WORDS =
  "1 to 64 letters, digits, '.', '_' or '-', the first one a letter or digit; unique in the plan";

/**
 * How `plan` is advertised (SPEC A1, P13). `reachableIds` must be empty where the caller may not delegate. The schema
 * holds what a schema can; `readPlanCall` says the rest, all faults together.
 */
export function planSpecTool(reachableIds: readonly string[]): ToolSpec {
  const ids = reachableIds.length === 0 ? '(none)' : reachableIds.join(', ');
  return {
    name: 'plan',
    description:
      'Runs a graph of tasks by other agents and returns a summary of all of them. Use it instead of several delegate calls where tasks build on each other or where work is to be reviewed. ' +
      'Call the tool agents first, and use the agent_id it lists verbatim. ' +
      'A task starts once all its depends_on have completed, and gets their answers; independent tasks run at the same time. ' +
      'Warning: all tasks work in one shared workspace without isolation. Only read-only work or work on disjoint files may run in parallel; ' +
      'chain everything that writes the same files, builds, tests or uses version control with depends_on, or put it into one task. ' +
      'A reviewer (review_of) accepts the work of its tasks or sends it back with remarks; they are then done again, and so is all that built on them. ' +
      'Answers stay for your whole run: a later plan may use {{task-id.answer}} of a task that completed in an earlier one.',
    parameters: {
      type: 'object',
      properties: {
        goal: { type: 'string', description: 'What the plan as a whole is for.' },
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: PLAN_TASKS_MAX,
          description: 'The tasks. Where several could start, they start in this order.',
          items: taskSchema(ids),
        },
        max_rework: {
          type: 'integer',
          minimum: 0,
          maximum: PLAN_REWORK_MAX,
          description: `How often a reviewer may send one task back. Left out: ${PLAN_REWORK_DEFAULT}.`,
        },
        on_failure: {
          type: 'string',
          enum: [...FAILURE_POLICIES],
          description:
            'After a task failed or ended without an answer: continue (default) skips only what depends on it; stop starts nothing new and lets running tasks finish; abort also cancels running tasks.',
        },
        mode: {
          type: 'string',
          enum: [...PLAN_MODES],
          description:
            'full (default) runs everything; wave runs only the tasks without depends_on and returns, so that you can look at the answers and plan the rest anew.',
        },
      },
      required: ['tasks'],
      additionalProperties: false,
    },
  };
}

function taskSchema(ids: string) {
  const names = { type: 'array', items: { type: 'string', minLength: 1 } };
  return {
    type: 'object',
    properties: {
      id: { type: 'string', minLength: 1, maxLength: 64, description: ID_WORDS },
      agent_id: {
        type: 'string',
        minLength: 1,
        description: `Id of the agent, verbatim from the tool agents. Available: ${ids}`,
      },
      prompt: {
        type: 'string',
        minLength: 1,
        description:
          'The task, complete in itself: the agent sees nothing of this conversation. Answers of its depends_on are added under "Upstream results", unless you place one of them yourself as {{task-id.answer}}.',
      },
      depends_on: { ...names, description: 'Ids of tasks of this plan that must complete first.' },
      review_of: {
        ...names,
        description:
          'Makes the task a reviewer of these tasks: it depends on them, and its agent gets the tool submit_review.',
      },
      max_turns: {
        type: 'integer',
        description: `Most turns it may take; values outside ${CHILD_TURNS_MIN} to ${CHILD_TURNS_MAX} are moved to the nearer bound. Left out: the agent's own limit.`,
      },
    },
    required: ['id', 'agent_id', 'prompt'],
    additionalProperties: false,
  };
}
