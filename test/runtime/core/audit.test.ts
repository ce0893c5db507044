import { beforeAll, describe, expect, it } from 'vitest';
import { auditJournal } from '../../../src/runtime/core/audit.ts';
import { EVENT_TYPES } from '../../../src/runtime/core/event.ts';
import { faultOfData } from '../../../src/runtime/core/event-shapes.ts';
import { type GoodJournals, goodJournals } from '../../support/good-journals.ts';
import { MUTATIONS } from '../../support/journal-mutations.ts';

let good: GoodJournals;

beforeAll(async () => {
  good = await goodJournals();
}, 60_000);

describe('a sound journal', () => {
  it('gives no finding', () => {
    for (const [name, events] of Object.entries(good)) {
      expect(auditJournal(events), name).toEqual([]);
    }
  });

  it('J5: gives none but notices wherever a crash cuts it off', () => {
    for (const events of Object.values(good)) {
      for (let length = 1; length < events.length; length += 1) {
        const found = auditJournal(events.slice(0, length));
        expect(found.filter(({ severity }) => severity !== 'info')).toEqual([]);
        expect(found.map(({ code }) => code)).toContain('unfinished');
      }
    }
  });

  it('may hold several trees, one among the other', () => {
    const trees = Object.values(good).map((tree) => [...tree]);
    const woven = [];
    while (trees.some((tree) => tree.length > 0)) {
      for (const tree of trees) woven.push(...tree.splice(0, 3));
    }
    const ts = '2026-01-01T00:00:00.000Z';
    const numbered = woven.map((event, at) => ({ ...event, seq: at + 1, ts }));
    expect(auditJournal(numbered)).toEqual([]);
  });
});

describe('a changed journal', () => {
  it('is changed in more than fifty ways, no two the same', () => {
    expect(MUTATIONS.length).toBeGreaterThan(100);
    expect(new Set(MUTATIONS.map(({ what }) => what)).size).toBe(MUTATIONS.length);
  });

  it.each(MUTATIONS.map((mutation) => [mutation.what, mutation.code, mutation] as const))(
    '%s: %s',
    (_what, code, { of, change }) => {
      const events = change(good[of]);
      expect(events).not.toEqual(good[of]);
      const found = auditJournal(events);
      expect(found.map((each) => each.code)).toContain(code);
    },
  );
});

describe('the shape of an event', () => {
  it('J2: is known for every type, and names the place of a fault without its value', () => {
    for (const type of EVENT_TYPES) {
      expect(faultOfData(type, 1, [])).toBe('data is not an object');
      expect(faultOfData(type, 1, {})).toMatch(/^data\.\w+ is missing$/);
    }
    const fault = faultOfData('run.stopping', 1, { status: 'sk-secret' });
    expect(fault).toMatch(/^data\.status is not one of cancelled, incomplete, failed$/);
  });

  it('J2: of a version that is not known is not judged', () => {
    expect(faultOfData('turn.started', 2, {})).toBeNull();
  });
});
