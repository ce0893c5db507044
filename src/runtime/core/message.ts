import type { JsonObject } from '../../base/json.ts';

/** A call as the model wrote it: `argsText` is its raw argument string, valid JSON or not. */
export interface ToolCallPart {
  readonly id: string;
  readonly name: string;
  readonly argsText: string;
  /** What the provider wants back with this call on the next request (signatures, item ids). */
  readonly providerMeta?: JsonObject;
}

export interface ToolResultPart {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

/** One entry of a run's history. A history is append-only (SPEC R7): no entry is ever rewritten or dropped. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly ToolCallPart[];
      readonly providerMeta?: JsonObject;
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResultPart[] };
