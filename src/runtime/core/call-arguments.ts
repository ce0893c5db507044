import type { JsonObject } from '../../base/json.ts';
import type { CallCheck } from './agent-protocol.ts';
import type { ToolCallPart } from './message.ts';
import type { CallVerdict } from './run-event.ts';

export type ReadArguments =
  | { readonly args: JsonObject }
  | Extract<CallVerdict, { kind: 'refused' }>;

/**
 * The parsed arguments of a control tool. These tools read their own arguments, with the words the spec gives them, so
 * only a text that is no JSON object is refused by the actor's check.
 */
export function argumentsOf(part: ToolCallPart, check: CallCheck): ReadArguments {
  if (!check.ok && check.errorType === 'malformed_arguments') {
    return refused(check.errorType, check.error);
  }
  try {
    const args: unknown = JSON.parse(part.argsText.trim() === '' ? '{}' : part.argsText);
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
      return { args: args as JsonObject };
    }
  } catch {
    // Said below, in the same words as for a value that is no object.
  }
  return refused('malformed_arguments', `arguments of ${part.name} must be a JSON object`);
}

export function refused(
  errorType: string,
  words: string,
): Extract<CallVerdict, { kind: 'refused' }> {
  return { kind: 'refused', error_type: errorType, words };
}
