import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsdown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundled = [/^(ajv|comlink|nanoid|eventemitter3|@babel)/];

export interface BuiltPackage {
  /** Address of the package's main file, as a program would import it. */
  readonly url: string;
  remove(): void;
}

/** The package as it is published, built for this test process: child processes cannot run the source tree on Node 20. */
export async function buildPackage(): Promise<BuiltPackage> {
  const outDir = join(root, 'build', `package-${process.pid}`);
  mkdirSync(outDir, { recursive: true });
  const common = {
    outDir,
    cwd: root,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: false,
    clean: false,
    config: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.js' }),
  } as const;
  await build({ ...common, entry: { index: join(root, 'src/index.ts') } });
  for (const name of ['actor-host', 'compute', 'journal', 'model']) {
    await build({
      ...common,
      entry: { [`threads/${name}`]: join(root, `src/threads/${name}.ts`) },
      deps: { alwaysBundle: bundled, onlyBundle: false },
    });
  }
  return {
    url: pathToFileURL(join(outDir, 'index.js')).href,
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}

export interface Program {
  readonly child: ChildProcess;
  /** Everything it wrote to standard output, once it has ended. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly out: string;
    readonly err: string;
  }>;
  /** Resolves once it has written `text`. */
  says(text: string): Promise<void>;
}

/** Starts a program of `test/support/programs` in `cwd`; `limits` is a line for the shell that starts it. */
export function startProgram(
  name: string,
  args: readonly string[],
  cwd: string,
  limits: string | null = null,
): Program {
  const file = join(root, 'test/support/programs', `${name}.mjs`);
  const argv = [process.execPath, file, ...args];
  const child =
    limits === null
      ? spawn(argv[0] ?? '', argv.slice(1), { cwd })
      : spawn('/bin/sh', ['-c', `${limits}; exec "$@"`, 'sh', ...argv], { cwd });
  let out = '';
  let err = '';
  let waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const { text, resolve } of waiting) if (out.includes(text)) resolve();
    waiting = waiting.filter(({ text }) => !out.includes(text));
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return {
    child,
    ended: new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, out, err }));
    }),
    says: (text) =>
      out.includes(text)
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ text, resolve });
          }),
  };
}
