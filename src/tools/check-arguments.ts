import type { ErrorObject } from 'ajv';
import type { JsonObject } from '../base/json.ts';
import type { ToolSpec } from '../runtime/core/tool.ts';
import { compileSchema, SlowPattern } from './compile-schema.ts';
import { wordsOfFaults } from './core/argument-words.ts';
import { locateJsonFault } from './core/json-fault.ts';

/** Largest argument text that is parsed, in UTF-16 units: 1 MiB. */
export const ARGUMENTS_CHARS_MAX = 1_048_576;
/** Deepest nesting of arguments, in levels. */
export const ARGUMENTS_DEPTH_MAX = 64;
/** Longest array in arguments: `uniqueItems` compares every pair. */
export const ARGUMENTS_ITEMS_MAX = 10_000;

export type CheckedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | {
      readonly ok: false;
      readonly errorType: 'malformed_arguments' | 'invalid_arguments';
      readonly error: string;
    };

/**
 * A model's raw argument string, parsed and checked by the tool's schema (SPEC R3, R5). Nothing is coerced or filled
 * in. The error names every fault (at most 20) with its place, what was found and what is allowed, so that the model
 * can mend the call. An empty string is `{}`.
 */
export function checkArguments(spec: ToolSpec, argsText: string): CheckedArguments {
  if (argsText.length > ARGUMENTS_CHARS_MAX) {
    return malformed(
      spec,
      `they are ${argsText.length} characters long (at most ${ARGUMENTS_CHARS_MAX})`,
    );
  }
  if (argsText.trim() === '') return checkParsed(spec, {});
  let parsed: unknown;
  try {
    parsed = JSON.parse(argsText);
  } catch {
    const fault = locateJsonFault(argsText);
    const place = `line ${fault.line}, column ${fault.column} (position ${fault.position})`;
    return malformed(spec, `not valid JSON at ${place}: ${fault.words}. Near: ${fault.spot}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return invalid(spec, `the arguments must be one JSON object, found ${kindOf(parsed)}`);
  }
  const bad = shapeFault(parsed, '', 1);
  if (bad !== null) return invalid(spec, bad);
  return checkParsed(spec, parsed as JsonObject);
}

function checkParsed(spec: ToolSpec, args: JsonObject): CheckedArguments {
  const schema = compileSchema(spec.parameters);
  if (!schema.ok) {
    const { key, found, expected } = schema.fault;
    return invalid(
      spec,
      `the tool's own schema cannot be used: ${key} is ${found}, expected ${expected}. Do not call this tool again`,
    );
  }
  try {
    const errors: readonly ErrorObject[] = schema.check(args);
    return errors.length === 0 ? { ok: true, args } : invalid(spec, wordsOfFaults(errors));
  } catch (thrown) {
    if (thrown instanceof SlowPattern) return invalid(spec, thrown.message);
    return invalid(spec, `the tool's schema cannot be evaluated on them: ${String(thrown)}`);
  }
}

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

function shapeFault(value: unknown, at: string, depth: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (depth > ARGUMENTS_DEPTH_MAX) {
    return `they nest deeper than ${ARGUMENTS_DEPTH_MAX} levels, at ${at.slice(0, 200)}`;
  }
  if (Array.isArray(value) && value.length > ARGUMENTS_ITEMS_MAX) {
    return `${at} has ${value.length} items (at most ${ARGUMENTS_ITEMS_MAX})`;
  }
  for (const [key, item] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    if (FORBIDDEN_KEYS.has(key))
      return `the property name at ${here.slice(0, 200)} is not allowed in arguments`;
    const fault = shapeFault(item, here, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function malformed(spec: ToolSpec, why: string): CheckedArguments {
  return {
    ok: false,
    errorType: 'malformed_arguments',
    error: `Arguments of ${spec.name}: ${why}`,
  };
}

function invalid(spec: ToolSpec, why: string): CheckedArguments {
  return { ok: false, errorType: 'invalid_arguments', error: `Arguments of ${spec.name}: ${why}` };
}
