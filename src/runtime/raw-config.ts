/** A table of the configuration as it was read, not yet checked: everything in it may be of any type. */
export type RawTable = { readonly [key: string]: unknown };

/** The table itself, or an empty one where something else stands: the schema reports that, others look past it. */
export function tableOf(value: unknown): RawTable {
  return isTable(value) ? value : {};
}

export function isTable(value: unknown): value is RawTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function tablesOf(value: unknown): readonly (readonly [string, RawTable])[] {
  return Object.entries(tableOf(value)).map(([key, inner]) => [key, tableOf(inner)] as const);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Stands for a value that no key of the configuration takes (a TOML date), so that the schema refuses it by type. */
export const FOREIGN_VALUE = Symbol('foreign value');

const LEVELS_MAX = 32;

/** A copy that shares nothing with what was read: null-prototype tables, no `undefined`, no dates. */
export function plainCopy(value: unknown, level = 0): unknown {
  if (value instanceof Date || level > LEVELS_MAX) return FOREIGN_VALUE;
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, level + 1));
  if (!isTable(value)) return value;
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) copy[key] = plainCopy(inner, level + 1);
  }
  return copy;
}
