import type { Json, JsonObject } from '../../base/json.ts';
import { fairShares } from './clip.ts';
import { shownAnswer } from './plan-answers.ts';
import type { FinalStatus, KeptAnswer } from './plan-event.ts';
import { framed, ruleFor } from './plan-frame.ts';
import { type Launch, type PlanState, type TaskState, UNREPORTED } from './plan-state.ts';
import type { Effect } from './tool.ts';
import { addKnown, addUsage } from './usage.ts';

/** SPEC P11: what the parent's model reads of its plan, and the same as data for programs. */
export interface PlanSummary {
  readonly text: string;
  readonly structured: JsonObject;
}

/** A line of the summary; `body` is somebody else's words, cut to their share. */
type Piece =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string; readonly body: string }
  | { readonly kind: 'answer'; readonly title: string; readonly kept: KeptAnswer };

/** What stands around an answer beside its text: rules, titles, line ends. */
const FRAME_CHARS = 80;
/** The part of the room that remarks and errors may take where answers need it too. */
const NOTES_SHARE = 1 / 3;

/** The part of a task's even share of the room that its answer is sure of: lines about runs and remarks take the rest. */
const SURE_SHARE = 1 / 4;

/**
 * Up to this length an answer of a plan with so many tasks is shown whole, unless long ids and many rounds leave less; then
 * its mark names the run that has it.
 */
export function wholeAnswerChars(tasks: number, charsMax: number): number {
  return Math.floor((charsMax * SURE_SHARE) / Math.max(1, tasks));
}

/**
 * The summary of a plan that has ended, with every task, every rejection and every skip. Answers and remarks share what
 * room the rest leaves of `charsMax` UTF-16 units, each with a mark where it is cut; only under some 4,000 units may the
 * text be longer than that.
 */
export function summaryOf(state: PlanState, charsMax: number): PlanSummary {
  const pieces = [...headPieces(state), ...state.tasks.flatMap((each) => taskPieces(state, each))];
  return { text: render(pieces, charsMax), structured: structuredSummary(state) };
}

/** The worst that any run of the plan left outside. */
export function planEffect(state: PlanState): Effect {
  const effects = state.launches.map((launch) => launch.effect);
  if (effects.includes('uncertain')) return 'uncertain';
  return effects.includes('applied') ? 'applied' : 'none';
}

function render(pieces: readonly Piece[], charsMax: number): string {
  const notes = pieces.filter((piece) => piece.kind === 'note').map(({ body }) => body.length);
  const answers = pieces
    .filter((piece) => piece.kind === 'answer')
    .map(({ kept }) => kept.answer.length);
  const fixed = pieces.reduce(
    (sum, piece) => sum + (piece.kind === 'answer' ? FRAME_CHARS : piece.text.length + 1),
    0,
  );
  const room = Math.max(0, charsMax - fixed);
  const sum = (lengths: readonly number[]) => lengths.reduce((left, right) => left + right, 0);
  const forNotes = Math.max(Math.floor(room * NOTES_SHARE), room - sum(answers));
  const noteShares = fairShares(notes, Math.min(forNotes, sum(notes)));
  const answerShares = fairShares(answers, room - sum(noteShares));
  const shown = pieces
    .filter((piece) => piece.kind === 'answer')
    .map(({ kept }, at) => shownAnswer(kept, answerShares[at] ?? 0));
  const rule = ruleFor(shown);
  return pieces
    .map((piece) => {
      if (piece.kind === 'line') return piece.text;
      if (piece.kind === 'note') return piece.text + cut(piece.body, noteShares.shift() ?? 0);
      return framed(rule, piece.title, shown.shift() ?? '');
    })
    .join('\n');
}

