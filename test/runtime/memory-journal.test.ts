import { expect, test } from 'vitest';
import { createMemoryJournal } from '../../src/runtime/memory-journal.ts';
import { journalContract } from '../contract/journal.contract.ts';
import { newEvents, seqsOf } from '../support/journal-fixture.ts';

journalContract('memory', {
  open: async () => createMemoryJournal(),
  openFailing: async () => {
    const journal = createMemoryJournal();
    await journal.append(newEvents('run_a', 5)).durable;
    journal.hold();
    const { append } = journal;
    return {
      ...journal,
      get lastSeq() {
        return journal.lastSeq;
      },
      append: (events) => {
        const appended = append(events);
        queueMicrotask(() => journal.fail('the disk that holds it is full'));
        return appended;
      },
    };
  },
});

test('J4: while commits are held nothing is durable or announced, and release lets it through in order', async () => {
  const journal = createMemoryJournal();
  const order: string[] = [];
  journal.subscribe((events) => order.push(`heard ${seqsOf(events)}`));
  journal.hold();
  const durable = [1, 2].map(async (n) => {
    await journal.append(newEvents('run_a', 1, n)).durable;
    order.push(`durable ${n}`);
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([order, journal.lastSeq]).toEqual([[], 0]);
  order.push('release');
  journal.release();
  await Promise.all(durable);
  expect(order.slice(0, 2)).toEqual(['release', 'heard 1,2']);
});

test('a journal begun from the events of another goes on after them', async () => {
  const first = createMemoryJournal();
  await first.append(newEvents('run_a', 3)).durable;
  const second = createMemoryJournal({ events: first.committed });
  expect(second.lastSeq).toBe(3);
  await second.append(newEvents('run_a', 1, 4)).durable;
  expect(seqsOf(second.committed)).toEqual([1, 2, 3, 4]);
  expect(first.committed).toHaveLength(3);
});
