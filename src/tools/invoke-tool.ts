/**
 * Owns one tool call: its clock, its signal and its one outcome.
 *
 * 1. It never throws and never rejects: whatever a tool does becomes a `ToolOutcome` (SPEC R5).
 * 2. The first of settled, aborted and timed out decides. What a tool does after that is nobody's result, and its late
 *    rejection is nobody's crash.
 * 3. A run that ignores its signal is abandoned, not stopped: JavaScript cannot stop it. It is resolved for the caller
 *    at once (or after `graceMs`), its effect is then uncertain, and only the end of its thread ends it.
 * 4. No timer and no listener outlives the call.
 */
import { Fault, messageOf } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import type { Effect, Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { carryJson } from './core/carry-json.ts';
import { type Failure, failed } from './core/failure.ts';

/** Longest text of a result, in UTF-16 units (32 Mi): what is longer is cut, with a mark, before anything keeps it. */
export const RESULT_TEXT_CHARS_MAX = 33_554_432;

/** Longest error message that is passed on, in UTF-16 units. */
const ERROR_CHARS_MAX = 4000;

/** `setTimeout` fires at once above this. */
const TIMER_MS_MAX = 2_147_483_647;

/**
 * A tool of whatever arguments. `stopGraceMs`: milliseconds it needs, after its signal, to clean up what it started;
 * its call is not abandoned before.
 */
export interface AnyTool extends Tool<never, AbortSignal> {
  readonly stopGraceMs?: number;
}

export interface InvokeOptions {
  /** Milliseconds; can shorten the tool's own limit, not lengthen it. */
  readonly timeoutMs?: number;
  /** Milliseconds a tool may take after its signal to end by itself and say how; default 0 = abandon at once. */
  readonly graceMs?: number;
}

/** Runs a tool on this thread. `args` have passed `checkArguments`. */
export async function invokeTool(
  tool: AnyTool,
  args: JsonObject,
  context: ToolContext<AbortSignal>,
  options: InvokeOptions = {},
): Promise<ToolOutcome> {
  if (context.signal.aborted) {
    return failed('cancelled', `${tool.name} was cancelled before it started`);
  }
  let partial = '';
  let isOver = false;
  const stop = new AbortController();
  const inner: ToolContext<AbortSignal> = {
    ...context,
    signal: stop.signal,
    progress(text) {
      if (isOver) return; // 2
      partial = cut(String(text));
      context.progress(partial);
    },
  };
  const settled = settle(tool, args, inner);
  const outcome = await untilStopped(tool, settled, { stop, context, options });
  isOver = true;
  if (outcome.ok || outcome.text !== undefined || partial === '') return outcome;
  return { ...outcome, text: partial };
}

interface Call {
  readonly stop: AbortController;
  readonly context: ToolContext<AbortSignal>;
  readonly options: InvokeOptions;
}

function untilStopped(
  tool: AnyTool,
  settled: Promise<ToolOutcome>,
  call: Call,
): Promise<ToolOutcome> {
  const limitMs = Math.min(call.options.timeoutMs ?? tool.timeoutMs, tool.timeoutMs, TIMER_MS_MAX);
  const { signal } = call.context;
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const end = (outcome: ToolOutcome): void => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const stopWith = (why: Failure, reason: unknown): void => {
      if (call.stop.signal.aborted) return;
      const graceMs = Math.max(call.options.graceMs ?? 0, tool.stopGraceMs ?? 0);
      grace = setTimeout(end, graceMs, why);
      void settled.then((outcome) => end(ownWords(outcome, why)));
      call.stop.abort(reason);
      if (graceMs <= 0) end(why);
    };
    const onAbort = (): void => {
      const why = messageOf(signal.reason);
      stopWith(
        failed('cancelled', `${tool.name} was cancelled: ${why}`, { effect: blame(tool) }),
        signal.reason,
      );
    };
    const timer = setTimeout(() => {
      const fault = new Fault('tool.timeout', `${tool.name} took longer than ${limitMs} ms`);
      stopWith(failed('timeout', fault.message, { effect: blame(tool) }), fault);
    }, limitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    void settled.then((outcome) => {
      if (!call.stop.signal.aborted) end(outcome);
    });
  });
}

