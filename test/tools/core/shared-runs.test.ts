import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SharedRun, sharedRuns } from '../../../src/tools/core/shared-runs.ts';
import { commonPrefixes, suffixArray } from '../../../src/tools/core/suffix-array.ts';

const smallText = fc
  .integer({ min: 1, max: 4 })
  .chain((symbols) => fc.array(fc.nat(symbols - 1), { maxLength: 80 }));

describe('suffixArray', () => {
  it('orders suffixes as comparing them one by one does', () => {
    fc.assert(
      fc.property(smallText, (symbols) => {
        const text = Int32Array.from(symbols);
        const naive = symbols.map((_, i) => i).sort((a, b) => compareSuffixes(symbols, a, b));
        expect([...suffixArray(text, 4)]).toEqual(naive);
        const shared = naive.map((start, i) =>
          i === 0 ? 0 : commonLength(symbols, naive[i - 1] ?? 0, start),
        );
        expect([...commonPrefixes(text, suffixArray(text, 4))]).toEqual(shared);
      }),
      { numRuns: 1000 },
    );
  });
});

const noise = fc.array(fc.nat(3), { maxLength: 40 });
const minTokens = 5;

describe('sharedRuns', () => {
  it('finds every planted duplicate, within a sequence and across two', () => {
    fc.assert(
      fc.property(
        fc.tuple(noise, noise, noise, noise),
        fc.integer({ min: minTokens, max: 30 }),
        fc.boolean(),
        ([a, b, c, d], length, together) => {
          const planted = Array.from({ length }, (_, i) => 100 + i);
          const first = [...a, ...planted, ...b];
          const second = [...c, ...planted, ...d];
          const sequences = together ? [[...first, ...second]] : [first, second];
          const places = together
            ? [place(0, a.length), place(0, first.length + c.length)]
            : [place(0, a.length), place(1, c.length)];
          const { runs, complete } = sharedRuns(sequences.map(toTokens), minTokens);
          expect(complete).toBe(true);
          expect(runs.some((run) => places.every((at) => holds(run, at, length)))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('reports only runs that are equal, long enough, apart from themselves and as long as can be', () => {
    fc.assert(
      fc.property(fc.array(smallText, { maxLength: 4 }), (sequences) => {
        const { runs } = sharedRuns(sequences.map(toTokens), minTokens);
        for (const run of runs) expectSound(run, sequences);
        const saved = runs.map((run) => run.tokens * (run.places.length - 1));
        expect(saved).toEqual([...saved].sort((a, b) => b - a));
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves no duplicate of untouched tokens behind, short periods apart', () => {
    fc.assert(
      fc.property(fc.array(smallText, { maxLength: 4 }), (sequences) => {
        const { runs, coveredTokens } = sharedRuns(sequences.map(toTokens), minTokens);
        const covered = coverage(sequences, runs);
        expect(coveredTokens).toBe(covered.flat().filter(Boolean).length);
        expect(missedPair(sequences, covered)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the same answer twice', () => {
    fc.assert(
      fc.property(fc.array(smallText, { maxLength: 4 }), (sequences) => {
        const tokens = sequences.map(toTokens);
        expect(sharedRuns(tokens, minTokens)).toEqual(sharedRuns(tokens, minTokens));
      }),
    );
  });
});

describe('sharedRuns of a text', () => {
  it('lists a third place of a part of a longer run', () => {
    const long = Array.from({ length: 40 }, (_, i) => 10 + i);
    const part = long.slice(10, 30);
    const { runs } = sharedRuns(
      [
        [...long, 1],
        [2, ...long],
        [3, ...part, 4],
      ].map(toTokens),
      10,
    );
    expect(runs).toEqual([
      { tokens: 40, places: [place(0, 0), place(1, 1)] },
      { tokens: 20, places: [place(0, 10), place(1, 11), place(2, 1)] },
    ]);
  });

  it('takes a table of like tokens as one place and two copies of a table as two', () => {
    const table = Array.from({ length: 1000 }, (_, i) => i % 2);
    expect(sharedRuns([toTokens(table)], 20).runs).toEqual([]);
    expect(sharedRuns([table, [7, ...table, 8]].map(toTokens), 20).runs).toEqual([
      { tokens: 1000, places: [place(0, 0), place(1, 1)] },
    ]);
  });

  it('widens a run to the left into the table that it begins in', () => {
    const tail = Array.from({ length: 20 }, (_, i) => 50 + i);
    const long = [...Array.from({ length: 500 }, () => 1), ...tail];
    const short = [...Array.from({ length: 300 }, () => 1), ...tail];
    expect(sharedRuns([long, short].map(toTokens), 30).runs[0]).toEqual({
      tokens: 320,
      places: [place(0, 200), place(1, 0)],
    });
  });

  it('finishes texts that are made to be slow', () => {
    const size = 300_000;
    const texts = [
      new Int32Array(size),
      Int32Array.from({ length: size }, (_, i) => (i % 61 === 0 ? 1 : 0)),
      Int32Array.from({ length: size }, (_, i) => (Math.trunc(i / 5000) % 2) * ((i * i) % 7)),
    ];
    for (const text of texts) expect(sharedRuns([text, text], 60).complete).toBe(true);
  });

  it('has nothing to say about nothing', () => {
    expect(sharedRuns([], 20)).toEqual({ runs: [], coveredTokens: 0, complete: true });
    expect(sharedRuns([new Int32Array(0)], 20).runs).toEqual([]);
  });
});

function toTokens(symbols: readonly number[]): Int32Array {
  return Int32Array.from(symbols);
}

function place(sequence: number, offset: number) {
  return { sequence, offset };
}

function holds(run: SharedRun, at: { sequence: number; offset: number }, length: number): boolean {
  return run.places.some(
    (p) =>
      p.sequence === at.sequence &&
      p.offset <= at.offset &&
      p.offset + run.tokens >= at.offset + length,
  );
}

function commonLength(text: readonly number[], a: number, b: number): number {
  let length = 0;
  while (a + length < text.length && b + length < text.length) {
    if (text[a + length] !== text[b + length]) break;
    length += 1;
  }
  return length;
}

function compareSuffixes(text: readonly number[], a: number, b: number): number {
  const shared = commonLength(text, a, b);
  return (text[a + shared] ?? -1) - (text[b + shared] ?? -1);
}

function expectSound(run: SharedRun, sequences: readonly (readonly number[])[]): void {
  expect(run.tokens).toBeGreaterThanOrEqual(minTokens);
  expect(run.places.length).toBeGreaterThan(1);
  const texts = run.places.map((p) =>
    (sequences[p.sequence] ?? []).slice(p.offset, p.offset + run.tokens),
  );
  for (const text of texts) expect(text).toEqual(texts[0]);
  expect(texts[0]).toHaveLength(run.tokens);
  let room = Number.POSITIVE_INFINITY;
  run.places.forEach((p, i) => {
    const next = run.places[i + 1];
    if (next === undefined || next.sequence !== p.sequence) return;
    room = Math.min(room, next.offset - p.offset - run.tokens);
  });
  expect(room).toBeGreaterThanOrEqual(0);
  if (room === 0) return;
  for (const distance of [-1, run.tokens]) {
    const around = run.places.map((p) => sequences[p.sequence]?.[p.offset + distance]);
    const first = around[0];
    expect(first !== undefined && around.every((symbol) => symbol === first)).toBe(false);
  }
}

function coverage(sequences: readonly (readonly number[])[], runs: readonly SharedRun[]) {
  const covered = sequences.map((sequence) => sequence.map(() => false));
  for (const run of runs) {
    for (const p of run.places) {
      covered[p.sequence]?.fill(true, p.offset, p.offset + run.tokens);
    }
  }
  return covered;
}

/** Two equal windows, apart from each other, wholly outside every run, and neither in a stretch of short period. */
function missedPair(
  sequences: readonly (readonly number[])[],
  covered: readonly (readonly boolean[])[],
): string | undefined {
  const seen = new Map<string, { sequence: number; offset: number }>();
  for (const { sequence, offset, key } of openWindows(sequences, covered)) {
    const other = seen.get(key);
    if (other === undefined) seen.set(key, place(sequence, offset));
    else if (other.sequence !== sequence || offset - other.offset >= minTokens) {
      return `${key} at ${JSON.stringify(other)} and ${sequence}:${offset}`;
    }
  }
  return undefined;
}

function* openWindows(
  sequences: readonly (readonly number[])[],
  covered: readonly (readonly boolean[])[],
) {
  for (const [sequence, symbols] of sequences.entries()) {
    for (let offset = 0; offset + minTokens <= symbols.length; offset += 1) {
      const key = window(symbols, offset);
      if (covered[sequence]?.slice(offset, offset + minTokens).some(Boolean)) continue;
      if (!repeatsNearby(symbols, offset, key)) yield { sequence, offset, key };
    }
  }
}

function window(symbols: readonly number[], offset: number): string {
  return symbols.slice(offset, offset + minTokens).join(' ');
}

function repeatsNearby(symbols: readonly number[], offset: number, key: string): boolean {
  for (let d = 1; d < minTokens; d += 1) {
    if (window(symbols, offset - d) === key && offset >= d) return true;
    if (window(symbols, offset + d) === key) return true;
  }
  return false;
}
