import type { CallCheck } from './core/agent-protocol.ts';
import { approvalNeed } from './core/approval.ts';
import { argumentsOf, refused } from './core/call-arguments.ts';
import type { ToolCallPart } from './core/message.ts';
import { answeredIds } from './core/plan-answers.ts';
import { planFaultWords, readPlanCall } from './core/plan-call.ts';
import { readReviewCall, reviewOfAnswer } from './core/plan-review.ts';
import type { CallVerdict } from './core/run-event.ts';
import { launchesOfPlan } from './core/run-launches.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { RunState } from './core/run-state.ts';
import type { RunTree } from './run-tree.ts';

/** SPEC P1, P13: the whole plan is checked before anything starts. */
export function planVerdict(
  tree: RunTree,
  reserve: (part: ToolCallPart, runs: number) => string | null,
  state: RunState,
  spec: RunSpec,
  part: ToolCallPart,
  check: CallCheck,
): CallVerdict {
  const closed = tree.delegationRefusal(spec, 'plan');
  if (closed !== null) return closed;
  const args = argumentsOf(part, check);
  if ('kind' in args) return args;
  const read = readPlanCall(args.args, {
    answered: answeredIds(state.answers),
    resolveAgent: (asked) => {
      const target = tree.findTarget(spec, asked);
      return target.ok ? { ok: true, agentId: target.agent.id } : target;
    },
  });
  if (!read.ok) return refused('plan_invalid', planFaultWords(read.faults));
  const full = reserve(part, launchesOfPlan(read.spec));
  if (full !== null) return refused('runs_limit', full);
  const approval = approvalNeed(spec, 'plan', 'delegation') === 'ask';
  return { kind: 'plan', plan: read.spec, approval };
}

/** SPEC P7: where a reviewer's answer holds a valid verdict, nothing else of it is carried out; `null` where not. */
export function reviewVerdicts(
  spec: RunSpec,
  parts: readonly ToolCallPart[],
  checks: readonly CallCheck[],
): CallVerdict[] | null {
  if (spec.review_of.length === 0) return null;
  const calls = parts.map((part, at) => {
    const args = argumentsOf(part, checks[at] ?? { ok: true });
    return { name: part.name, args: 'kind' in args ? null : args.args };
  });
  const review = reviewOfAnswer(calls, spec.review_of);
  if (review === null) return null;
  return parts.map((_, at) =>
    at === review.at
      ? { kind: 'review', review: review.verdict }
      : refused('run_ended', review.refusals.get(at) ?? 'Not executed: the review was submitted.'),
  );
}

/** A `submit_review` that is no verdict: the reviewer reads why and may call it again. */
export function reviewRefusal(spec: RunSpec, part: ToolCallPart, check: CallCheck): CallVerdict {
  if (spec.review_of.length === 0) {
    return refused('unknown_tool', `Unknown tool: ${part.name}. Only a reviewer of a plan has it.`);
  }
  const args = argumentsOf(part, check);
  if ('kind' in args) return args;
  const read = readReviewCall(args.args, spec.review_of);
  return refused('invalid_arguments', read.ok ? 'the verdict did not count' : read.words);
}