/** A stopped tool that ends well within its grace has succeeded; else it may still say what it left behind. */
function ownWords(outcome: ToolOutcome, why: Failure): ToolOutcome {
  if (outcome.ok) return outcome;
  const { effect, text } = outcome;
  return text === undefined ? { ...why, effect } : { ...why, effect, text };
}

async function settle(
  tool: AnyTool,
  args: JsonObject,
  context: ToolContext<AbortSignal>,
): Promise<ToolOutcome> {
  try {
    return outcomeOf(tool, await tool.run(args as never, context));
  } catch (thrown) {
    return thrownOutcome(tool, thrown);
  }
}

function outcomeOf(tool: AnyTool, returned: unknown): ToolOutcome {
  if (returned === undefined) return { ok: true, text: '' };
  if (typeof returned === 'string') return { ok: true, text: cut(returned) };
  const carried = carryJson(returned);
  if (!carried.ok) {
    return failed(
      'invalid_result',
      `${tool.name} returned what JSON cannot carry: ${carried.why}`,
      {
        effect: blame(tool),
      },
    );
  }
  const value = carried.value;
  if (isObject(value)) {
    const outcome = declaredOutcome(tool, value);
    if (outcome !== null) return outcome;
  }
  const text = JSON.stringify(value, null, 2);
  if (text.length > RESULT_TEXT_CHARS_MAX) return { ok: true, text: cut(text) };
  return { ok: true, text, data: value };
}

/** The object as the outcome it says it is; `null` where it is plain JSON that merely has a property `ok`. */
function declaredOutcome(tool: AnyTool, value: JsonObject): ToolOutcome | null {
  const { ok, text, data, errorType, error, effect, ...rest } = value;
  const isBare = Object.keys(rest).length === 0;
  if (ok === true && typeof text === 'string' && isBare && errorType === undefined) {
    return data === undefined ? { ok: true, text: cut(text) } : { ok: true, text: cut(text), data };
  }
  if (ok !== false || (errorType === undefined && error === undefined)) return null;
  const isWhole = isBare && isName(errorType) && typeof error === 'string' && isEffect(effect);
  if (!isWhole || (text !== undefined && typeof text !== 'string')) {
    const found = JSON.stringify(value).slice(0, 500);
    const message = `${tool.name} failed with a malformed outcome: expected ${FAILED_SHAPE}, found ${found}`;
    return failed('invalid_result', message, { effect: blame(tool) });
  }
  return failed(
    errorType,
    shortened(error),
    text === undefined ? { effect } : { effect, text: cut(text) },
  );
}

const FAILED_SHAPE =
  '{ ok: false, errorType: string, error: string, effect: "none" | "applied" | "uncertain", text?: string }';

function thrownOutcome(tool: AnyTool, thrown: unknown): Failure {
  let message = 'a value that throws when it is read';
  let effect = blame(tool);
  try {
    message = thrown === '' ? 'an empty string was thrown' : String(messageOf(thrown));
    if (thrown instanceof Fault && thrown.retry === 'safe') effect = 'none';
  } catch {
    // The words above stand for it.
  }
  return failed('tool_error', `${tool.name} failed: ${shortened(message)}`, { effect });
}

/** What a call that broke off may have left behind (SPEC section 1, effect). */
function blame(tool: AnyTool): Effect {
  return tool.effect === 'read' ? 'none' : 'uncertain';
}

function cut(text: string): string {
  if (text.length <= RESULT_TEXT_CHARS_MAX) return text;
  const missing = text.length - RESULT_TEXT_CHARS_MAX;
  return `${text.slice(0, RESULT_TEXT_CHARS_MAX)}\n[cut: ${missing} more characters were dropped]`;
}

function shortened(message: string): string {
  return message.length <= ERROR_CHARS_MAX ? message : `${message.slice(0, ERROR_CHARS_MAX)}…`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z][a-z0-9_.-]{0,63}$/.test(value);
}

function isEffect(value: unknown): value is Effect {
  return value === 'none' || value === 'applied' || value === 'uncertain';
}
