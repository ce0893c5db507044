import { canonicalJson, type Json } from '../../base/json.ts';
import type { ToolCallPart } from './message.ts';
import type { AnsweredCall, CallVerdict } from './run-event.ts';

/**
 * The calls of an answer with what will be done about each: ids made unique, and repetitions within the answer settled
 * by SPEC R6. `verdicts` holds what gates and checks said of each call on its own.
 */
export function settleCalls(
  parts: readonly ToolCallPart[],
  verdicts: readonly CallVerdict[],
  identical: 'share' | 'run',
): AnsweredCall[] {
  const ids = new Set<string>();
  const first = new Map<string, number>();
  return parts.map((part, at) => {
    const id = uniqueId(part.id, ids);
    ids.add(id);
    const own = verdicts[at] ?? refused('unknown_tool', `Unknown tool: ${part.name}`);
    const signature = repeatsFreely(part.name, identical) ? null : signatureOf(part);
    const earlier = signature === null ? undefined : first.get(signature);
    if (earlier === undefined && signature !== null) first.set(signature, at + 1);
    return {
      id,
      name: part.name,
      args_text: part.argsText,
      ...(part.providerMeta === undefined ? {} : { provider_meta: part.providerMeta }),
      verdict: earlier === undefined ? own : repeated(part.name, own, earlier, identical),
    };
  });
}

/** Calls that are each carried out however alike they are. */
export function repeatsFreely(name: string, identical: 'share' | 'run'): boolean {
  return name === 'spawn_subagent' || (name === 'delegate' && identical === 'run');
}

function repeated(
  name: string,
  own: CallVerdict,
  earlier: number,
  identical: 'share' | 'run',
): CallVerdict {
  if (own.kind === 'refused' || own.kind === 'subagent') return own;
  if (own.kind === 'delegate' || own.kind === 'parallel') {
    return identical === 'share' ? { kind: 'shared', with: earlier } : own;
  }
  return refused(
    'duplicate_call',
    `Skipped duplicate tool call '${name}' with identical arguments in this turn. Call ${earlier} of this answer has its result.`,
  );
}

function refused(errorType: string, words: string): CallVerdict {
  return { kind: 'refused', error_type: errorType, words };
}

/** Equal for calls of one tool whose arguments are equal as values; malformed arguments are compared as text. */
export function signatureOf(part: ToolCallPart): string {
  try {
    const args = part.argsText.trim() === '' ? {} : (JSON.parse(part.argsText) as Json);
    const text = isInOrder(args) ? JSON.stringify(args) : canonicalJson(args);
    return `${part.name}\u0000${text}`;
  } catch {
    return `${part.name}\u0000\u0000${part.argsText}`;
  }
}

/** As `canonicalJson` would write it, every key after those before it. */
function isInOrder(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true;
  let last = '';
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && key < last) return false;
    last = key;
    if (!isInOrder(inner)) return false;
  }
  return true;
}

function uniqueId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id;
  for (let copy = 2; ; copy += 1) {
    const candidate = `${id}~${copy}`;
    if (!taken.has(candidate)) return candidate;
  }
}
