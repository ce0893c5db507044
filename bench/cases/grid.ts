// Does it end? Sixteen trees, eight wide and two deep, 1168 runs, on one actor thread: every parent waits for its
// children and none of them may hold what a child needs.
import { openHost } from '../support/host.ts';
import { demand, reportRounds } from '../support/report.ts';
import { atOnce, type OtherLoad, spent, untilQuiet } from '../support/rounds.ts';

const ROOTS = 16;
const ROUNDS = 7;
const WARM_UPS = 2;

const eight = (agent: string) => [
  {
    calls: [{ tool: 'delegate', each: '{{ (1..8) }}', args: { agent_id: agent, prompt: 'go' } }],
  },
  { text: 'done' },
];
const host = await openHost({
  agents: { lead: eight('mid'), mid: eight('leaf'), leaf: [{ text: 'ok' }] },
  width: 8,
  threads: 1,
});
const { troupe } = host;
const walls: number[] = [];
const load: OtherLoad[] = [];
for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
  if (round >= 0) await untilQuiet();
  const ids: string[] = [];
  const whole = await spent(() =>
    atOnce(ROOTS, async () => {
      const run = await troupe.start({ agent: 'lead', prompt: 'go' });
      ids.push(run.id);
      return run.result();
    }),
  );
  for (const id of ids) {
    const tree = await troupe.tree(id);
    const all = [tree, ...tree.children, ...tree.children.flatMap(({ children }) => children)];
    demand(
      all.length === 73 && all.every(({ status }) => status === 'completed'),
      'a tree did not complete',
    );
  }
  if (round < 0) continue;
  walls.push(whole.wallMs);
  load.push(whole.otherLoad);
}
reportRounds('16 roots, width 8, depth 2: 1168 runs on one actor thread [ms]', walls, {
  load,
  note: 'all completed in every round',
});
await host.close();
