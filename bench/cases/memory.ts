// Resident memory of one waiting run, on all threads together: its supervisor, its actor, its conversation and timer on
// the model thread. The number of runs is the argument; each is a root that waits for its first answer.
import { openHost } from '../support/host.ts';
import { demand, report } from '../support/report.ts';
import { pause } from '../support/rounds.ts';

const count = Number(process.argv[2]);
const reachKb = Number(process.argv[3]);
const WARM_UPS = 500;

const host = await openHost({
  agents: { worker: [{ text: 'ok', wait_ms: 3_600_000 }] },
});
const { troupe } = host;

async function startMany(many: number): Promise<void> {
  for (let index = 0; index < many; index += 1) {
    await troupe.start({ agent: 'worker', prompt: 'go' });
    if (index % 500 === 499) await troupe.journal.flush();
  }
  await troupe.journal.flush();
}

/** After what was left to collect is collected. Threads collect by themselves once they are idle. */
async function rssBytes(): Promise<number> {
  for (let time = 0; time < 5; time += 1) {
    await pause(400);
    globalThis.gc?.();
  }
  return process.memoryUsage().rss;
}

await startMany(WARM_UPS);
const before = await rssBytes();
await startMany(count);
const after = await rssBytes();
demand(troupe.stats().actors === count + WARM_UPS, `${troupe.stats().actors} actors wait`);
report({
  figure: `resident memory a waiting run, ${count} of them [KB]`,
  value: (after - before) / count / 1000,
  low: null,
  high: null,
  reach: { atMost: reachKb },
  rounds: 1,
  otherLoad: null,
  note: `process ${(before / 1e6).toFixed(0)} MB before, ${(after / 1e6).toFixed(0)} MB after; main heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`,
});
host.abandon();
