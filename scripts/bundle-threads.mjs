// Bundles the worker-thread entries of the source tree (and of the tests) and the command, so that real threads and
// processes can run it on Node 20.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** One bundle an entry, renamed into place: two test runs at once never load half a file. */
async function bundle(name, file, outDir, options = {}) {
  const target = join(root, outDir);
  const staging = join(root, 'build', `.staging-${process.pid}`);
  mkdirSync(target, { recursive: true });
  await build({
    entry: { [name]: join(root, file) },
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
    ...options,
  });
  for (const built of readdirSync(staging)) renameSync(join(staging, built), join(target, built));
  rmSync(staging, { recursive: true, force: true });
}

/** Every entry of a folder; `options` are tsdown's. */
export async function bundleFolder(folder, outDir, options = {}) {
  if (!existsSync(join(root, folder))) return;
  for (const file of readdirSync(join(root, folder))) {
    if (!file.endsWith('.ts')) continue;
    await bundle(basename(file, '.ts'), join(folder, file), outDir, options);
  }
}

export async function setup() {
  await bundleFolder('src/threads', 'build/threads');
  await bundleFolder('test/support/threads', 'build/test-threads');
  await bundle('cli', 'src/cli/main.ts', 'build');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
