// How long the host's event loop is blocked at a time while one run fans out to 4096 children.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fanOutTurns, openHost } from '../support/host.ts';
import { demand, quantile, reportRounds } from '../support/report.ts';
import { inRounds } from '../support/rounds.ts';

const CHILDREN = 4096;
const ROUNDS = 7;
const WARM_UPS = 2;

const host = await openHost({
  agents: { lead: fanOutTurns([CHILDREN]), worker: [{ text: 'ok' }] },
});
const { values, load } = await inRounds({ warmUps: WARM_UPS, rounds: ROUNDS }, async () => {
  const probe = monitorEventLoopDelay({ resolution: 1 });
  probe.enable();
  const run = await host.troupe.start({ agent: 'lead', prompt: `fan ${CHILDREN};` });
  const { status } = await run.result();
  probe.disable();
  demand(status === 'completed', status);
  return { longestMs: probe.max / 1e6, p99Ms: probe.percentile(99) / 1e6 };
});
const longest = values.map(({ longestMs }) => longestMs);
const p99 = values.map(({ p99Ms }) => p99Ms);
reportRounds("longest block of the host's event loop, fan-out of 4096 [ms]", longest, {
  reach: { atMost: 20 },
  load,
  note: `p99 of a round ${quantile(p99, 0.5).toFixed(1)} ms; includes what other processes took`,
});
await host.close();
