// Runs the benchmark: `npm run bench` for all cases, `npm run bench -- fan-out notes` for some.
import { fork } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFolder } from '../scripts/bundle-threads.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = 'build/bench';

/** In this order; each in a process of its own. `flags` are Node's. */
const CASES = [
  { name: 'start', flags: [] },
  { name: 'fan-out', flags: [] },
  { name: 'turns', flags: [] },
  { name: 'waits', flags: [] },
  { name: 'cores', flags: [] },
  { name: 'notes', flags: [] },
  { name: 'cancel', flags: [] },
  { name: 'kill', flags: [] },
  { name: 'loop', flags: [] },
  { name: 'grid', flags: [] },
  { name: 'plans', flags: [] },
  { name: 'journal', flags: [] },
  { name: 'recover', flags: [] },
  { name: 'churn', flags: ['--expose-gc'] },
  { name: 'memory', args: ['10000', '8'], flags: ['--expose-gc', '--max-old-space-size=8192'] },
  { name: 'memory', args: ['100000', '5'], flags: ['--expose-gc', '--max-old-space-size=8192'] },
  { name: 'schedules', flags: [] },
];

async function build() {
  rmSync(join(root, built), { recursive: true, force: true });
  const plain = { sourcemap: false };
  await bundleFolder('src/threads', `${built}/threads`, plain);
  await bundleFolder('bench/tools', `${built}/tools`, plain);
  await bundleFolder('bench/cases', built, plain);
}

/** @returns the case's rows, and why it failed, `null` where it did not. */
function run({ name, flags, args = [] }) {
  return new Promise((resolve) => {
    const rows = [];
    const child = fork(join(root, built, `${name}.js`), args, {
      cwd: root,
      execArgv: [...flags, ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (row) => {
      rows.push(row);
      console.log(line(row));
    });
    child.on('exit', (code, signal) => {
      resolve({ rows, failure: code === 0 ? null : `ended with ${signal ?? `code ${code}`}` });
    });
  });
}

function reached({ value, reach }) {
  if (reach === null) return null;
  if (!Number.isFinite(value)) return false;
  return value <= (reach.atMost ?? Infinity) && value >= (reach.atLeast ?? -Infinity);
}

function number(value) {
  if (value === null || !Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

function reachWords(reach) {
  if (reach === null) return '';
  return [
    reach.atMost === undefined ? '' : `<= ${reach.atMost}`,
    reach.atLeast === undefined ? '' : `>= ${reach.atLeast}`,
  ]
    .filter(Boolean)
    .join(', ');
}

const WORDS = new Map([
  [null, ''],
  [true, 'reached'],
  [false, 'MISSED'],
]);

function line(row) {
  const spread = row.low === null ? '' : `${number(row.low)}..${number(row.high)}`;
  const load = row.otherLoad === null ? '' : `${Math.round(row.otherLoad * 100)} %`;
  return [
    row.figure.padEnd(66),
    number(row.value).padStart(9),
    spread.padStart(17),
    reachWords(row.reach).padStart(10),
    (WORDS.get(reached(row)) ?? '').padEnd(8),
    String(row.rounds).padStart(5),
    load.padStart(5),
    row.note,
  ].join('  ');
}

function head() {
  const names = ['value', 'spread', 'reach', '', 'n', 'load', 'note'];
  const widths = [9, 17, 10, -8, 5, 5, 0];
  const rest = names.map((name, at) =>
    widths[at] < 0 ? name.padEnd(-widths[at]) : name.padStart(widths[at]),
  );
  return ['figure [unit]'.padEnd(66), ...rest].join('  ');
}

const asked = process.argv.slice(2);
const known = [...new Set(CASES.map(({ name }) => name))];
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown case: ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  process.exit(2);
}
await build();
const results = [];
console.log(head());
for (const each of CASES) {
  if (asked.length > 0 && !asked.includes(each.name)) continue;
  const { rows, failure } = await run(each);
  if (failure !== null) console.log(`${each.name}: FAILED, ${failure}`);
  results.push({
    case: each.name,
    failure,
    rows: rows.map((row) => ({ ...row, reached: reached(row) })),
  });
}
mkdirSync(join(root, 'bench/results'), { recursive: true });
const about = {
  at: new Date().toISOString(),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? '',
  cores: availableParallelism(),
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  loadAverage: loadavg(),
};
writeFileSync(
  join(root, 'bench/results/latest.json'),
  `${JSON.stringify({ ...about, results }, null, 2)}\n`,
);
process.exitCode = results.some(({ failure }) => failure !== null) ? 1 : 0;
