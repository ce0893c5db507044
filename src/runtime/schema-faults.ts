import { Ajv, type ErrorObject } from 'ajv';
import { CONFIG_SCHEMA } from './config-schema.ts';
import { type ConfigFault, configFault, describeValue, type Place } from './core/config-fault.ts';
import type { KeyPath } from './core/key-path.ts';
import { nearest } from './core/nearest.ts';
import { listOf, type RawTable, tableOf, textOf } from './raw-config.ts';
import { PATTERN_WORDS } from './schema-parts.ts';

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, verbose: true });
const validate = ajv.compile(CONFIG_SCHEMA);

/** What the one schema has against a configuration: every fault, one a key, in words (SPEC C1). */
export function schemaFaults(
  raw: RawTable,
  where: (path: KeyPath) => Place,
): readonly ConfigFault[] {
  if (validate(raw)) return [];
  const faults = new Map<string, ConfigFault>();
  for (const error of validate.errors ?? []) {
    // The refusal of a name comes twice: for the name, and for what its pattern says of it.
    if (error.propertyName !== undefined && error.keyword !== 'propertyNames') continue;
    const fault = wordError(error, pathOf(raw, error.instancePath), where);
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  }
  return [...faults.values()];
}

/** The keywords of the schema that faults are worded from. */
interface SchemaPart {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly pattern?: unknown;
  readonly properties?: unknown;
  readonly propertyNames?: unknown;
  readonly minItems?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly exclusiveMinimum?: unknown;
}

interface ErrorParams {
  readonly additionalProperty?: unknown;
  readonly propertyName?: unknown;
  readonly missingProperty?: unknown;
}

function wordError(error: ErrorObject, at: KeyPath, where: (path: KeyPath) => Place): ConfigFault {
  const params: ErrorParams = error.params;
  const parent: SchemaPart = tableOf(error.parentSchema);
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params.additionalProperty);
      const path = [...at, key];
      return configFault(
        where(path),
        path,
        unknownKeyWords(key, Object.keys(tableOf(parent.properties))),
      );
    }
    case 'propertyNames': {
      const key = String(params.propertyName);
      const path = [...at, key];
      const expected = schemaWords(tableOf(parent.propertyNames));
      return configFault(where(path), path, { found: describeValue(key), expected });
    }
    case 'required': {
      const key = String(params.missingProperty);
      const path = [...at, key];
      const expected = schemaWords(tableOf(tableOf(parent.properties)[key]));
      return configFault(where(path), path, { found: 'nothing', expected });
    }
    default:
      return configFault(where(at), at, {
        found: describeValue(error.data, at),
        expected: schemaWords(parent),
        ...enumHint(error.data, parent),
      });
  }
}

function unknownKeyWords(key: string, known: readonly string[]) {
  const close = nearest(key, known);
  return {
    found: 'an unknown key',
    expected: `one of ${known.join(', ')}`,
    ...(close === null ? {} : { hint: `did you mean \`${close}\`?` }),
  };
}

function enumHint(value: unknown, schema: SchemaPart): { readonly hint?: string } {
  const allowed = listOf(schema.enum).map(String);
  const close = typeof value === 'string' && allowed.length > 0 ? nearest(value, allowed) : null;
  return close === null ? {} : { hint: `did you mean "${close}"?` };
}

/** What a part of the schema allows, in words. */
function schemaWords(schema: SchemaPart): string {
  const values = listOf(schema.enum);
  if (values.length > 0) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  const pattern = textOf(schema.pattern);
  if (pattern !== null) return PATTERN_WORDS.get(pattern) ?? `a text that matches ${pattern}`;
  if (Array.isArray(schema.type)) return 'a text or a table';
  switch (schema.type) {
    case 'string':
      return 'a text';
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number':
      return numberWords(schema);
    case 'array':
      return schema.minItems === undefined ? 'a list' : 'a list with at least one entry';
    default:
      return 'a table';
  }
}

function numberWords(schema: SchemaPart): string {
  const noun = schema.type === 'integer' ? 'a whole number' : 'a number';
  const { minimum, maximum, exclusiveMinimum } = schema;
  const below = maximum === undefined ? '' : ` and at most ${String(maximum)}`;
  if (exclusiveMinimum !== undefined) return `${noun} above ${String(exclusiveMinimum)}${below}`;
  return `${noun} of at least ${String(minimum)}${below}`;
}

/** A JSON pointer as a key path: a number is an index only where a list stands. */
function pathOf(raw: unknown, pointer: string): KeyPath {
  const path: (string | number)[] = [];
  let value = raw;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const isIndex = Array.isArray(value);
    path.push(isIndex ? Number(key) : key);
    value = isIndex ? listOf(value)[Number(key)] : tableOf(value)[key];
  }
  return path;
}
