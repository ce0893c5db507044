// How much of a second core CPU-bound tools get: the same runs with two compute threads and with one, in one process, in
// turns. `Ref` is the same work on bare threads: what this machine gives just now.
import { Piscina } from 'piscina';
import { burn, stepsFor } from '../support/burn.ts';
import { type Host, openHost, toolUrl } from '../support/host.ts';
import { demand, quantile, reportRounds } from '../support/report.ts';
import { atOnce, inRounds, spent } from '../support/rounds.ts';

const ROUNDS = 7;
/** By then the threads of both sides have compiled what they run. */
const WARM_UPS = 10;

const evenSteps = stepsFor(5);
const heavySteps = stepsFor(60);
demand(burn(1) !== 0, 'burn');

const worker = (steps: number) => [{ calls: [{ tool: 'burn', args: { steps } }] }, { text: 'ok' }];
const delegation = (agent: string) => ({
  tool: 'delegate',
  args: { agent_id: agent, prompt: 'go' },
});
const calls = (count: number, agentOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => delegation(agentOf(index)));
const agents = {
  lead: [
    { when: { prompt_contains: 'even' }, calls: calls(64, () => 'five') },
    {
      when: { prompt_contains: 'skewed' },
      calls: calls(16, (index) => (index % 2 === 0 ? 'sixty' : 'nothing')),
    },
    { text: 'done' },
  ],
  five: worker(evenSteps),
  sixty: worker(heavySteps),
  nothing: worker(0),
};

const open = (computeThreads: number) =>
  openHost({ agents, computeThreads, tools: [toolUrl('burn')] });
const [one, two] = [await open(1), await open(2)];
const bare = (threads: number) =>
  new Piscina({ filename: toolUrl('burn'), minThreads: threads, maxThreads: threads });
const [bareOne, bareTwo] = [bare(1), bare(2)];

async function runs({ troupe }: Host, prompt: string): Promise<number> {
  let runId = '';
  const { wallMs } = await spent(async () => {
    const run = await troupe.start({ agent: 'lead', prompt });
    runId = run.id;
    await run.result();
  });
  const { children, status } = await troupe.tree(runId);
  demand(status === 'completed', status);
  demand(
    children.every((child) => child.status === 'completed' && child.turns === 2),
    'a child did not use its tool',
  );
  return wallMs;
}

async function tasks(pool: Piscina, steps: readonly number[]): Promise<number> {
  const work = () => atOnce(steps.length, (at) => pool.run(steps[at], { name: 'burnTask' }));
  return (await spent(work)).wallMs;
}

async function measure(prompt: string, what: string, atLeast: number, steps: readonly number[]) {
  const { values, load } = await inRounds({ warmUps: WARM_UPS, rounds: ROUNDS }, async () => ({
    speedUp: (await runs(one, prompt)) / (await runs(two, prompt)),
    ref: (await tasks(bareOne, steps)) / (await tasks(bareTwo, steps)),
  }));
  const ref = quantile(
    values.map((round) => round.ref),
    0.5,
  );
  const speedUps = values.map(({ speedUp }) => speedUp);
  reportRounds(`speed-up by a second core, ${what} [times]`, speedUps, {
    reach: { atLeast },
    load,
    note: `Ref ${ref.toFixed(2)}`,
  });
}

await measure(
  'even',
  '64 children, a 5 ms tool each',
  1.75,
  Array.from({ length: 64 }, () => evenSteps),
);
await measure(
  'skewed',
  '16 children, tools of 60 and 0 ms in turn',
  1.85,
  Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? heavySteps : 0)),
);
await one.close();
await two.close();
await bareOne.destroy();
await bareTwo.destroy();
