// How long a host takes that finds a thousand unfinished runs in its journal: from `Troupe.open` to the first new request
// at a model, seen by its answer, and until the last of the runs has ended. Another process made the journal and killed
// itself.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JournalEvent, Troupe } from '../../src/index.ts';
import { toolUrl } from '../support/host.ts';
import { demand, reportRounds } from '../support/report.ts';
import { atOnce, inRounds } from '../support/rounds.ts';

const RUNS = 1000;
/** Six events each; with those of the run's start and its open turn, a hundred a run. */
const TURNS = 16;
const ROUNDS = 5;
const WARM_UPS = 1;
/** Runs that are started at a time. */
const STARTED_AT_ONCE = 50;

const AN_HOUR_MS = 3_600_000;

function optionsIn(dir: string, lastTurnMs: number) {
  const step = { calls: [{ tool: 'noop', args: {} }] };
  const last = { text: 'ok', wait_ms: lastTurnMs };
  const turns = [...Array.from({ length: TURNS }, () => step), last];
  const file = join(dir, 'scenario.yaml');
  writeFileSync(file, JSON.stringify({ agents: { worker: { turns } } }));
  const config = {
    providers: { models: { scripted: { bench: { file } } } },
    agents: { worker: { model_provider: 'scripted.bench', risk_profile: 'bench' } },
    risk_profiles: { bench: { autonomy: 'full' } },
  };
  return { config, stateDir: join(dir, 'state'), tools: [toolUrl('burn')] };
}

/** Resolves with the events so far once `count` runs wait in their last turn. */
function lastTurns(troupe: Troupe, count: number): Promise<number> {
  return new Promise((resolve) => {
    let waiting = 0;
    troupe.on('event', (event: JournalEvent) => {
      if (event.type === 'model.started' && event.frame_id === `turn-${TURNS + 1}`) waiting += 1;
      if (waiting === count) resolve(event.seq);
    });
  });
}

/** In a process of its own, which does not come back. */
async function fill(dir: string): Promise<void> {
  const troupe = await Troupe.open(optionsIn(dir, AN_HOUR_MS));
  const whole = lastTurns(troupe, RUNS);
  for (let started = 0; started < RUNS; started += STARTED_AT_ONCE) {
    await atOnce(STARTED_AT_ONCE, () => troupe.start({ agent: 'worker', prompt: 'go' }));
  }
  const events = await whole;
  await troupe.journal.flush();
  process.send?.(events, () => process.kill(process.pid, 'SIGKILL'));
}

async function filled(dir: string): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url), ['fill', dir]);
  let events = 0;
  child.on('message', (count) => {
    events = Number(count);
  });
  await once(child, 'exit');
  return events;
}

/** Milliseconds from the opening to the first new answer, and to the end of the last run. */
async function recover(dir: string): Promise<{ first: number; all: number }> {
  const from = performance.now();
  const troupe = await Troupe.open(optionsIn(dir, 0));
  let first = 0;
  let ended = 0;
  const all = new Promise<number>((resolve) => {
    troupe.on('event', ({ type }: JournalEvent) => {
      if (type === 'model.completed' && first === 0) first = performance.now() - from;
      if (type === 'run.completed') ended += 1;
      if (ended === RUNS) resolve(performance.now() - from);
    });
  });
  const runs = await troupe.resume();
  demand(runs.length === RUNS, `${runs.length} runs go on`);
  const last = await all;
  await troupe.close();
  return { first, all: last };
}

async function measure(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  try {
    const source = join(dir, 'source');
    mkdirSync(source);
    const events = await filled(source);
    demand(events >= RUNS * TURNS * 6, `${events} events`);
    const { values, load } = await inRounds({ warmUps: WARM_UPS, rounds: ROUNDS }, async () => {
      const copy = join(dir, 'round');
      cpSync(source, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      const took = await recover(copy);
      rmSync(copy, { recursive: true, force: true });
      return took;
    });
    const first = values.map((round) => round.first);
    const all = values.map((round) => round.all);
    const what = `recovery of ${RUNS} unfinished runs from ${events} events`;
    reportRounds(`${what}, from the opening to the first new answer of a model [ms]`, first, {
      load,
    });
    reportRounds(`${what}, until all have ended [ms]`, all, { load });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const [, , what, dir] = process.argv;
if (what === 'fill' && dir !== undefined) await fill(dir);
else await measure();
