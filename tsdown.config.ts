import { defineConfig } from 'tsdown';

const common = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outDir: 'dist',
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
} as const;

/** Small pure-JavaScript packages that every thread needs: bundled, a thread starts in half the time. */
const bundled = [/^(ajv|comlink|nanoid|eventemitter3|@babel)/];

export default defineConfig([
  {
    ...common,
    entry: { index: 'src/index.ts', cli: 'src/cli/main.ts' },
    dts: false,
    clean: false,
  },
  {
    ...common,
    entry: { index: 'src/index.ts' },
    dts: { emitDtsOnly: true },
    clean: false,
  },
  ...['actor-host', 'compute', 'journal', 'memory', 'model'].map((name) => ({
    ...common,
    entry: { [`threads/${name}`]: `src/threads/${name}.ts` },
    dts: false,
    clean: false,
    deps: { alwaysBundle: bundled, onlyBundle: false as const },
  })),
]);
