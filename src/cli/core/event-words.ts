import type { Json, JsonObject } from '../../base/json.ts';
import { counted, formatCost, formatTokens } from './figures.ts';
import { figure, isObject, text } from './json-words.ts';
import { modelWords } from './model-words.ts';
import { PLAN_EVENT_WORDS } from './plan-event-words.ts';

/** What an event says, in a few words on one line (not yet cut, not yet safe for a terminal). Total: see `bare`. */
export function eventWords(type: string, data: JsonObject): string {
  const words = Object.hasOwn(WORDS, type) ? WORDS[type] : undefined;
  return (words ?? bare)(data);
}

type Words = (data: JsonObject) => string;

const WORDS: Readonly<Record<string, Words>> = {
  'run.started': (data) =>
    `agent ${text(data['agent_id'])}${rights(data)}, ${runModel(data)}: ${text(data['prompt'])}`,
  'run.resumed': (data) => text(data['detail']),
  'run.user_note': (data) => `${text(data['note_id'])}: ${text(data['text'])}${forwarded(data)}`,
  'run.cron_skipped': (data) =>
    `job ${text(data['job_id'])} was due while this run of it still went on`,
  'run.stopping': (data) =>
    `${text(data['status'])} by ${text(data['by'])}: ${text(data['reason'])}`,
  'run.completed': (data) => `${ended(data)}: ${text(data['answer'])}`,
  'run.failed': (data) => `${ended(data)}, ${text(data['error_type'])}: ${text(data['error'])}`,
  'run.cancelled': (data) => `${ended(data)}: ${text(data['reason'])}`,
  'run.incomplete': (data) => `${ended(data)}: ${text(data['error'] ?? data['reason'])}`,
  'note.read': (data) => `${text(data['note_id'])} in turn ${text(data['turn'])}`,
  'note.too_late': (data) => text(data['note_id']),
  'note.dead_letter': (data) => `${text(data['note_id'])}: ${text(data['why'])}`,
  'turn.started': () => '',
  'turn.completed': () => '',
  'model.started': (data) => modelWords(text(data['provider']), text(data['model'])),
  'model.completed': answer,
  'model.failed': (data) => `${text(data['error_type'])}: ${text(data['error'])}`,
  'tool.started': (data) => text(data['name']),
  'tool.completed': (data) => `${text(data['name'])}, ${text(data['chars'])} characters`,
  'tool.failed': (data) =>
    `${text(data['name'])}, ${text(data['error_type'])}: ${text(data['error'])}`,
  'approval.requested': (data) => `${text(data['name'])} ${text(data['args_text'])}`,
  'approval.granted': (data) => `by ${text(data['by'])}`,
  'approval.denied': (data) => `by ${text(data['by'])}: ${text(data['why'])}`,
  'delegation.started': (data) =>
    `#${text(data['ordinal'])} ${text(data['agent_id'])} as ${text(data['child_run_id'])}${background(data)}`,
  'delegation.completed': (data) => `${child(data)} ${text(data['child_status'])}`,
  'delegation.failed': (data) => `${child(data)} failed: ${text(data['error_type'])}`,
  ...PLAN_EVENT_WORDS,
};

/** For a type that this version does not know: the data as it is. */
const bare: Words = (data) => JSON.stringify(data);

/** What a reader could not tell from the agent alone (SPEC G8, S4). */
function rights({ independent, narrowings }: JsonObject): string {
  if (independent === true) return ' (independent)';
  return Array.isArray(narrowings) && narrowings.length > 0 ? ' (narrowed)' : '';
}

function runModel(data: JsonObject): string {
  const model = data['model'];
  const name = isObject(model) ? model['model'] : null;
  const provider = isObject(model) ? model['provider'] : null;
  return modelWords(text(provider ?? data['provider_type']), name === null ? null : text(name));
}

function forwarded(data: JsonObject): string {
  const parts = [
    ['forwarded to', data['forwarded_to']],
    ['not forwarded to', data['forward_failed']],
  ].flatMap(([how, to]) =>
    Array.isArray(to) && to.length > 0 ? [`; ${text(how)} ${to.map(text).join(', ')}`] : [],
  );
  return parts.join('');
}

function ended(data: JsonObject): string {
  const turns = data['turns'];
  return counted(typeof turns === 'number' ? turns : 0, 'turn');
}

function answer(data: JsonObject): string {
  const { calls, usage } = data as { readonly calls?: Json; readonly usage?: Json };
  const names = Array.isArray(calls)
    ? calls.map((call) => text(isObject(call) ? call['name'] : null))
    : [];
  const parts = [names.length === 0 ? text(data['text']) : `calls ${names.join(', ')}`];
  if (isObject(usage)) {
    const tokens = (key: string) => formatTokens(figure(usage[key]));
    if (figure(usage['inputTokens']) !== null || figure(usage['outputTokens']) !== null) {
      parts.unshift(`${tokens('inputTokens')} in, ${tokens('outputTokens')} out`);
    }
  }
  const cost = figure(data['cost_cents']);
  if (cost !== null) parts.unshift(formatCost(cost));
  return parts.join('; ');
}

function background(data: JsonObject): string {
  return data['task_id'] === undefined ? '' : ` in the background, task ${text(data['task_id'])}`;
}

function child(data: JsonObject): string {
  return `#${text(data['ordinal'])} ${text(data['agent_id'])}`;
}
