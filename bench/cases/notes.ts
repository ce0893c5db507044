// How soon a note is with eight running children while every compute thread and every core is busy: until `note` has
// returned, by when it is in every mailbox, and until the child's own `run.user_note` is on the disk.
import { availableParallelism } from 'node:os';
import type { JournalEvent } from '../../src/index.ts';
import { stepsFor } from '../support/burn.ts';
import { openHost, toolUrl } from '../support/host.ts';
import { calmest, demand, meanLoad, quantile, report } from '../support/report.ts';
import { type OtherLoad, pause, spent, untilQuiet } from '../support/rounds.ts';

const CHILDREN = 8;
const NOTES = 100;
const ROUNDS = 8;
const EVERY_MS = 25;
const BLOCK_MS = 200;

const host = await openHost({
  agents: {
    lead: [
      {
        calls: [
          {
            tool: 'delegate',
            each: `{{ (1..${CHILDREN}) }}`,
            args: { agent_id: 'worker', prompt: 'go' },
          },
        ],
      },
      { text: 'done' },
    ],
    worker: [{ calls: [{ tool: 'burn', args: { steps: stepsFor(BLOCK_MS) } }], repeat: true }],
  },
  tools: [toolUrl('burn')],
  computeThreads: availableParallelism(),
});
const { troupe } = host;

async function round(): Promise<{ arrivalMs: number[]; journaledMs: number[] }> {
  const sentAt = new Map<string, number>();
  const arrivalMs: number[] = [];
  const journaledMs: number[] = [];
  let burning = 0;
  const run = await troupe.start({ agent: 'lead', prompt: 'go' });
  const see = (event: JournalEvent) => {
    if (event.type === 'tool.started' && event.data['name'] === 'burn') burning += 1;
    if (event.type !== 'run.user_note' || event.run_id === run.id) return;
    const from = sentAt.get(String(event.data['text']));
    if (from !== undefined) journaledMs.push(performance.now() - from);
  };
  troupe.on('event', see);
  while (burning < CHILDREN) await pause(5);
  for (let index = 0; index < NOTES; index += 1) {
    await pause(EVERY_MS);
    demand(troupe.stats().computing === availableParallelism(), 'a compute thread is idle');
    const text = `note ${index}`;
    const from = performance.now();
    sentAt.set(text, from);
    const note = await run.note(text);
    arrivalMs.push(performance.now() - from);
    note.receipts.catch(() => undefined);
  }
  await troupe.journal.flush();
  troupe.off('event', see);
  await run.cancel('measured');
  demand(journaledMs.length === NOTES * CHILDREN, `${journaledMs.length} notes arrived`);
  return { arrivalMs, journaledMs };
}

const load: OtherLoad[] = [];
const rounds: { arrivalMs: number[]; journaledMs: number[] }[] = [];
for (let index = 0; index < ROUNDS; index += 1) {
  await untilQuiet();
  const whole = await spent(async () => {
    rounds.push(await round());
  });
  load.push(whole.otherLoad);
}

function row(what: 'arrivalMs' | 'journaledMs', q: number, atMost: number | null): void {
  const calm = calmest(rounds, load);
  const all = calm.values.flatMap((each) => each[what]);
  const each = calm.values.map((values) => quantile(values[what], q));
  const words = what === 'arrivalMs' ? 'in every mailbox' : "journaled in a child's run";
  report({
    figure: `note to 8 children, all cores busy, ${words}, p${q * 100} [ms]`,
    value: quantile(all, q),
    low: Math.min(...each),
    high: Math.max(...each),
    reach: atMost === null ? null : { atMost },
    rounds: calm.values.length,
    otherLoad: meanLoad(calm.load),
    note: [`of ${all.length}; spread: the rounds' own`, calm.words].filter(Boolean).join('; '),
  });
}

row('arrivalMs', 0.5, 0.5);
row('arrivalMs', 0.99, 8);
row('journaledMs', 0.5, 0.5);
row('journaledMs', 0.99, 8);
await host.close();
