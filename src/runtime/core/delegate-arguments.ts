import type { Json, JsonObject } from '../../base/json.ts';

/** Refused words are the call's whole result; nothing has happened (SPEC G6). */
export interface RefusedCall {
  readonly ok: false;
  readonly words: string;
}

/** SPEC D2. */
export const CHILD_TURNS_MIN = 24;
export const CHILD_TURNS_MAX = 100;

/** A model that has nothing to say for an argument may write `null`. */
export function given(args: JsonObject, name: string): Json | undefined {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === null ? undefined : value;
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

export type ReadText = { readonly ok: true; readonly text: string } | RefusedCall;

/** `purpose` ends the words about one that is missing. */
export function readText(args: JsonObject, name: string, purpose = ''): ReadText {
  const value = given(args, name);
  if (typeof value !== 'string')
    return { ok: false, words: `Missing '${name}' parameter${purpose}` };
  const text = value.trim();
  return text === ''
    ? { ok: false, words: `'${name}' parameter must not be empty` }
    : { ok: true, text };
}

export interface ReadTask {
  readonly ok: true;
  readonly prompt: string;
  readonly context: string | null;
  /** Within the bounds of SPEC D2; `null` = the target's own budget. */
  readonly maxTurns: number | null;
}

/** What an agent is asked, and for how many turns at most. */
export function readTask(args: JsonObject, purpose = ''): ReadTask | RefusedCall {
  const prompt = readText(args, 'prompt', purpose);
  if (!prompt.ok) return prompt;
  const context = given(args, 'context');
  if (context !== undefined && typeof context !== 'string') {
    return { ok: false, words: "'context' parameter must be a text" };
  }
  const turns = given(args, 'max_turns');
  if (turns !== undefined && !Number.isInteger(turns)) {
    return { ok: false, words: "'max_turns' parameter must be a whole number" };
  }
  return {
    ok: true,
    prompt: prompt.text,
    context: context?.trim() || null,
    maxTurns: turns === undefined ? null : clampTurns(Number(turns)),
  };
}

function clampTurns(turns: number): number {
  return Math.min(CHILD_TURNS_MAX, Math.max(CHILD_TURNS_MIN, turns));
}
