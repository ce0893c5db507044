// The simulation over a thousand seeded worlds, each judged by every invariant: every run ends once, nothing deadlocks.
import { spawnSync } from 'node:child_process';
import { report } from '../support/report.ts';

const SEEDS = 1000;

const { status } = spawnSync(
  process.execPath,
  ['scripts/sim.mjs', '--seeds', String(SEEDS), '--first', '1'],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
report({
  figure: 'seeded schedules of the simulation without a deadlock',
  value: status === 0 ? SEEDS : 0,
  low: null,
  high: null,
  reach: { atLeast: SEEDS },
  rounds: 1,
  otherLoad: null,
  note: 'scripts/sim.mjs',
});
