import { type FaultCode, messageOf } from '../base/fault.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { checkKeys, isList, isObject } from './scenario-check.ts';
import type { Template, TemplateEngine } from './template.ts';

/** How a turn may fail, by the `kind` of its `fail`. */
const FAIL_KINDS = {
  malformed: 'model.malformed',
  'rate-limited': 'model.rate-limited',
  refused: 'model.refused',
  'server-error': 'model.server-error',
  timeout: 'model.timeout',
  unreachable: 'model.unreachable',
} as const satisfies Record<string, FaultCode>;

const WAIT_MAX_MS = 3_600_000;

/** A turn, checked and compiled. `path` is where it stands in the file. */
export interface Turn {
  readonly path: string;
  /** `null` = for every run. */
  readonly promptContains: string | null;
  readonly waitMs: number;
  readonly stream: boolean;
  readonly repeat: boolean;
  readonly fail: { readonly code: FaultCode; readonly message: string } | null;
  readonly text: Template;
  readonly calls: readonly ScriptedCall[];
}

export interface ScriptedCall {
  readonly path: string;
  readonly tool: string;
  readonly id: string | null;
  readonly each: Template | null;
  readonly args: Template;
  /** Sent in place of `args`, as it stands. */
  readonly argsText: string | null;
}

/** Reads values of one map of the file and notes what is wrong with them. */
class Fields {
  readonly path: string;
  readonly #value: JsonObject;
  readonly #problems: string[];

  constructor(path: string, value: JsonObject, problems: string[]) {
    this.path = path;
    this.#value = value;
    this.#problems = problems;
  }

  has(key: string): boolean {
    return this.#value[key] !== undefined;
  }

  get(key: string): Json | undefined {
    return this.#value[key];
  }

  problem(key: string, what: string): void {
    this.#problems.push(`${this.path}.${key}: ${what}`);
  }

  string(key: string): string | null {
    const value = this.#value[key];
    if (value === undefined) return null;
    if (typeof value === 'string' && value !== '') return value;
    this.problem(key, `must be a text that is not empty, found ${shown(value)}`);
    return null;
  }

  flag(key: string): boolean {
    const value = this.#value[key] ?? false;
    if (typeof value === 'boolean') return value;
    this.problem(key, `must be true or false, found ${shown(value)}`);
    return false;
  }

  compile(key: string, make: () => Template): Template {
    try {
      return make();
    } catch (thrown) {
      this.problem(key, messageOf(thrown));
      return { constant: true, render: () => null };
    }
  }
}

const TURN_KEYS = ['text', 'calls', 'when', 'wait_ms', 'stream', 'fail', 'repeat'];

export function compileTurn(
  path: string,
  value: Json,
  last: boolean,
  engine: TemplateEngine,
  problems: string[],
): Turn {
  const turn: JsonObject = isObject(value) ? value : {};
  const fields = new Fields(path, turn, problems);
  checkKeys(turn, TURN_KEYS, path, problems);
  const fail = failOf(fields, problems);
  const text = textOf(fields, engine);
  const calls = callsOf(fields, engine, problems);
  const repeat = fields.flag('repeat');
  if (repeat && !last) fields.problem('repeat', 'only the last turn may repeat');
  const says = fields.has('text') || fields.has('calls');
  if (says === fields.has('fail')) {
    problems.push(`${path}: a turn has either text or calls (or both), or fail`);
  }
  return {
    path,
    promptContains: whenOf(fields, problems),
    waitMs: waitOf(fields),
    stream: fields.flag('stream'),
    repeat,
    fail,
    text,
    calls,
  };
}

function textOf(fields: Fields, engine: TemplateEngine): Template {
  const source = fields.get('text');
  if (source === undefined) return engine.text('');
  if (typeof source === 'string') return fields.compile('text', () => engine.text(source));
  fields.problem('text', `must be a text, found ${shown(source)}; put it in quotes`);
  return engine.text('');
}

function whenOf(fields: Fields, problems: string[]): string | null {
  const when = fields.get('when');
  if (when === undefined) return null;
  const inner = new Fields(`${fields.path}.when`, isObject(when) ? when : {}, problems);
  if (!isObject(when) || !inner.has('prompt_contains')) {
    fields.problem('when', 'must be a map with the key prompt_contains');
    return null;
  }
  checkKeys(when, ['prompt_contains'], inner.path, problems);
  return inner.string('prompt_contains');
}

function waitOf(fields: Fields): number {
  const wait = fields.get('wait_ms') ?? 0;
  if (typeof wait === 'number' && wait >= 0 && wait <= WAIT_MAX_MS) return wait;
  fields.problem('wait_ms', `must be a number from 0 to ${WAIT_MAX_MS}, found ${shown(wait)}`);
  return 0;
}

function failOf(fields: Fields, problems: string[]): Turn['fail'] {
  const fail = fields.get('fail');
  if (fail === undefined) return null;
  const kinds = Object.keys(FAIL_KINDS);
  const inner = new Fields(`${fields.path}.fail`, isObject(fail) ? fail : {}, problems);
  const kind = inner.get('kind');
  if (!isObject(fail) || typeof kind !== 'string' || !isFailKind(kind)) {
    fields.problem('fail', `must be a map with kind, one of ${kinds.join(', ')}`);
    return null;
  }
  checkKeys(fail, ['kind', 'message'], inner.path, problems);
  const message = inner.string('message');
  return { code: FAIL_KINDS[kind], message: message ?? `the scenario plays the failure "${kind}"` };
}

function isFailKind(kind: string): kind is keyof typeof FAIL_KINDS {
  return Object.hasOwn(FAIL_KINDS, kind);
}

function callsOf(fields: Fields, engine: TemplateEngine, problems: string[]): ScriptedCall[] {
  const calls = fields.get('calls') ?? [];
  if (!isList(calls)) {
    fields.problem('calls', `must be a list of calls, found ${shown(calls)}`);
    return [];
  }
  return calls.map((call, at) => callOf(`${fields.path}.calls[${at}]`, call, engine, problems));
}

const CALL_KEYS = ['tool', 'args', 'args_text', 'each', 'id'];

function callOf(
  path: string,
  value: Json,
  engine: TemplateEngine,
  problems: string[],
): ScriptedCall {
  const call: JsonObject = isObject(value) ? value : {};
  const fields = new Fields(path, call, problems);
  checkKeys(call, CALL_KEYS, path, problems);
  if (!fields.has('tool')) fields.problem('tool', 'is missing: name the tool to call');
  if (fields.has('args') && fields.has('args_text')) {
    fields.problem('args_text', 'stands beside args; keep one of them');
  }
  const each = fields.string('each');
  const argsText = fields.get('args_text');
  return {
    path,
    tool: fields.string('tool') ?? '',
    id: fields.string('id'),
    each: each === null ? null : fields.compile('each', () => engine.value(each)),
    args: fields.compile('args', () => engine.tree(fields.get('args') ?? {})),
    argsText: typeof argsText === 'string' ? argsText : null,
  };
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
