// What 500 cycles of starting a tree of nine waiting runs and cancelling it leave behind.
import { readdirSync } from 'node:fs';
import { openHost } from '../support/host.ts';
import { demand, report } from '../support/report.ts';
import { pause } from '../support/rounds.ts';

const CYCLES = 500;
/** Until then the threads' heaps grow to what the work takes, and stay there. */
const WARM_UPS = 500;

const host = await openHost({
  agents: {
    lead: [
      {
        calls: [
          { tool: 'delegate', each: '{{ (1..8) }}', args: { agent_id: 'leaf', prompt: 'go' } },
        ],
      },
      { text: 'done' },
    ],
    leaf: [{ text: 'ok', wait_ms: 3_600_000 }],
  },
  width: 8,
});
const { troupe } = host;

async function cycle(): Promise<void> {
  const run = await troupe.start({ agent: 'lead', prompt: 'go' });
  while (troupe.stats().runs < 9) await pause(1);
  demand((await run.cancel('enough')) === 'cancelled', 'it was not cancelled');
}

function threadCount(): number {
  try {
    return readdirSync('/proc/self/task').length;
  } catch {
    return Number.NaN;
  }
}

interface Footing {
  readonly threads: number;
  readonly ports: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

async function footing(): Promise<Footing> {
  await pause(500);
  for (let time = 0; time < 4; time += 1) {
    globalThis.gc?.();
    await pause(50);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return {
    threads: threadCount(),
    ports: process.getActiveResourcesInfo().filter((what) => what === 'MessagePort').length,
    heapBytes: heapUsed,
    rssBytes: rss,
  };
}

function row(
  figure: string,
  before: number,
  after: number,
  per: number,
  atMost: number | null,
): void {
  report({
    figure,
    value: (after - before) / per,
    low: null,
    high: null,
    reach: atMost === null ? null : { atMost },
    rounds: 1,
    otherLoad: null,
    note: `${(before / per).toFixed(1)} before, ${(after / per).toFixed(1)} after`,
  });
}

for (let index = 0; index < WARM_UPS; index += 1) await cycle();
const before = await footing();
for (let index = 0; index < CYCLES; index += 1) await cycle();
const after = await footing();
const left = troupe.stats();
demand(left.runs === 0, `${left.runs} runs are left`);
demand(left.actors === 0, `${left.actors} actors are left`);
row('threads more after 500 spawn-and-cancel cycles', before.threads, after.threads, 1, 0);
row('message ports more after 500 spawn-and-cancel cycles', before.ports, after.ports, 1, 0);
row(
  "host's heap more after 500 spawn-and-cancel cycles [MB]",
  before.heapBytes,
  after.heapBytes,
  1e6,
  1,
);
row(
  'resident memory more after 500 spawn-and-cancel cycles [MB]',
  before.rssBytes,
  after.rssBytes,
  1e6,
  20,
);
await host.close();
