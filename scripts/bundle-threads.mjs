// Bundles the worker-thread entries of the source tree (and of the tests), so that real threads can run it on Node 20.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** One bundle an entry, renamed into place: two test runs at once never load half a file. */
async function bundle(folder, outDir) {
  const source = join(root, folder);
  if (!existsSync(source)) return;
  const target = join(root, outDir);
  const staging = join(root, 'build', `.staging-${process.pid}`);
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(source)) {
    if (!file.endsWith('.ts')) continue;
    const name = basename(file, '.ts');
    await build({
      entry: { [name]: join(source, file) },
      outDir: staging,
      cwd: root,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      dts: false,
      clean: false,
      sourcemap: 'inline',
      config: false,
      logLevel: 'error',
      outExtensions: () => ({ js: '.js' }),
      deps: { alwaysBundle: [/^(ajv|comlink|nanoid|eventemitter3|@babel)/], onlyBundle: false },
    });
    for (const built of readdirSync(staging)) renameSync(join(staging, built), join(target, built));
  }
  rmSync(staging, { recursive: true, force: true });
}

export async function setup() {
  await bundle('src/threads', 'build/threads');
  await bundle('test/support/threads', 'build/test-threads');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
