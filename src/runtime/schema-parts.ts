import type { Json, JsonObject } from '../base/json.ts';
import { ID_PATTERN } from './core/config.ts';

/** The longest that a timer of Node can wait (2^31 - 1 ms), in whole seconds. */
const SECS_MAX = 2_147_483;
export const ENV_NAME = '^[A-Za-z_][A-Za-z0-9_]*$';
export const PROVIDER_REF = '^[a-z][a-z-]*[.][a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$';
export const NOT_BLANK = '\\S';

/** What each pattern of the schema asks for, in words. */
export const PATTERN_WORDS: ReadonlyMap<string, string> = new Map([
  [
    ID_PATTERN.source,
    'an id (a letter or digit, then up to 63 letters, digits, dots, underscores or dashes)',
  ],
  [ENV_NAME, 'the name of an environment variable'],
  [PROVIDER_REF, 'a provider entry as "<type>.<alias>"'],
  [NOT_BLANK, 'a text that is not blank'],
]);

const withDefault = (value: Json | undefined): JsonObject =>
  value === undefined || value === null ? {} : { default: value };

export const text = (description: string): JsonObject => ({
  type: 'string',
  pattern: NOT_BLANK,
  description,
});
export const matching = (pattern: string, description: string): JsonObject => ({
  type: 'string',
  pattern,
  description,
});
export const flag = (description: string, value: boolean): JsonObject => ({
  type: 'boolean',
  default: value,
  description,
});
export const oneOf = (
  values: readonly string[],
  description: string,
  value?: string,
): JsonObject => ({
  type: 'string',
  enum: values,
  ...withDefault(value),
  description,
});
export const whole = (
  min: number,
  max: number,
  description: string,
  value?: number | null,
): JsonObject => ({
  type: 'integer',
  minimum: min,
  maximum: max,
  ...withDefault(value),
  description,
});
export const secs = (description: string, value?: number): JsonObject => ({
  type: 'number',
  exclusiveMinimum: 0,
  maximum: SECS_MAX,
  ...withDefault(value),
  description,
});
export const amount = (description: string, value?: number): JsonObject => ({
  type: 'number',
  minimum: 0,
  ...withDefault(value),
  description,
});
export const list = (items: JsonObject, description: string): JsonObject => ({
  type: 'array',
  items,
  description,
});
export const texts = (description: string): JsonObject =>
  list({ type: 'string', pattern: NOT_BLANK }, description);
export const ids = (description: string): JsonObject =>
  list({ type: 'string', pattern: ID_PATTERN.source }, description);
export const envNames = (description: string): JsonObject =>
  list({ type: 'string', pattern: ENV_NAME }, description);

export const table = (
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): JsonObject => ({
  type: 'object',
  description,
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});
export const tablesById = (description: string, entry: JsonObject): JsonObject => ({
  type: 'object',
  description,
  propertyNames: { pattern: ID_PATTERN.source },
  additionalProperties: entry,
});
