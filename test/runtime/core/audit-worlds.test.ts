import { expect, it } from 'vitest';
import { auditJournal } from '../../../src/runtime/core/audit.ts';
import { playSetting, settingOf } from '../../support/sim-play.ts';

const WORLDS = 200;

it(`gives no error and no warning to ${WORLDS} simulated worlds, be their hosts lost or not`, async () => {
  const plots = new Set<string>();
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const setting = settingOf(seed);
    plots.add(setting.plot);
    const { events } = await playSetting(setting);
    const found = auditJournal(events).filter(({ severity }) => severity !== 'info');
    expect(found, `seed ${seed}, ${setting.plot}`).toEqual([]);
  }
  expect(plots.size).toBeGreaterThan(1);
}, 240_000);
