import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../src/runtime/core/event.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const sources = filesBelow('src', /\.ts$/);
const written = [
  ...sources,
  ...filesBelow('test', /\.ts$/),
  ...filesBelow('scripts', /\.mjs$/),
  ...filesBelow('examples', /./),
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md'].map((name) => join(root, name)),
];

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n');
}

/** Where a pattern stands, as `file:line`. */
function placesOf(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    linesOf(file).flatMap((line, at) =>
      pattern.test(line) ? [`${file.slice(root.length)}:${at + 1}`] : [],
    ),
  );
}

describe('the house', () => {
  it('has no source file over 300 lines', () => {
    const long = sources.filter((file) => linesOf(file).length > 301);
    expect(long.map((file) => file.slice(root.length))).toEqual([]);
  });

  it('has no file named after nothing', () => {
    const vague = /(^|[/-])(utils?|helpers?|managers?|services?|types|misc|common)\.ts$/;
    expect(sources.filter((file) => vague.test(file))).toEqual([]);
  });

  it('leaves no open end in its own source', () => {
    const marks = ['TO', 'DO|FIX', 'ME|X', 'XX'].join('').replace('TODO', 'TODO');
    const ends = sources.filter(
      (file) => !file.includes('open-ends') && !file.includes('code-stats'),
    );
    expect(placesOf(ends, new RegExp(`// .*\\b(${marks})\\b`))).toEqual([]);
  });

  it('names no registry host and no path of a machine', () => {
    const hosts = new RegExp(['registry', 'npmjs'].join('\\.'));
    const paths = new RegExp(['', 'work', 'main'].join('/'));
    expect(placesOf(written, hosts)).toEqual([]);
    expect(placesOf(written, paths)).toEqual([]);
  });

  it('J2: every type of event of the list is known to the journal, once', () => {
    expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
  });

  it('the lock file pins no download address', () => {
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  });
});
