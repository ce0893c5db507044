import type { Json, JsonObject } from '../base/json.ts';
import type { Message } from '../runtime/core/message.ts';

/**
 * The order in which an answer came, with what the provider wants back: reasoning, pieces of the text, calls. It
 * travels in the `providerMeta` of an assistant message as `{ layout: [...] }`, only where an order alone would lose
 * something (a reasoning block, or metadata on a text). A piece of text is kept as its length: the words are already
 * in the message.
 */
export type LayoutBlock =
  | { readonly kind: 'text'; readonly text: string; readonly meta: JsonObject | null }
  | { readonly kind: 'reasoning'; readonly text: string; readonly meta: JsonObject | null }
  | { readonly kind: 'call'; readonly index: number; readonly meta: null };

/** One block as it is stored: exactly one of `text`, `reasoning` and `call` is there. */
interface StoredBlock {
  readonly text?: Json;
  readonly reasoning?: Json;
  readonly meta?: Json;
}

type Assistant = Extract<Message, { role: 'assistant' }>;

export function writeLayout(blocks: readonly LayoutBlock[]): JsonObject | undefined {
  const plain = blocks.every((block) => block.kind !== 'reasoning' && block.meta === null);
  if (plain) return undefined;
  const layout = blocks.map((block): JsonObject => {
    if (block.kind === 'call') return { call: block.index };
    const meta = block.meta === null ? {} : { meta: block.meta };
    return block.kind === 'text'
      ? { text: block.text.length, ...meta }
      : { reasoning: block.text, ...meta };
  });
  return { layout };
}

/** The blocks of a message, in the answer's own order where it is known, else text before calls. */
export function readLayout(message: Assistant): readonly LayoutBlock[] {
  return restored(message) ?? plainLayout(message);
}

function plainLayout(message: Assistant): LayoutBlock[] {
  const blocks: LayoutBlock[] = [];
  if (message.text !== '') blocks.push({ kind: 'text', text: message.text, meta: null });
  message.calls.forEach((_, index) => {
    blocks.push({ kind: 'call', index, meta: null });
  });
  return blocks;
}

/** `null` where there is no layout, or one that does not fit the message any more. */
function restored(message: Assistant): LayoutBlock[] | null {
  const { layout } = (message.providerMeta ?? {}) as { readonly layout?: Json };
  if (!Array.isArray(layout)) return null;
  const blocks: LayoutBlock[] = [];
  let from = 0;
  let calls = 0;
  for (const item of layout as readonly Json[]) {
    if (!isObject(item)) return null;
    const stored: StoredBlock = item;
    const meta = isObject(stored.meta) ? stored.meta : null;
    if (typeof stored.text === 'number') {
      blocks.push({ kind: 'text', text: message.text.slice(from, from + stored.text), meta });
      from += stored.text;
    } else if (typeof stored.reasoning === 'string') {
      blocks.push({ kind: 'reasoning', text: stored.reasoning, meta });
    } else {
      blocks.push({ kind: 'call', index: calls, meta: null });
      calls += 1;
    }
  }
  return from === message.text.length && calls === message.calls.length ? blocks : null;
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
