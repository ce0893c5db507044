import type { Json, JsonObject } from '../../base/json.ts';
import { counted } from './figures.ts';
import { figure, isObject, items, text } from './json-words.ts';
import { statusCounts } from './plan-words.ts';

/** What each event of a plan says, for the log. Total, like all words of events. */
export const PLAN_EVENT_WORDS: Readonly<Record<string, (data: JsonObject) => string>> = {
  'plan.started': (data) => {
    const parts = [counted(items(data['tasks']).length, 'task')];
    if (data['mode'] === 'wave') parts.push('first wave only');
    if (data['on_failure'] === 'stop') parts.push('stops at a failure');
    if (data['on_failure'] === 'abort') parts.push('aborts at a failure');
    const goal = data['goal'];
    return `${parts.join(', ')}${typeof goal === 'string' ? `: ${goal}` : ''}`;
  },
  'plan.task.started': (data) => {
    const after = items(data['depends_on']).map(text);
    const builds = after.length === 0 ? '' : `, after ${after.join(', ')}`;
    return `${taskRun(data)}: ${text(data['agent_id'])} as ${text(data['child_run_id'])}${builds}`;
  },
  'plan.task.completed': (data) => `${taskRun(data)}: ${verdict(data)}${turns(data)}`,
  'plan.task.failed': (data) =>
    `${taskRun(data)}, ${text(data['error_type'])}: ${text(data['error'])}`,
  'plan.task.incomplete': (data) =>
    `${taskRun(data)} ended as ${text(data['child_status'])}: ${text(data['reason'])}`,
  'plan.task.skipped': (data) => {
    const by = data['blocked_by'];
    const blocked = typeof by === 'string' ? `, blocked by ${by}` : '';
    return `${text(data['task_id'])} skipped: ${text(data['reason'])}${blocked}`;
  },
  'plan.task.rejected': (data) => {
    const by = `${text(data['task_id'])} sent back by ${text(data['by'])}`;
    return `${by} in round ${text(data['round'])}: ${text(data['remarks'])}`;
  },
  'plan.task.reopened': (data) =>
    `${text(data['task_id'])} again, round ${text(data['round'])}, with the remarks of ${text(data['by'])}`,
  'plan.task.invalidated': (data) => {
    const run = data['child_run_id'];
    const what = typeof run === 'string' ? `${run} is cancelled` : 'its answer is dropped';
    return `${text(data['task_id'])}: ${what}, because ${text(data['because_of'])} was sent back`;
  },
  'plan.task.discarded': (data) =>
    `${taskRun(data)}: ${text(data['child_run_id'])} ended as ${text(data['child_status'])}, nobody waits for it`,
  'plan.stopped': (data) => `nothing new starts, because of ${text(data['task_id'])}`,
  'plan.aborted': (data) =>
    `nothing new starts and what runs is cancelled, because of ${text(data['task_id'])}`,
  'plan.time_limit': (data) => `nothing new starts: ${text(data['reason'])}`,
  'plan.completed': (data) => {
    const { statuses } = data as { readonly statuses?: Json };
    const parts = [statusCounts(isObject(statuses) ? Object.values(statuses).map(text) : [])];
    if (data['stopped_by'] !== undefined) parts.push(`stopped by ${text(data['stopped_by'])}`);
    if (data['aborted_by'] !== undefined) parts.push(`aborted by ${text(data['aborted_by'])}`);
    const remaining = items(data['remaining']).map(text);
    if (remaining.length > 0) parts.push(`remaining: ${remaining.join(', ')}`);
    return parts.join('; ');
  },
};

function taskRun(data: JsonObject): string {
  const round = figure(data['round']);
  const again = round !== null && round > 1 ? `, round ${round}` : '';
  return `${text(data['task_id'])}${again}`;
}

function turns(data: JsonObject): string {
  return counted(figure(data['turns']) ?? 0, 'turn');
}

/** A reviewer's; its default says how the run ended that gave none. */
function verdict(data: JsonObject): string {
  const said = data['verdict'];
  if (typeof said !== 'string') return '';
  if (data['verdict_source'] === 'default') {
    return `${said} by default, its run ended as ${text(data['child_status'])} without a verdict, `;
  }
  const feedback = data['feedback'];
  const sentBack = said === 'rework' && isObject(feedback) ? Object.keys(feedback) : [];
  return `${said}${sentBack.length > 0 ? ` of ${sentBack.join(', ')}` : ''}, `;
}
