import type { FaultWire } from '../../base/fault.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { Message, ToolCallPart } from './message.ts';
import type { CancelSignal, ToolSpec } from './tool.ts';

/** Tokens as the provider reported them; `null` = it did not say. Unknown is never counted as 0 (SPEC M4). */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens: number | null;
}

/** Which model a run asks: a provider entry `<type>.<alias>` of the config and the model's own name. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** A provider entry with every default filled in. All times in milliseconds. */
export interface ProviderEntry {
  readonly ref: string;
  readonly type: 'openai' | 'anthropic' | 'google' | 'openai-compatible' | 'scripted' | 'replay';
  readonly baseUrl: string | null;
  /** Name of the environment variable that holds the key; the key itself never leaves the model thread. */
  readonly apiKeyEnv: string | null;
  readonly model: string | null;
  readonly temperature: number | null;
  readonly connectTimeoutMs: number;
  /** Longest silence: before the first byte (a slow prefill) and between two. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxRetries: number;
  readonly nativeTools: boolean;
  readonly maxConcurrentRequests: number | null;
  /** Absolute path of the scenario (`scripted`) or the recorded journal (`replay`). */
  readonly file: string | null;
  /** Cents per million tokens. */
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly cachedInput: number;
  } | null;
}

/** One request. `history` starts with the run's prompt; `system` and `tools` are the same at every turn of a run. */
export interface ModelRequest {
  readonly runId: string;
  readonly agentId: string;
  readonly turn: number;
  readonly system: string;
  readonly history: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly model: ModelRef;
}

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolCallPart[];
  readonly usage: Usage;
  /** Cents, or `null` where tokens or price are unknown. */
  readonly costCents: number | null;
  /** What served it, in words for people: `openai-compatible.local/qwen3` or `scripted (no language model)`. */
  readonly servedBy: string;
  readonly finishReason: string;
  /** The provider's own usage and metadata, kept for the journal. */
  readonly raw?: Json;
  /** What the provider wants back with this answer on the next request. */
  readonly providerMeta?: JsonObject;
  /** Requests made for this answer, 1 = no retry. */
  readonly attempts: number;
}

/** Answers requests. Throws a `Fault` whose code starts with `model.`; an aborted request throws `model.aborted`. */
export interface ModelProvider {
  ask(
    request: ModelRequest,
    options: { readonly signal: CancelSignal; readonly onDelta: (text: string) => void },
  ): Promise<ModelAnswer>;
}

/** What an actor sends to the model thread, and what comes back. A history crosses once, then only what is new. */
export type ToModel =
  | {
      readonly kind: 'open';
      readonly runId: string;
      readonly agentId: string;
      readonly system: string;
      readonly tools: readonly ToolSpec[];
      readonly model: ModelRef;
    }
  | {
      readonly kind: 'ask';
      readonly runId: string;
      readonly turn: number;
      /** The whole history where `fresh`, else what came since the last ask of this run. */
      readonly messages: readonly Message[];
      readonly fresh: boolean;
    }
  | { readonly kind: 'abort'; readonly runId: string; readonly turn: number }
  | { readonly kind: 'close'; readonly runId: string };

export type FromModel =
  | { readonly kind: 'delta'; readonly runId: string; readonly turn: number; readonly text: string }
  | {
      readonly kind: 'answer';
      readonly runId: string;
      readonly turn: number;
      readonly answer: ModelAnswer;
    }
  | {
      readonly kind: 'failed';
      readonly runId: string;
      readonly turn: number;
      readonly fault: FaultWire;
    };

/** Where a vendor's key is looked for when an entry names no `api_key_env`: the names of their own documentation. */
export const VENDOR_KEY_ENV = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const satisfies Partial<Record<ProviderEntry['type'], string>>;
