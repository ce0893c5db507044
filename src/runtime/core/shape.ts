/**
 * What a value must look like: `null` where it does, else what is wrong and where. Never quotes the value (SPEC C6).
 * Keys beside those named are allowed: a later version may add some.
 */
export type Shape = (value: unknown, path: string) => string | null;

export const anything: Shape = (value, path) => (value === undefined ? `${path} is missing` : null);

export const text: Shape = (value, path) => must(typeof value === 'string', value, path, 'a text');

export const flag: Shape = (value, path) =>
  must(typeof value === 'boolean', value, path, 'true or false');

/** A whole number from 0. */
export const count: Shape = (value, path) =>
  must(Number.isSafeInteger(value) && Number(value) >= 0, value, path, 'a whole number from 0');

/** A whole number from 1. */
export const place: Shape = (value, path) =>
  must(Number.isSafeInteger(value) && Number(value) >= 1, value, path, 'a whole number from 1');

/** A number that may have a fraction, from 0. */
export const amount: Shape = (value, path) =>
  must(typeof value === 'number' && value >= 0, value, path, 'a number from 0');

export const object: Shape = (value, path) => must(isObject(value), value, path, 'an object');

export function nullable(shape: Shape): Shape {
  return (value, path) => (value === null ? null : shape(value, path));
}

export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? null : shape(value, path));
}

export function oneOf(...allowed: readonly string[]): Shape {
  return (value, path) =>
    must(
      typeof value === 'string' && allowed.includes(value),
      value,
      path,
      `one of ${allowed.join(', ')}`,
    );
}

export function listOf(shape: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return must(false, value, path, 'a list');
    for (const [at, item] of value.entries()) {
      const fault = shape(item, `${path}[${at}]`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

/** An object whose values, whatever their keys, have one shape. */
export function mapOf(shape: Shape): Shape {
  return (value, path) => {
    if (!isObject(value)) return must(false, value, path, 'an object');
    for (const each of Object.values(value)) {
      const fault = shape(each, `a value of ${path}`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

export function record(fields: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(fields);
  return (value, path) => {
    if (!isObject(value)) return must(false, value, path, 'an object');
    for (const [key, shape] of entries) {
      const fault = shape(value[key], `${path}.${key}`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

/** The fields that go with a record's `kind`. */
export function byKind(kinds: Readonly<Record<string, Shape>>): Shape {
  const kindOf = oneOf(...Object.keys(kinds));
  return (value, path) => {
    if (!isObject(value)) return must(false, value, path, 'an object');
    const fault = kindOf(value['kind'], `${path}.kind`);
    return fault ?? kinds[String(value['kind'])]?.(value, path) ?? null;
  };
}

function must(holds: boolean, value: unknown, path: string, what: string): string | null {
  if (holds) return null;
  return value === undefined ? `${path} is missing` : `${path} is not ${what}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