/** A short text on the line of its label; the journal has all of it. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const mark = (missing: number) => `… [${missing} more characters in the log]`;
  const head = text.slice(0, Math.max(0, charsMax - mark(text.length).length));
  const whole = /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
  return whole + mark(text.length - whole.length);
}

function headPieces(state: PlanState): Piece[] {
  const statuses = Object.values(state.ended?.statuses ?? {});
  const kinds = ['completed', 'failed', 'incomplete', 'skipped', 'not_started'] as const;
  const counts = kinds.flatMap((kind: FinalStatus) => {
    const count = statuses.filter((status) => status === kind).length;
    return count === 0 && kind !== 'completed' ? [] : [`${count} ${kind.replace('_', ' ')}`];
  });
  const text = `${headline(state)} ${state.tasks.length} tasks: ${counts.join(', ')}.`;
  const remaining = state.ended?.remaining ?? [];
  if (remaining.length === 0) return [{ kind: 'line', text }];
  const rest = `Not started: ${remaining.join(', ')}. Plan them anew if they are still wanted; {{task-id.answer}} places the answer of a completed task.`;
  return [
    { kind: 'line', text },
    { kind: 'line', text: rest },
  ];
}

function headline(state: PlanState): string {
  const { stop, spec } = state;
  if (stop?.kind === 'aborted') return `Plan aborted because of task '${stop.by}'.`;
  if (stop?.kind === 'stopped') return `Plan stopped because of task '${stop.by}'.`;
  if (state.isOutOfTime) return "Plan cut short by the run's time limit.";
  return spec?.mode === 'wave' ? 'First wave of the plan done.' : 'Plan done.';
}

function taskPieces(state: PlanState, each: TaskState): Piece[] {
  const { task, answer, leftover } = each;
  const runs = state.launches.filter((launch) => launch.task_id === task.id);
  const shown = answer ?? leftover;
  const title =
    answer === null ? `Last text of '${task.id}', not its answer` : `Answer of '${task.id}'`;
  return [
    { kind: 'line', text: '' },
    { kind: 'line', text: statusLine(state, each, runs) },
    ...verdictPieces(each),
    ...endPieces(each),
    ...state.rejections
      .filter((rejection) => rejection.task_id === task.id)
      .map(({ by, round, remarks }): Piece => {
        return { kind: 'note', text: `  sent back by '${by}' in round ${round}: `, body: remarks };
      }),
    ...uncertainPieces(runs),
    ...(shown === null ? [] : [{ kind: 'answer', title, kept: shown } as const]),
  ];
}

function statusLine(state: PlanState, each: TaskState, runs: readonly Launch[]): string {
  const { task } = each;
  const status = (state.ended?.statuses[task.id] ?? each.status).replace('_', ' ');
  const start = `[${task.id}] ${status}; agent '${task.agent_id}'`;
  if (runs.length === 0) return start;
  const turns = turnsOf(runs);
  const ids = runs.map((run) => run.child_run_id).join(', ');
  const many = runs.length === 1 ? '' : `${runs.length} runs, `;
  return `${start}; ${many}${turns} ${turns === 1 ? 'turn' : 'turns'}; ${ids}`;
}

function turnsOf(runs: readonly Launch[]): number {
  return runs.reduce((sum, run) => sum + run.turns, 0);
}

function verdictPieces({ verdict }: TaskState): Piece[] {
  if (verdict === null) return [];
  const byDefault =
    verdict.child_status === 'completed'
      ? ' by default: it ended without calling submit_review'
      : ` by default: its run ended as ${verdict.child_status} without a review`;
  const how = verdict.source === 'default' ? byDefault : '';
  return [{ kind: 'line', text: `  verdict: ${verdict.verdict}${how}` }];
}

function endPieces({ end }: TaskState): Piece[] {
  if (end === null) return [];
  switch (end.kind) {
    case 'failed':
      return [{ kind: 'note', text: `  ${end.error_type}: `, body: end.error }];
    case 'incomplete':
      return [{ kind: 'note', text: '  ended without its own final answer: ', body: end.reason }];
    case 'skipped': {
      const by = end.blocked_by === null ? '' : `, because of '${end.blocked_by}'`;
      return [{ kind: 'line', text: `  reason: ${end.reason}${by}` }];
    }
  }
}

function uncertainPieces(runs: readonly Launch[]): Piece[] {
  const uncertain = runs.filter((run) => run.effect === 'uncertain');
  if (uncertain.length === 0) return [];
  const named = uncertain.flatMap((run) => run.operations).join(', ');
  return [
    {
      kind: 'note',
      text: '  warning: effects uncertain, check them before relying on them or repeating them: ',
      body: named === '' ? 'its changes' : named,
    },
  ];
}

function structuredSummary(state: PlanState): JsonObject {
  const { ended, launches } = state;
  const total = launches.reduce(
    (sum, run) => ({
      usage: addUsage(sum.usage, run.usage),
      cost: addKnown(sum.cost, run.cost_cents),
    }),
    { usage: UNREPORTED.usage, cost: UNREPORTED.cost_cents as number | null },
  );
  return {
    operation_id: state.operationId,
    statuses: { ...ended?.statuses },
    ...(ended?.stopped_by === undefined ? {} : { stopped_by: ended.stopped_by }),
    ...(ended?.aborted_by === undefined ? {} : { aborted_by: ended.aborted_by }),
    ...(ended?.remaining === undefined ? {} : { remaining: ended.remaining }),
    tasks: state.tasks.map((each) => structuredTask(state, each)),
    launches: launches.length,
    effect: planEffect(state),
    usage: { ...total.usage },
    cost_cents: total.cost,
  };
}

function structuredTask(state: PlanState, each: TaskState): Json {
  const { task, answer, end, verdict } = each;
  const runs = state.launches.filter((launch) => launch.task_id === task.id);
  const rejections = state.rejections.filter((rejection) => rejection.task_id === task.id);
  return {
    task_id: task.id,
    agent_id: task.agent_id,
    status: state.ended?.statuses[task.id] ?? each.status,
    child_run_ids: runs.map((run) => run.child_run_id),
    turns: turnsOf(runs),
    answer_chars: answer?.answer.length ?? null,
    full_path: answer?.full_path ?? null,
    verdict: verdict?.verdict ?? null,
    verdict_source: verdict?.source ?? null,
    error_type: end?.kind === 'failed' ? end.error_type : null,
    reason: end === null || end.kind === 'failed' ? null : end.reason,
    blocked_by: end?.kind === 'skipped' ? end.blocked_by : null,
    rejections: rejections.map(({ by, round, remarks }) => ({ by, round, remarks })),
  };
}
