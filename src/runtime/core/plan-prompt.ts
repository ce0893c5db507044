import { shownAnswer } from './plan-answers.ts';
import type { KeptAnswer } from './plan-event.ts';
import { framed, ruleFor } from './plan-frame.ts';
import { placeAnswers, placedIds } from './plan-placeholder.ts';
import { SUBMIT_REVIEW } from './plan-review.ts';
import type { PlanTask } from './plan-spec.ts';
import { isReviewer, launchOf, type PlanState, type Rework, taskOf } from './plan-state.ts';

/**
 * The prompt of an admitted run: the task's own, then `Upstream results` (SPEC P3), then what a rework adds (SPEC P8),
 * then a reviewer's instruction (SPEC P7). Every answer in it takes at most `answerCharsMax` UTF-16 units. The same at
 * every call while the run is wanted; `null` for an ordinal that is not the plan's.
 */
export function promptOf(state: PlanState, ordinal: number, answerCharsMax: number): string | null {
  const launch = launchOf(state, ordinal);
  const each = launch === undefined ? undefined : taskOf(state, launch.task_id);
  if (each === undefined) return null;
  const { task, rework } = each;
  const show = (kept: KeptAnswer) => shownAnswer(kept, answerCharsMax);
  const parts = [
    placeAnswers(task.prompt, (id) => {
      const kept = answerFor(state, each.upstream, id);
      return kept === null ? null : show(kept);
    }),
    ...upstreamPart(state, task, show),
    ...(rework === null ? [] : [reworkPart(rework, show)]),
    ...(isReviewer(task) ? [reviewPart(task.review_of)] : []),
  ];
  return parts.join('\n\n');
}

/** Upstream in this plan, else an earlier plan's answer as it was when this one began. */
function answerFor(state: PlanState, upstream: readonly string[], id: string): KeptAnswer | null {
  if (upstream.includes(id)) return taskOf(state, id)?.answer ?? null;
  return state.earlier.find(({ task_id }) => task_id === id) ?? null;
}

type Show = (kept: KeptAnswer) => string;

/** SPEC P3: one part a direct dependency, unless the prompt places any of them itself. */
function upstreamPart(state: PlanState, task: PlanTask, show: Show): string[] {
  const placed = placedIds(task.prompt);
  if (task.depends_on.some((id) => placed.includes(id))) return [];
  const answers = state.tasks
    .filter((each) => task.depends_on.includes(each.task.id))
    .flatMap(({ answer }) => (answer === null ? [] : [answer]));
  if (answers.length === 0) return [];
  const texts = answers.map(show);
  const rule = ruleFor(texts);
  const parts = answers.map(({ task_id }, at) =>
    framed(rule, `Answer of task '${task_id}'`, texts[at] ?? ''),
  );
  return [`Upstream results\n\n${parts.join('\n\n')}`];
}

function reworkPart(rework: Rework, show: Show): string {
  const { by, round, remarks, answer } = rework;
  const feedback = `Reviewer feedback\n\nTask '${by}' sent your work of round ${round} back. Do it again and follow these remarks:\n\n${remarks}`;
  if (answer === null) return feedback;
  const text = show(answer);
  return `${feedback}\n\n${framed(ruleFor([text]), 'Your previous answer', text)}`;
}

function reviewPart(reviewed: readonly string[]): string {
  return [
    'Review',
    `You are the reviewer of: ${reviewed.join(', ')}. When you have looked at everything, call ${SUBMIT_REVIEW} once, alone; it ends your run.`,
    `verdict "accept" takes the work as it is. verdict "rework" sends back every task that has remarks in feedback (keys: the task ids above); the others are accepted.`,
    'Only that call is a verdict: what you write as text is none, and without the call the work is accepted.',
  ].join('\n');
}
