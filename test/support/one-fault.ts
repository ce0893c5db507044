import { expect } from 'vitest';
import { checkConfig } from '../../src/runtime/load-config.ts';
import { configFolder } from './config-folder.ts';

/** Nothing in a bad configuration may hold this word and be shown. */
const SECRET = 'hunter2';

/** The configuration has exactly one fault, at this path, whose sentence has these words; no secret is in it (SPEC C6). */
export function expectOneFault(source: object, path: string, words: string): void {
  const { faults } = checkConfig(source, { baseDir: configFolder({ 's.json': '' }) });
  const own = faults.filter((fault) => fault.path === path);
  expect(own.map((fault) => fault.message).join('\n')).toContain(words);
  expect(own).toHaveLength(1);
  expect(faults.filter((fault) => !fault.path.startsWith(path))).toEqual([]);
  expect(JSON.stringify(faults)).not.toContain(SECRET);
}
