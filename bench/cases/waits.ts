// What delegation adds to waiting: 64 children, eight at a time, whose model takes a millisecond a turn, against the same
// as promises on one thread. Everything is journaled, each launch after its event is on the disk.
import { fanOutTurns, openHost, toolUrl } from '../support/host.ts';
import { demand, quantile, reportRounds } from '../support/report.ts';
import { type OtherLoad, pause, spent, untilQuiet } from '../support/rounds.ts';

const CHILDREN = 64;
const WIDTH = 8;
const ROUNDS = 15;
const WARM_UPS = 5;

/** The same as plain promises: `WIDTH` of them at work, each waiting `turns` times. */
async function plain(turns: number): Promise<void> {
  let started = 0;
  const lane = async () => {
    while (started < CHILDREN) {
      started += 1;
      for (let turn = 0; turn < turns; turn += 1) await pause(1);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}

async function measure(turns: number): Promise<void> {
  const step = { calls: [{ tool: 'noop', args: {} }], wait_ms: 1 };
  const worker = [...Array.from({ length: turns - 1 }, () => step), { text: 'ok', wait_ms: 1 }];
  const host = await openHost({
    agents: { lead: fanOutTurns([CHILDREN]), worker },
    width: WIDTH,
    tools: [toolUrl('burn')],
  });
  const delegated = async () => {
    const run = await host.troupe.start({ agent: 'lead', prompt: `fan ${CHILDREN};` });
    const { status } = await run.result();
    demand(status === 'completed', status);
  };
  const ratios: number[] = [];
  const walls: number[] = [];
  const load: OtherLoad[] = [];
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    if (round >= 0) await untilQuiet();
    const base = await spent(() => plain(turns));
    const own = await spent(delegated);
    if (round < 0) continue;
    ratios.push(own.wallMs / base.wallMs);
    walls.push(own.wallMs);
    load.push(own.otherLoad);
  }
  const what = turns === 1 ? '1 wait' : `${turns} waits and ${turns - 1} tool calls`;
  reportRounds(`wall, 64 children at width 8, ${what} of 1 ms each [plain promises]`, ratios, {
    reach: { atMost: 2 },
    load,
    note: `${quantile(walls, 0.5).toFixed(1)} ms`,
  });
  await host.close();
}

await measure(1);
await measure(4);
