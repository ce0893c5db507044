// The same fan-out with children that take four turns, three of them with a call of a tool on their own thread.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { fanOutTurns, openHost, toolUrl } from '../support/host.ts';
import { demand, quantile, reportRounds } from '../support/report.ts';
import { atOnce, type Spent, spent, untilQuiet } from '../support/rounds.ts';

const COUNT = 512;
const ROUNDS = 7;
const WARM_UPS = 3;

const threads = availableParallelism();
const pool = new Piscina({ filename: toolUrl('empty'), minThreads: threads, maxThreads: threads });
const step = { calls: [{ tool: 'noop', args: {} }] };
const host = await openHost({
  agents: { lead: fanOutTurns([COUNT]), worker: [step, step, step, { text: 'ok' }] },
  tools: [toolUrl('burn')],
});

async function round(): Promise<{ run: Spent; task: Spent }> {
  const task = await spent(() => atOnce(COUNT, () => pool.run(null, { name: 'empty' })));
  let runId = '';
  const run = await spent(async () => {
    const started = await host.troupe.start({ agent: 'lead', prompt: `fan ${COUNT};` });
    runId = started.id;
    const { status, error } = await started.result();
    demand(status === 'completed', `${status} ${error?.message ?? ''}`);
  });
  const { children } = await host.troupe.tree(runId);
  const good = children.filter(({ status, turns }) => status === 'completed' && turns === 4);
  demand(good.length === COUNT, `${good.length} of ${COUNT} children took four turns`);
  return { run, task };
}

for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) await round();
const rounds: { run: Spent; task: Spent }[] = [];
for (let index = 0; index < ROUNDS; index += 1) {
  await untilQuiet();
  rounds.push(await round());
}
const cpuUs = rounds.map(({ run }) => (run.cpuMs / COUNT) * 1000);
const load = rounds.map(({ run }) => run.otherLoad);
reportRounds(
  `CPU a child run of 4 turns and 3 tool calls, ${COUNT} in flight [P]`,
  rounds.map(({ run, task }) => run.cpuMs / task.cpuMs),
  { load, note: `${quantile(cpuUs, 0.5).toFixed(0)} µs, 25 events` },
);
await host.close();
await pool.destroy();
