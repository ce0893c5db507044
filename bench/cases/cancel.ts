// How long it takes to stop a tree of 73 runs, all waiting: until every run has ended and its end is on the disk.
import type { JournalEvent } from '../../src/index.ts';
import { openHost } from '../support/host.ts';
import { calmest, demand, meanLoad, quantile, report } from '../support/report.ts';
import { type OtherLoad, pause, spent, untilQuiet } from '../support/rounds.ts';

const ROUNDS = 40;
/** By then the code of a cancel is compiled. */
const WARM_UPS = 40;
const RUNS = 73;

const eight = (agent: string) => [
  {
    calls: [{ tool: 'delegate', each: '{{ (1..8) }}', args: { agent_id: agent, prompt: 'go' } }],
  },
  { text: 'done' },
];
const host = await openHost({
  agents: { lead: eight('mid'), mid: eight('leaf'), leaf: [{ text: 'ok', wait_ms: 3_600_000 }] },
  width: 8,
});
const { troupe } = host;

async function round(): Promise<number> {
  let waiting = 0;
  const see = (event: JournalEvent) => {
    if (event.type === 'model.started' && event.run_id.split('/').length === 5) waiting += 1;
  };
  troupe.on('event', see);
  const run = await troupe.start({ agent: 'lead', prompt: 'go' });
  while (waiting < 64) await pause(2);
  await pause(20);
  demand(troupe.stats().runs === RUNS, `${troupe.stats().runs} runs wait`);
  troupe.off('event', see);
  const from = performance.now();
  await run.cancel('measured');
  const tookMs = performance.now() - from;
  const tree = await troupe.tree(run.id);
  const all = [tree, ...tree.children, ...tree.children.flatMap(({ children }) => children)];
  demand(all.length === RUNS && all.every(({ status }) => status === 'cancelled'), 'not all ended');
  demand(troupe.stats().runs === 0, 'runs are left');
  return tookMs;
}

for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) await round();
const tookMs: number[] = [];
const load: OtherLoad[] = [];
for (let index = 0; index < ROUNDS; index += 1) {
  await untilQuiet();
  const whole = await spent(async () => {
    tookMs.push(await round());
  });
  load.push(whole.otherLoad);
}
const calm = calmest(tookMs, load);
for (const [q, reach] of [
  [0.5, null],
  [0.95, { atMost: 10 }],
] as const) {
  report({
    figure: `cancel of a tree of 73 waiting runs, p${q * 100} [ms]`,
    value: quantile(calm.values, q),
    low: Math.min(...calm.values),
    high: Math.max(...calm.values),
    reach,
    rounds: calm.values.length,
    otherLoad: meanLoad(calm.load),
    note: ['spread: fastest and slowest', calm.words].filter(Boolean).join('; '),
  });
}
await host.close();
