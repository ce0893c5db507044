import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { Json, JsonObject } from '../base/json.ts';
import type { Message, ToolCallPart, ToolResultPart } from '../runtime/core/message.ts';
import type { ModelRequest } from '../runtime/core/model.ts';
import type { ToolSpec } from '../runtime/core/tool.ts';
import { readLayout } from './answer-layout.ts';
import type { HttpType } from './sdk-model.ts';

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number];

/**
 * A request in the provider library's form. The same history gives the same prefix at every turn, so that a
 * provider's prompt cache keeps working (SPEC R7).
 */
export function toCallOptions(
  type: HttpType,
  request: ModelRequest,
  temperature: number | null,
): LanguageModelV3CallOptions {
  const tools = request.tools.map(toTool);
  return {
    prompt: toPrompt(type, request),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } }),
    ...(temperature === null ? {} : { temperature }),
    // The journal is the only memory of a run: nothing of it may depend on what a provider keeps for a while.
    ...(type === 'openai' ? { providerOptions: { openai: { store: false } } } : {}),
  };
}

function toTool(tool: ToolSpec) {
  return {
    type: 'function' as const,
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters as Record<string, unknown>,
  };
}

function toPrompt(type: HttpType, request: ModelRequest): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  if (request.system !== '') prompt.push({ role: 'system', content: request.system });
  const ids = new CallIds();
  for (const message of request.history) {
    const converted = toMessage(type, message, ids);
    if (converted !== null) prompt.push(converted);
  }
  if (type === 'anthropic') markForCache(prompt);
  return prompt;
}

function toMessage(type: HttpType, message: Message, ids: CallIds): LanguageModelV3Message | null {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant': {
      const content = assistantParts(type, message, ids);
      return content.length === 0 ? null : { role: 'assistant', content };
    }
    case 'tool':
      return { role: 'tool', content: message.results.map((result) => toResult(result, ids)) };
  }
}

function assistantParts(
  type: HttpType,
  message: Extract<Message, { role: 'assistant' }>,
  ids: CallIds,
): AssistantPart[] {
  const sent = ids.rename(message.calls);
  const layout = readLayout(message);
  return layout.map((block): AssistantPart => {
    const meta = block.meta === null ? {} : { providerOptions: toOptions(block.meta) };
    if (block.kind !== 'call') return { type: block.kind, text: block.text, ...meta };
    const call = message.calls[block.index];
    return {
      type: 'tool-call',
      toolCallId: sent[block.index] ?? '',
      toolName: call?.name ?? '',
      input: toInput(type, call?.argsText ?? ''),
      ...(call?.providerMeta === undefined
        ? {}
        : { providerOptions: callOptions(call.providerMeta) }),
    };
  });
}

function toOptions(meta: JsonObject): SharedV3ProviderOptions {
  return meta as SharedV3ProviderOptions;
}

/** A Gemini server behind the compatible wire signs its calls; the library reads that back under another name. */
function callOptions(meta: JsonObject): SharedV3ProviderOptions {
  const { compatible } = meta as { readonly compatible?: { readonly thoughtSignature?: Json } };
  return toOptions(
    compatible?.thoughtSignature === undefined ? meta : { ...meta, google: compatible },
  );
}

/**
 * Arguments as the provider wants them back: an object. What the model wrote and no JSON object came of it goes back
 * under a key that says so, because servers refuse a history that holds anything else.
 */
function toInput(type: HttpType, argsText: string): unknown {
  if (argsText.trim() === '') return {};
  const parsed = parseObject(argsText);
  if (parsed === null) return { invalid_arguments: argsText };
  return type === 'openai-compatible' ? argsText : parsed;
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as JsonObject)
      : null;
  } catch {
    return null;
  }
}

function toResult(result: ToolResultPart, ids: CallIds): ToolPart {
  return {
    type: 'tool-result',
    toolCallId: ids.take(result.callId),
    toolName: result.name,
    output: { type: result.isError ? 'error-text' : 'text', value: result.text },
  };
}

/** Two places a request may be cached up to: what every turn shares, and all that has been said so far. */
function markForCache(prompt: LanguageModelV3Message[]): void {
  const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  for (const at of new Set([0, prompt.length - 1])) {
    const message = prompt[at];
    if (message !== undefined) message.providerOptions = mark;
  }
}

/** Providers refuse two calls with one id in a history; results come in call order (SPEC R12), so the n-th is the n-th. */
class CallIds {
  readonly #used = new Set<string>();
  readonly #open = new Map<string, string[]>();

  rename(calls: readonly ToolCallPart[]): string[] {
    return calls.map(({ id }) => {
      let sent = id;
      for (let n = 2; this.#used.has(sent); n += 1) sent = `${id}-${n}`;
      this.#used.add(sent);
      const waiting = this.#open.get(id);
      if (waiting === undefined) this.#open.set(id, [sent]);
      else waiting.push(sent);
      return sent;
    });
  }

  take(id: string): string {
    return this.#open.get(id)?.shift() ?? id;
  }
}
