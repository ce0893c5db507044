import type { FaultWire } from '../../base/fault.ts';
import type { Json, JsonObject } from '../../base/json.ts';

/** What a caller writes on a line. */
export interface SocketRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** What the host writes on a line: any number of items, then a result or a fault. `id` is null where none was read. */
export type SocketReply =
  | { readonly id: number; readonly item: Json }
  | { readonly id: number; readonly result: Json }
  | { readonly id: number | null; readonly fault: FaultWire };

/** Chunks of text as lines; holds at most `charsMax` of a line that has not ended. */
export class LineSplitter {
  readonly #charsMax: number;
  #held = '';
  #overlong = false;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  /** A line was longer than allowed; nothing after it is read any more. */
  get overlong(): boolean {
    return this.#overlong;
  }

  /** What came after the last line's end. */
  get rest(): string {
    return this.#held;
  }

  push(chunk: string): string[] {
    if (this.#overlong) return [];
    const parts = chunk.split('\n');
    const lines: string[] = [];
    for (const [at, part] of parts.entries()) {
      if (this.#held.length + part.length > this.#charsMax) {
        this.#overlong = true;
        this.#held = '';
        return lines;
      }
      this.#held += part;
      if (at === parts.length - 1) break;
      lines.push(this.#held);
      this.#held = '';
    }
    return lines;
  }
}

export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `id` of the request, where that much could be read. */
  | { readonly ok: false; readonly id: number | null; readonly why: string };

export function parseRequest(line: string): Parsed<SocketRequest> {
  const value = parseObject(line);
  if (value === null) return { ok: false, id: null, why: 'a line is not a JSON object' };
  const { id, method, params = {} } = value as Partial<Record<string, Json>>;
  if (typeof id !== 'number') return { ok: false, id: null, why: '"id" must be a number' };
  if (typeof method !== 'string') return { ok: false, id, why: '"method" must be a text' };
  if (!isObject(params)) return { ok: false, id, why: '"params" must be an object' };
  return { ok: true, value: { id, method, params } };
}

/** `null` for anything that is not a reply. */
export function parseReply(line: string): SocketReply | null {
  const value = parseObject(line);
  if (value === null) return null;
  const { id = null, fault } = value as Partial<Record<string, Json>>;
  if (fault !== undefined) {
    return isFaultWire(fault) && (id === null || typeof id === 'number') ? { id, fault } : null;
  }
  if (typeof id !== 'number') return null;
  if (Object.hasOwn(value, 'item')) return { id, item: value['item'] ?? null };
  return Object.hasOwn(value, 'result') ? { id, result: value['result'] ?? null } : null;
}

function isFaultWire(value: Json): value is Json & FaultWire {
  if (!isObject(value)) return false;
  const { code, message, retry, detail } = value as Partial<Record<string, Json>>;
  return (
    typeof code === 'string' &&
    typeof message === 'string' &&
    typeof retry === 'string' &&
    isObject(detail)
  );
}

function parseObject(line: string): JsonObject | null {
  try {
    const value = JSON.parse(line) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
