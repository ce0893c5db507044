import { clip } from './clip.ts';
import { type KeptAnswer, type PlanEvent, planEvent } from './plan-event.ts';
import { upstreamOf } from './plan-graph.ts';
import { placedIds } from './plan-placeholder.ts';
import type { PlanSpec } from './plan-spec.ts';
import type { PlanState } from './plan-state.ts';

/**
 * What the tasks of a run's ended plans answered, one entry a task id (SPEC P11). A run's own fold keeps it: `withAnswers`
 * at every `plan.completed`. A plan that is still going has published nothing.
 */
export type AnswerBook = readonly KeptAnswer[];

/** The book after a plan ended: a re-used id means the newest answer. */
export function withAnswers(book: AnswerBook, plan: PlanState): AnswerBook {
  const fresh = plan.tasks.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  const renewed = new Set(fresh.map(({ task_id }) => task_id));
  return [...book.filter(({ task_id }) => !renewed.has(task_id)), ...fresh];
}

export function answeredIds(book: AnswerBook): ReadonlySet<string> {
  return new Set(book.map(({ task_id }) => task_id));
}

/**
 * The first event of a plan. The earlier answers that its prompts place are fixed here: what another plan of the run
 * answers later changes no prompt of this one.
 */
export function startPlan(
  spec: PlanSpec,
  call: { readonly operationId: string; readonly frame: string | null; readonly book: AnswerBook },
): PlanEvent {
  const upstream = upstreamOf(spec.tasks);
  const placed = spec.tasks.flatMap((task) =>
    placedIds(task.prompt).filter((id) => !upstream.get(task.id)?.includes(id)),
  );
  const earlier = call.book.filter(({ task_id }) => placed.includes(task_id));
  return planEvent('plan.started', call.frame, {
    ...spec,
    operation_id: call.operationId,
    earlier,
  });
}

/** An answer as a prompt or a summary shows it: bounded, with a mark that says where the rest is (SPEC R12). */
export function shownAnswer(kept: KeptAnswer, charsMax: number): string {
  return clip(kept.answer, charsMax, kept.full_path ?? `the record of run ${kept.child_run_id}`);
}
