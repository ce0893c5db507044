// The README's first command: builds the package, then lets the audit example look at a folder (default: troupe's own
// source). `npm run demo -- /any/folder` audits another one.
import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = process.env.INIT_CWD ?? process.cwd();
const folder =
  process.argv[2] === undefined ? resolve(root, 'src') : resolve(from, process.argv[2]);

const built = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, encoding: 'utf8' });
if (built.status !== 0) {
  process.stderr.write(`${built.stdout}${built.stderr}\nthe build failed; run \`npm ci\` first\n`);
  process.exit(1);
}

const args = [
  'dist/cli.js',
  'run',
  'lead',
  `Audit ${folder}.`,
  '--config',
  'examples/audit/troupe.toml',
  '--workspace',
  folder,
];
const run = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
run.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
