import { expandBraces } from './braces.ts';

/** Endings of the names of files that the parser reads. */
export const SOURCE_ENDINGS = [
  '.ts',
  '.tsx',
  '.mts',
  '.cts',
  '.js',
  '.jsx',
  '.mjs',
  '.cjs',
] as const;

export type Endings =
  | { readonly ok: true; readonly endings: readonly string[] }
  | { readonly ok: false; readonly refused: string };

/** Endings that one pattern may stand for. */
const alternativesMax = 20;

/**
 * What file names must end with, from patterns as people write them: `ts`, `.ts`, `*.test.ts`, `*.{ts,tsx}`, each with
 * or without a leading `**` and slash. A pattern that is none of these, or whose files could not be read, is refused.
 */
export function endingsOf(patterns: readonly string[]): Endings {
  const endings: string[] = [];
  for (const pattern of patterns) {
    const all = expandBraces(pattern.replace(/^(?:\*\*\/)?\*?/, ''), alternativesMax) ?? [''];
    for (const one of all) {
      const ending = one.startsWith('.') ? one : `.${one}`;
      if (!isSourceName(ending) || !/^[.\w-]+$/.test(ending)) {
        return { ok: false, refused: pattern };
      }
      endings.push(ending);
    }
  }
  return { ok: true, endings };
}

export function isSourceName(name: string): boolean {
  return SOURCE_ENDINGS.some((ending) => name.endsWith(ending));
}
