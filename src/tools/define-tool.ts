import { Fault } from '../base/fault.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Tool, ToolContext, ToolEffect, ToolOutcome } from '../runtime/core/tool.ts';
import { compileSchema } from './compile-schema.ts';

/** Milliseconds one call may take where its author says nothing: ten minutes, because no wait is for ever (SPEC R11). */
export const DEFAULT_TOOL_TIMEOUT_MS = 600_000;

/** Longest time a tool may ask for, in milliseconds: a day. */
export const TOOL_TIMEOUT_MS_MAX = 86_400_000;

/** What model providers accept as the name of a tool. */
export const TOOL_NAME_PATTERN = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

export interface ToolOptions<Args extends object> {
  /** `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$` */
  readonly name: string;
  /** What the model reads before it calls. */
  readonly description: string;
  /** A JSON Schema (draft-07) of an object; arguments that do not fit it never reach `run`. */
  readonly parameters: JsonObject;
  /** `read`: nothing happens outside; `idempotent`: twice is once; `effectful`: never repeated after a crash. */
  readonly effect: ToolEffect;
  /** It computes for long: it runs on a killable thread of the compute pool, not beside the run's own turns. */
  readonly cpu?: boolean;
  /** Milliseconds, 1 to 86,400,000; default 600,000. */
  readonly timeoutMs?: number;
  run(
    args: Args,
    context: ToolContext<AbortSignal>,
  ): Promise<ToolOutcome | Json> | ToolOutcome | Json;
}

/**
 * A tool of your own (SPEC L1). `run` may return text, any JSON (shown as such), or a whole outcome; it may throw.
 * Throws a `Fault` with code `tool.invalid` that names the tool, the key, what was found and what is allowed.
 */
export function defineTool<Args extends object = JsonObject>(
  options: ToolOptions<Args>,
): Tool<Args, AbortSignal> {
  const name: unknown = options.name;
  check(options, 'name', typeof name === 'string' && TOOL_NAME_PATTERN.test(name), {
    expected: `a string that matches ${TOOL_NAME_PATTERN.source}`,
  });
  check(options, 'description', isText(options.description), { expected: 'a text for the model' });
  check(options, 'effect', ['read', 'idempotent', 'effectful'].includes(options.effect), {
    expected: '"read", "idempotent" or "effectful"',
  });
  check(options, 'cpu', options.cpu === undefined || typeof options.cpu === 'boolean', {
    expected: 'true or false',
  });
  const timeoutMs = options.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS;
  check(options, 'timeoutMs', timeoutMs >= 1 && timeoutMs <= TOOL_TIMEOUT_MS_MAX, {
    expected: `milliseconds from 1 to ${TOOL_TIMEOUT_MS_MAX}`,
  });
  check(options, 'run', typeof options.run === 'function', { expected: 'a function' });
  checkParameters(options);
  return {
    name: options.name,
    description: options.description,
    parameters: options.parameters,
    effect: options.effect,
    place: options.cpu === true ? 'compute' : 'actor',
    timeoutMs,
    run: (args, context) => options.run(args, context),
  };
}

function checkParameters<Args extends object>(options: ToolOptions<Args>): void {
  const parameters: unknown = options.parameters;
  const isObject =
    typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  check(options, 'parameters', isObject, { expected: 'the JSON Schema of an object' });
  const schema = compileSchema(options.parameters);
  if (!schema.ok) throw invalidTool(options, schema.fault.key, schema.fault);
}

function check<Args extends object>(
  options: ToolOptions<Args>,
  key: keyof ToolOptions<Args>,
  holds: boolean,
  { expected }: { readonly expected: string },
): void {
  if (!holds) throw invalidTool(options, key, { found: shown(options[key]), expected });
}

function invalidTool<Args extends object>(
  options: ToolOptions<Args>,
  key: string,
  { found, expected }: { readonly found: string; readonly expected: string },
): Fault {
  const tool = shown(options.name);
  return new Fault(
    'tool.invalid',
    `defineTool(${tool}): "${key}" is ${found}; expected ${expected}. Correct it in the tool's definition.`,
    { detail: { tool, key, found, expected } },
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'function') return 'a function';
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 120);
  } catch {
    return `a ${typeof value}`;
  }
}
