import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { canonicalJson, type JsonObject } from '../base/json.ts';
import { boundedTest, compilePattern, foreignPatternFault } from './bounded-regex.ts';

/** Largest schema that is compiled, in characters of canonical JSON. */
export const SCHEMA_CHARS_MAX = 262_144;

/** What is wrong with a schema, in the terms of an error message. */
export interface SchemaFault {
  /** Where: `parameters.properties.path.pattern`. */
  readonly key: string;
  readonly found: string;
  readonly expected: string;
}

export type CompiledSchema =
  | { readonly ok: true; readonly check: (args: JsonObject) => readonly ErrorObject[] }
  | { readonly ok: false; readonly fault: SchemaFault };

/** Compiled schemas are kept by content; ajv keeps every schema it compiled, so it goes with them. */
const CACHE_MAX = 256;
let cache = new Map<string, CompiledSchema>();
let ajv: Ajv | null = null;

/**
 * The schema of a tool's parameters, compiled once for each content. Foreign schemas come through here too, so it
 * takes no reference that leaves the document, no `$async`, no pattern that `foreignPatternFault` refuses, and runs
 * patterns within a time budget. `format` is an annotation and not checked; `$schema` and `$id` are ignored.
 */
export function compileSchema(parameters: JsonObject): CompiledSchema {
  const key = canonicalJson(parameters);
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= CACHE_MAX) {
    cache = new Map();
    ajv = null;
  }
  const compiled = compile(parameters, key.length);
  cache.set(key, compiled);
  return compiled;
}

function compile(parameters: JsonObject, size: number): CompiledSchema {
  if (size > SCHEMA_CHARS_MAX) {
    return refuse('parameters', `a schema of ${size} characters`, `at most ${SCHEMA_CHARS_MAX}`);
  }
  if (parameters['type'] !== 'object') {
    const found = `type ${JSON.stringify(parameters['type'] ?? null)}`;
    return refuse('parameters.type', found, 'the JSON Schema of an object, type "object"');
  }
  const fault = foreignFault(parameters, 'parameters', 0);
  if (fault !== null) return { ok: false, fault };
  try {
    const { $schema: _dialect, $id: _id, ...schema } = parameters;
    ajv ??= newAjv();
    const validate = ajv.compile(schema);
    return { ok: true, check: (args) => errorsOf(validate, args) };
  } catch (thrown) {
    return refuse('parameters', (thrown as Error).message, 'a schema that ajv compiles (draft-07)');
  }
}

interface BoundedPattern {
  test(text: string): boolean;
  toString(): string;
}

function newAjv(): Ajv {
  const regExp = (pattern: string): BoundedPattern => {
    const compiled = compilePattern(pattern);
    if (!compiled.ok) throw new Error(`pattern ${JSON.stringify(pattern)}: ${compiled.why}`);
    return {
      test(text) {
        const matches = boundedTest(compiled.regex, text);
        if (matches === null) throw new SlowPattern(pattern);
        return matches;
      },
      // ajv tells patterns apart by this text.
      toString: () => `/${pattern}/`,
    };
  };
  return new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    useDefaults: false,
    coerceTypes: false,
    addUsedSchema: false,
    validateFormats: false,
    logger: false,
    // Any other name than `new RegExp` makes ajv call this engine instead of the built-in one.
    code: { regExp: Object.assign(regExp, { code: 'boundedPattern' }) },
  });
}

/** Thrown out of a check whose pattern used up its time. */
export class SlowPattern extends Error {
  constructor(pattern: string) {
    super(`the pattern ${JSON.stringify(pattern)} takes too long on this value`);
    this.name = 'SlowPattern';
  }
}

function errorsOf(validate: ValidateFunction, args: JsonObject): readonly ErrorObject[] {
  return validate(args) ? [] : (validate.errors ?? []);
}

/** Keywords whose value is data, not a schema: a "pattern" in there is nobody's pattern. */
const DATA_KEYWORDS = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose value maps free names to schemas. */
const NAMED_SCHEMAS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
]);

function foreignFault(schema: unknown, at: string, depth: number): SchemaFault | null {
  if (typeof schema !== 'object' || schema === null) return null;
  if (depth > 64)
    return { key: at, found: 'more than 64 levels', expected: 'a schema nested less deeply' };
  for (const [key, value] of Object.entries(schema)) {
    const here = `${at}.${key}`;
    const fault = keywordFault(key, value, here) ?? deeperFault(key, value, here, depth);
    if (fault !== null) return fault;
  }
  return null;
}

function deeperFault(key: string, value: unknown, here: string, depth: number): SchemaFault | null {
  if (DATA_KEYWORDS.has(key)) return null;
  if (!NAMED_SCHEMAS.has(key) || typeof value !== 'object' || value === null) {
    return foreignFault(value, here, depth + 1);
  }
  for (const [name, schema] of Object.entries(value)) {
    const found = key === 'patternProperties' ? foreignPatternFault(name) : null;
    if (found !== null) return { key: `${here}.${name}`, found, expected: 'a short flat pattern' };
    const fault = foreignFault(schema, `${here}.${name}`, depth + 2);
    if (fault !== null) return fault;
  }
  return null;
}

function keywordFault(key: string, value: unknown, here: string): SchemaFault | null {
  if (key === '$async') {
    return {
      key: here,
      found: JSON.stringify(value),
      expected: 'a schema that is checked at once, without $async',
    };
  }
  if (key === 'pattern' && typeof value === 'string') {
    const found = foreignPatternFault(value);
    return found === null ? null : { key: here, found, expected: 'a short flat pattern' };
  }
  if (!['$ref', '$dynamicRef', '$recursiveRef'].includes(key) || typeof value !== 'string')
    return null;
  if (value.startsWith('#')) return null;
  return {
    key: here,
    found: JSON.stringify(value),
    expected: 'a reference inside the schema, "#/…"',
  };
}

function refuse(key: string, found: string, expected: string): CompiledSchema {
  return { ok: false, fault: { key, found, expected } };
}
