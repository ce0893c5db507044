// The simulation over a thousand seeds: every run ends once, within its width, with one result a call.
import { spawnSync } from 'node:child_process';
import { report } from '../support/report.ts';

const SEEDS = 1000;

const args = ['scripts/sim.mjs', '--seeds', String(SEEDS)];
const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
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
