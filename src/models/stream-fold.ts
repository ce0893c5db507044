import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Json, JsonObject } from '../base/json.ts';
import type { ToolCallPart } from '../runtime/core/message.ts';
import type { Usage } from '../runtime/core/model.ts';
import { type LayoutBlock, writeLayout } from './answer-layout.ts';
import { reportedUsage } from './reported-usage.ts';

/** What one stream amounted to. `error` is whatever a `{type:'error'}` part held: then nothing else counts. */
export interface Folded {
  readonly text: string;
  readonly calls: readonly ToolCallPart[];
  readonly usage: Usage;
  readonly finishReason: string;
  readonly raw: Json;
  readonly providerMeta: JsonObject | undefined;
}

type Open = { kind: 'text' | 'reasoning'; text: string; meta: JsonObject | null };

/** Collects the parts of one stream. Calls are taken from their own parts: a finish reason is no evidence of them. */
export class StreamFold {
  readonly #blocks: (Open | { kind: 'call'; index: number; meta: null })[] = [];
  readonly #open = new Map<string, Open>();
  readonly #calls: ToolCallPart[] = [];
  readonly #onText: (text: string) => void;
  #finish: Extract<LanguageModelV3StreamPart, { type: 'finish' }> | null = null;
  #response: JsonObject = {};
  #error: { readonly value: unknown } | null = null;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** The first error inside the stream, in a box because it may be anything. */
  get error(): { readonly value: unknown } | null {
    return this.#error;
  }

  get finished(): boolean {
    return this.#finish !== null;
  }

  /** The provider itself says that the answer ended by a fault, in the library's word or its own. */
  get finishedByError(): boolean {
    const reason = this.#finish?.finishReason;
    return reason?.unified === 'error' || reason?.raw === 'error';
  }

  add(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part);
        return;
      case 'text-delta':
        this.#grow('text', part.id, part.delta, part);
        this.#onText(part.delta);
        return;
      case 'reasoning-delta':
        this.#grow('reasoning', part.id, part.delta, part);
        return;
      case 'text-end':
        this.#close('text', part.id, part);
        return;
      case 'reasoning-end':
        this.#close('reasoning', part.id, part);
        return;
      case 'tool-call':
        this.#call(part);
        return;
      case 'response-metadata':
        this.#response = { id: part.id ?? null, model: part.modelId ?? null };
        return;
      case 'error':
        this.#error ??= { value: part.error };
        return;
      case 'finish':
        this.#finish = part;
        return;
      default:
        return;
    }
  }

  result(): Folded {
    const blocks = this.#blocks.filter(
      (block) => block.kind === 'call' || block.text !== '' || block.meta !== null,
    );
    const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
    const usage = this.#finish?.usage;
    return {
      text,
      calls: this.#calls,
      usage: reportedUsage(usage),
      finishReason: this.#finish?.finishReason.unified ?? 'other',
      raw: plainJson({
        usage: usage?.raw ?? null,
        finishReason: this.#finish?.finishReason.raw ?? null,
        response: this.#response,
        providerMetadata: this.#finish?.providerMetadata ?? null,
      }),
      providerMeta: writeLayout(blocks as LayoutBlock[]),
    };
  }

  #start(kind: Open['kind'], id: string, part: { providerMetadata?: unknown }): Open {
    const block: Open = { kind, text: '', meta: metaOf(part) };
    this.#blocks.push(block);
    this.#open.set(`${kind} ${id}`, block);
    return block;
  }

  #grow(kind: Open['kind'], id: string, delta: string, part: { providerMetadata?: unknown }): void {
    const block = this.#open.get(`${kind} ${id}`) ?? this.#start(kind, id, part);
    block.text += delta;
    block.meta = metaOf(part) ?? block.meta;
  }

  #close(kind: Open['kind'], id: string, part: { providerMetadata?: unknown }): void {
    const block = this.#open.get(`${kind} ${id}`);
    if (block === undefined) return;
    block.meta = metaOf(part) ?? block.meta;
    this.#open.delete(`${kind} ${id}`);
  }

  /** A call that the provider itself made and answered is not ours to run. */
  #call(part: Extract<LanguageModelV3StreamPart, { type: 'tool-call' }>): void {
    if (part.providerExecuted === true) return;
    const index = this.#calls.length;
    const meta = metaOf(part);
    this.#calls.push({
      id: part.toolCallId === '' ? `call-${index + 1}` : part.toolCallId,
      name: part.toolName,
      argsText: part.input,
      ...(meta === null ? {} : { providerMeta: meta }),
    });
    this.#blocks.push({ kind: 'call', index, meta: null });
  }
}

function metaOf(part: { providerMetadata?: unknown }): JsonObject | null {
  if (part.providerMetadata === undefined) return null;
  return plainJson(part.providerMetadata) as JsonObject;
}

function plainJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
