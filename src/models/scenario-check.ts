import { Fault } from '../base/fault.ts';
import type { Json, JsonObject } from '../base/json.ts';

export function checkKeys(
  value: JsonObject,
  allowed: readonly string[],
  path: string,
  problems: string[],
): void {
  for (const key of Object.keys(value)) {
    if (allowed.includes(key)) continue;
    const place = path === '' ? key : `${path}.${key}`;
    problems.push(`${place}: unknown key; allowed are ${allowed.join(', ')}`);
  }
}

const SHOWN_PROBLEMS = 20;

export function invalid(file: string, problems: readonly string[]): Fault {
  const shown = problems.slice(0, SHOWN_PROBLEMS);
  const more =
    problems.length > SHOWN_PROBLEMS ? `\n… and ${problems.length - SHOWN_PROBLEMS} more` : '';
  return new Fault('scenario.invalid', `scenario ${file}: ${shown.join('\n')}${more}`, {
    retry: 'never',
    detail: { file, problems: shown },
  });
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
