// `npm run sim -- --seeds 100000 [--first N]`: the simulation over as many seeded schedules as wanted.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '2000' }, first: { type: 'string', default: '1' } },
});
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const done = spawnSync(process.execPath, [vitest, 'run', 'test/simulation'], {
  stdio: 'inherit',
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, SIM_SEEDS: values.seeds, SIM_FIRST: values.first },
});
process.exit(done.status ?? 1);
