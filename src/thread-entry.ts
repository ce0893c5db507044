export type ThreadName = 'actor-host' | 'compute' | 'journal' | 'memory' | 'model';

const fromSource = import.meta.url.endsWith('.ts');

/**
 * The file that a thread of this kind starts from: beside the built package, or, when troupe runs from source under the
 * tests, the bundle that `scripts/bundle-threads.mjs` wrote. A worker thread cannot load TypeScript on Node 20.
 */
export function threadEntry(name: ThreadName): URL {
  return new URL(
    fromSource ? `../build/threads/${name}.js` : `./threads/${name}.js`,
    import.meta.url,
  );
}
