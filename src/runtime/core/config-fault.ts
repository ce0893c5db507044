import type { Json, JsonObject } from '../../base/json.ts';
import { formatPath, type KeyPath } from './key-path.ts';
import { looksLikeKey, namesSecret } from './secret-look.ts';

/** Something wrong with a configuration: where, what was found there, and what is allowed (SPEC C1). */
export interface ConfigFault {
  /** As the caller named it; `null` for a configuration given in code. */
  readonly file: string | null;
  /** `agents.lead.max_turns`. */
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly found: string;
  readonly expected: string;
  readonly hint?: string;
  /** The whole of it in one sentence, key path included, place not. */
  readonly message: string;
}

/** Something that loads but may not do what its author expects. */
export interface ConfigWarning {
  readonly file: string | null;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** Where a key was written. */
export interface Place {
  readonly file: string | null;
  readonly line?: number;
  readonly column?: number;
}

export interface FaultWords {
  readonly found: string;
  readonly expected: string;
  readonly hint?: string;
  /** In place of the sentence made of the others. */
  readonly message?: string;
}

export function configFault(place: Place, path: KeyPath, words: FaultWords): ConfigFault {
  const text = formatPath(path);
  const hint = words.hint === undefined ? '' : `; ${words.hint}`;
  return {
    ...place,
    path: text,
    found: words.found,
    expected: words.expected,
    ...(words.hint === undefined ? {} : { hint: words.hint }),
    message: words.message ?? `${text}: found ${words.found}, expected ${words.expected}${hint}`,
  };
}

/** `troupe.toml:3:1 agents.lead.max_turn: found an unknown key, …`: one line for a person. */
export function faultLine(fault: ConfigFault | ConfigWarning): string {
  if (fault.file === null) return fault.message;
  const line = fault.line === undefined ? '' : `:${fault.line}`;
  const column = fault.column === undefined ? '' : `:${fault.column}`;
  return `${fault.file}${line}${column} ${fault.message}`;
}

export function faultAsJson(fault: ConfigFault): JsonObject {
  const entries = Object.entries(fault).filter(([key]) => key !== 'message');
  return Object.fromEntries(entries) as Record<string, Json>;
}

const SHOWN_CHARS_MAX = 60;

/** A value in words for a fault. What may be a secret is named, never shown (SPEC C6). */
export function describeValue(value: unknown, path: KeyPath = []): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return describeText(value, path);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'symbol') return 'a date';
  if (typeof value === 'object') return 'a table';
  if (isSecretPlace(path)) return `a ${typeof value} (not shown)`;
  return typeof value === 'function' ? 'a function' : String(value);
}

function describeText(text: string, path: KeyPath): string {
  if (text === '') return 'an empty text';
  if (looksLikeKey(text)) return 'a value that looks like a key (not shown)';
  if (isSecretPlace(path)) return 'a text (not shown)';
  const clipped = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
  return JSON.stringify(clipped);
}

function isSecretPlace(path: KeyPath): boolean {
  return path.some((part) => typeof part === 'string' && (namesSecret(part) || part === 'env'));
}
