import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { CONFIG_SCHEMA } from '../../src/runtime/config-schema.ts';

test('C1: schema/troupe.schema.json is the schema of the source (`vitest -u` on this file rewrites it)', async () => {
  const text = `${JSON.stringify(CONFIG_SCHEMA, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../schema/troupe.schema.json');
});

test('C1: the schema compiles in strict mode and every key of it is described', () => {
  new Ajv({ strict: true, allowUnionTypes: true }).compile(CONFIG_SCHEMA);
  const bare: string[] = [];
  walk(CONFIG_SCHEMA, '', bare);
  expect(bare).toEqual([]);
});

function walk(schema: unknown, at: string, bare: string[]): void {
  const { properties, additionalProperties } = schema as Record<string, unknown>;
  for (const [key, inner] of Object.entries(properties ?? {})) {
    if (typeof inner.description !== 'string') bare.push(`${at}.${key}`);
    walk(inner, `${at}.${key}`, bare);
  }
  if (typeof additionalProperties === 'object') walk(additionalProperties, `${at}.*`, bare);
}
