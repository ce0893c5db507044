import type { Json, JsonObject } from '../../base/json.ts';

/** A value of an event's data in words; what is not there is `?`. */
export function text(value: Json | undefined): string {
  if (value === undefined || value === null) return '?';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function figure(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** The values of a list; none where it is no list. */
export function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
