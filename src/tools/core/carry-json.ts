import type { Json } from '../../base/json.ts';

/** How deep a result may nest; deeper ones overflow the stack of somebody who reads them. */
export const RESULT_DEPTH_MAX = 200;

export type Carried =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly why: string };

/**
 * A copy of what a tool returned, made of nothing but JSON, or the words that say what in it no journal and no other
 * thread could carry, and where. `undefined` properties are dropped, as JSON does.
 */
export function carryJson(value: unknown): Carried {
  try {
    return { ok: true, value: copy(value, 'result', []) };
  } catch (thrown) {
    if (thrown instanceof Uncarriable) return { ok: false, why: thrown.message };
    return { ok: false, why: 'result throws when it is read' };
  }
}

class Uncarriable extends Error {}

function copy(value: unknown, at: string, above: readonly object[]): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new Uncarriable(`${at} is ${value}, which JSON cannot hold`);
  }
  if (typeof value !== 'object') throw new Uncarriable(`${at} is ${nameOf(value)}`);
  if (above.includes(value))
    throw new Uncarriable(`${at} refers back to what contains it (a cycle)`);
  if (above.length >= RESULT_DEPTH_MAX) {
    throw new Uncarriable(`result nests deeper than ${RESULT_DEPTH_MAX} levels`);
  }
  const path = [...above, value];
  if (Array.isArray(value)) {
    return Array.from(value, (item, i) => copy(item ?? null, `${at}[${i}]`, path));
  }
  return copyObject(value, at, path);
}

function copyObject(value: object, at: string, path: readonly object[]): Json {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain =
    prototype === null ||
    (prototype as { constructor?: { name?: string } }).constructor?.name === 'Object';
  if (!isPlain) throw new Uncarriable(`${at} is ${nameOf(value)}, not a plain object`);
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new Uncarriable(`${at} has a symbol as a key`);
  }
  const entries: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw new Uncarriable(`${at} has a key "__proto__"`);
    if (item !== undefined) entries.push([key, copy(item, `${at}.${key}`, path)]);
  }
  return Object.fromEntries(entries);
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object of an unknown class';
}
