// `npm run sim -- --seeds 100000 [--first N] [--jobs 2]`: plays as many seeded worlds as wanted and judges each by every
// invariant. A seed that fails is printed with the command that plays it again, alone and exactly so; with `--show` also
// what happened in it.
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'tsdown';

/** Seeds that one process is given at a time. */
const CHUNK = 20;
/** Every so many seeds one is played twice, to see that it goes the same way. */
const TWICE_EVERY = 50;
/** Seeds that may fail before the rest is not worth while. */
const FAILURES_MAX = 20;
const PROGRESS_MS = 5000;

const root = fileURLToPath(new URL('..', import.meta.url));
const built = new URL('../build/sim/sim-seeds.js', import.meta.url);

async function bundle() {
  rmSync(new URL('.', built), { recursive: true, force: true });
  await build({
    entry: { 'sim-seeds': 'test/support/sim-seeds.ts' },
    outDir: 'build/sim',
    cwd: root,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: false,
    sourcemap: 'inline',
    config: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.js' }),
  });
}

/** In a process of its own: judges what it is given, until nothing more comes. */
async function work() {
  const { judgeSeed, judgeTwice, report, show } = await import(built.href);
  process.on('message', async ({ first, count, isShown }) => {
    const done = { seeds: count, stories: 0, events: 0, failures: [] };
    for (let seed = first; seed < first + count; seed += 1) {
      const verdict = await (seed % TWICE_EVERY === 0 ? judgeTwice : judgeSeed)(seed);
      done.stories += verdict.stories;
      done.events += verdict.events;
      if (verdict.violations.length === 0) continue;
      const story = isShown ? `\n${await show(seed)}` : '';
      done.failures.push(`${report(verdict)}${story}`);
    }
    process.send(done);
  });
  process.send(null);
}

function say(words) {
  process.stdout.write(`${words}\n`);
}

/** What is left to judge, and what came of the rest. */
function openLedger({ first, seeds, isShown }) {
  const total = { seeds: 0, stories: 0, events: 0, failures: 0 };
  const began = Date.now();
  let next = first;
  const fail = (words) => {
    total.failures += 1;
    say(words);
  };
  return {
    fail,
    /** `null` where none is left or too many seeds failed. */
    chunk() {
      const count = Math.min(CHUNK, first + seeds - next);
      if (count <= 0 || total.failures >= FAILURES_MAX) return null;
      next += count;
      return { first: next - count, count, isShown };
    },
    take(done) {
      for (const key of ['seeds', 'stories', 'events']) total[key] += done[key];
      for (const words of done.failures) fail(words);
    },
    words() {
      const secs = (Date.now() - began) / 1000;
      const rate = Math.round(total.seeds / Math.max(secs, 0.001));
      return `${total.seeds} of ${seeds} seeds, ${total.stories} stories, ${total.events} events in ${secs.toFixed(1)} s (${rate} seeds/s), ${total.failures} failed`;
    },
    isGood: () => total.failures === 0 && total.seeds === seeds,
  };
}

/** Resolves once its process has ended, with nothing left to do or before. */
function runWorker(ledger) {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(import.meta.url), ['--worker']);
    let chunk = null;
    child.on('message', (done) => {
      if (done !== null) ledger.take(done);
      chunk = ledger.chunk();
      if (chunk === null) child.disconnect();
      else child.send(chunk);
    });
    child.on('exit', (code, signal) => {
      if (chunk !== null) {
        const again = `npm run sim -- --first ${chunk.first} --seeds ${chunk.count} --jobs 1`;
        ledger.fail(`a process ended (${signal ?? code}) in one of these seeds; again: ${again}`);
      }
      resolve();
    });
  });
}

async function judgeAll(wanted) {
  const ledger = openLedger(wanted);
  const progress = setInterval(() => say(ledger.words()), PROGRESS_MS);
  await Promise.all(Array.from({ length: wanted.jobs }, () => runWorker(ledger)));
  clearInterval(progress);
  say(ledger.words());
  return ledger.isGood();
}

function wholeNumber(name, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  process.stderr.write(`--${name} must be a whole number from 1 on, found '${text}'\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    first: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    show: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
});
if (values.worker) await work();
else {
  const [first, seeds, jobs] = ['first', 'seeds', 'jobs'].map((name) =>
    wholeNumber(name, values[name]),
  );
  await bundle();
  const jobsOfUse = Math.min(jobs, Math.ceil(seeds / CHUNK));
  const isGood = await judgeAll({ first, seeds, jobs: jobsOfUse, isShown: values.show });
  process.exitCode = isGood ? 0 : 1;
}
