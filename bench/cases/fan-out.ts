// What one child run costs, with everything on: spawned by its parent's answer, one model turn that answers at once, its
// result in the parent's history, ten journaled events. The unit P is the CPU of one empty piscina task, measured with
// the same number in flight, in the same process, between the rounds.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { Troupe } from '../../src/index.ts';
import { fanOutTurns, openHost, toolUrl } from '../support/host.ts';
import { calmest, demand, quantile, report, reportRounds } from '../support/report.ts';
import { atOnce, type OtherLoad, type Spent, spent, untilQuiet } from '../support/rounds.ts';

const SIZES = [64, 512, 1024, 4096] as const;
/** Children a measurement has at least: small fan-outs are repeated. */
const CHILDREN_MIN = 1024;
const ROUNDS = 7;
const WARM_UPS = 2;

interface Measured {
  readonly run: Spent;
  readonly task: Spent;
  readonly children: number;
}

async function fanOut(troupe: Troupe, count: number): Promise<void> {
  const run = await troupe.start({ agent: 'lead', prompt: `fan ${count};` });
  const { status, answer, error } = await run.result();
  demand(status === 'completed' && answer === 'done', `${status} ${error?.message ?? answer}`);
}

async function validate(troupe: Troupe, count: number): Promise<void> {
  const run = await troupe.start({ agent: 'lead', prompt: `fan ${count};` });
  await run.result();
  const { children } = await troupe.tree(run.id);
  const good = children.filter(({ status, turns }) => status === 'completed' && turns === 1);
  demand(good.length === count, `${good.length} of ${count} children completed`);
}

const threads = availableParallelism();
const pool = new Piscina({
  filename: toolUrl('empty'),
  minThreads: threads,
  maxThreads: threads,
});
const host = await openHost({ agents: { lead: fanOutTurns(SIZES), worker: [{ text: 'ok' }] } });

async function measure(count: number): Promise<Measured> {
  const times = Math.max(1, Math.round(CHILDREN_MIN / count));
  const repeat = async (work: () => Promise<unknown>) => {
    for (let time = 0; time < times; time += 1) await work();
  };
  const task = await spent(() =>
    repeat(() => atOnce(count, () => pool.run(null, { name: 'empty' }))),
  );
  const run = await spent(() => repeat(() => fanOut(host.troupe, count)));
  return { run, task, children: count * times };
}

for (const count of SIZES) await validate(host.troupe, count);
for (let round = 0; round < WARM_UPS; round += 1) {
  for (const count of SIZES) await measure(count);
}
const bySize = new Map<number, Measured[]>(SIZES.map((count) => [count, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  await untilQuiet();
  for (const count of SIZES) bySize.get(count)?.push(await measure(count));
}

const load = (measured: readonly Measured[]): OtherLoad[] =>
  measured.map(({ run }) => run.otherLoad);
const wallUs = new Map<number, number>();
for (const [count, all] of bySize) {
  const measured = calmest(all, load(all)).values;
  const cpuUs = quantile(
    measured.map(({ run, children }) => (run.cpuMs / children) * 1000),
    0.5,
  );
  const taskUs = quantile(
    measured.map(({ task, children }) => (task.cpuMs / children) * 1000),
    0.5,
  );
  const walls = measured.map(({ run, children }) => (run.wallMs / children) * 1000);
  wallUs.set(count, quantile(walls, 0.5));
  const inFlight = Math.min(count, 1024);
  reportRounds(
    `CPU a child run, ${count} children, ${inFlight} in flight [P]`,
    measured.map(({ run, task }) => run.cpuMs / task.cpuMs),
    {
      reach: { atMost: 2 },
      load: load(measured),
      note: `${cpuUs.toFixed(0)} µs; P = ${taskUs.toFixed(0)} µs`,
    },
  );
  reportRounds(`wall a child run, ${count} children [µs]`, walls, { load: load(measured) });
}
report({
  figure: 'wall a child run, 4096 children against 64 [times]',
  value: (wallUs.get(4096) ?? Number.NaN) / (wallUs.get(64) ?? Number.NaN),
  low: null,
  high: null,
  reach: { atMost: 1.5 },
  rounds: ROUNDS,
  otherLoad: null,
  note: 'ratio of the medians above',
});
await host.close();
await pool.destroy();
