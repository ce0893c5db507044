// How long it takes to cancel a child whose tool computes for ever and never looks up: until its thread is gone and its
// end is on the disk. Its sibling computes on the other thread meanwhile and must not notice.
import type { JournalEvent } from '../../src/index.ts';
import { stepsFor } from '../support/burn.ts';
import { openHost, toolUrl } from '../support/host.ts';
import { calmest, demand, meanLoad, quantile, report } from '../support/report.ts';
import { type OtherLoad, pause, spent, untilQuiet } from '../support/rounds.ts';

const ROUNDS = 25;
const WARM_UPS = 3;

const host = await openHost({
  agents: {
    lead: [
      {
        calls: ['spinner', 'sibling'].map((agent) => ({
          tool: 'delegate',
          args: { agent_id: agent, prompt: 'go' },
        })),
      },
      { text: 'done' },
    ],
    spinner: [{ calls: [{ tool: 'spin', args: {} }] }, { text: 'ok' }],
    sibling: [{ calls: [{ tool: 'burn', args: { steps: stepsFor(400) } }] }, { text: 'ok' }],
  },
  tools: [toolUrl('burn')],
  computeThreads: 2,
});
const { troupe } = host;

async function round(): Promise<number> {
  // The thread that the round before killed is replaced by now.
  await pause(200);
  const began = performance.now();
  let started = 0;
  const see = (event: JournalEvent) => {
    const name = event.data['name'];
    if (event.type === 'tool.started' && (name === 'spin' || name === 'burn')) started += 1;
  };
  troupe.on('event', see);
  const run = await troupe.start({ agent: 'lead', prompt: 'go' });
  while (started < 2 || troupe.stats().computing < 2) {
    demand(performance.now() - began < 5000, 'the tools do not run beside each other');
    await pause(2);
  }
  troupe.off('event', see);
  await pause(30);
  const spinner = troupe.run(`${run.id}/delegate/01`);
  if (spinner === undefined) throw new Error('the spinner is not there');
  const from = performance.now();
  await spinner.cancel('measured');
  const tookMs = performance.now() - from;
  const outcome = await run.result();
  const { children } = await troupe.tree(run.id);
  demand(outcome.status === 'completed', outcome.status);
  demand(children[0]?.status === 'cancelled', 'the spinner was not cancelled');
  demand(children[1]?.status === 'completed', 'the sibling was harmed');
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
  [0.95, { atMost: 15 }],
] as const) {
  report({
    figure: `cancel of a run whose tool spins, p${q * 100} [ms]`,
    value: quantile(calm.values, q),
    low: Math.min(...calm.values),
    high: Math.max(...calm.values),
    reach,
    rounds: calm.values.length,
    otherLoad: meanLoad(calm.load),
    note: ['no sibling harmed; spread: fastest and slowest', calm.words].filter(Boolean).join('; '),
  });
}
await host.close();
