/** What agents remember (SPEC X4): its limits, its requests and its answers. */

/** Whose memory a call works on, as its run has it: never what the call's arguments say. */
export interface MemoryIdentity {
  /** The agent that is written as. */
  readonly own: string;
  /** The agents that may be read, itself among them. */
  readonly readable: readonly string[];
}

export const KEY_CHARS_MAX = 200;
/** About 2,500 words: a memory is a note, not a document. */
export const CONTENT_CHARS_MAX = 16_000;
/** Memories that one agent may have. */
export const MEMORIES_MAX = 10_000;
export const RECALLED_DEFAULT = 5;
export const RECALLED_MAX = 50;
/** Words of a query that count; later ones are ignored. */
const WORDS_MAX = 32;

export type MemoryRequest =
  | {
      readonly type: 'store';
      readonly as: MemoryIdentity;
      /** Unique to the call, the same when it is made again after a crash. */
      readonly callKey: string;
      readonly key: string;
      readonly content: string;
      readonly now: string;
    }
  | {
      readonly type: 'recall';
      readonly as: MemoryIdentity;
      readonly query: string;
      readonly limit: number;
      /** Only of these agents, as far as they may be read; `null` = of all of those. */
      readonly agents: readonly string[] | null;
    }
  | {
      readonly type: 'forget';
      readonly as: MemoryIdentity;
      readonly callKey: string;
      readonly key: string;
    };

export interface Memory {
  readonly key: string;
  readonly content: string;
  readonly agent_id: string;
  /** RFC 3339, UTC. */
  readonly stored_at: string;
}

export type MemoryAnswer =
  | { readonly type: 'stored'; readonly replaced: boolean }
  | { readonly type: 'recalled'; readonly memories: readonly Memory[] }
  | { readonly type: 'forgotten' }
  /** Nothing was changed. */
  | { readonly type: 'refused'; readonly errorType: string; readonly error: string };

/** What a text may not hold: SQLite would cut it at a NUL, and could not give a lone surrogate back. */
export function textFault(name: string, text: string): string | null {
  if (text.trim() === '') return `'${name}' must not be blank`;
  if (text.includes('\0')) return `'${name}' must not hold a NUL character`;
  return /\p{Surrogate}/u.test(text) ? `'${name}' holds half of a surrogate pair` : null;
}

/**
 * A query in words as SQLite's full-text search takes it: any of the words, each as the beginning of one. Nothing of it is
 * ever read as an operator. `null` = there is no word in it.
 */
export function matchOf(query: string): string | null {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  const used = [...new Set(words.map((word) => word.toLowerCase()))].slice(0, WORDS_MAX);
  return used.length === 0 ? null : used.map((word) => `"${word}"*`).join(' OR ');
}
