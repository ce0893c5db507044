import { describe, expect, test } from 'vitest';
import type { Fault } from '../../src/base/fault.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { Journal } from '../../src/runtime/journal.ts';
import { newEvent, newEvents, readAll, seqsOf, upTo } from '../support/journal-fixture.ts';

export interface JournalUnderTest {
  open(): Promise<Journal>;
  /** A journal whose next commit fails, with a few events committed already. */
  openFailing(): Promise<Journal>;
}

/** What every journal keeps, whatever it is made of. */
export function journalContract(name: string, subject: JournalUnderTest): void {
  describe(`journal contract: ${name}`, () => {
    appending(subject);
    values(subject);
    reading(subject);
    filtering(subject);
    announcing(subject);
    failing(subject);
    closing(subject);
  });
}

function appending({ open }: JournalUnderTest): void {
  test('J1: seq is given at once, from 1, in the order of appends and of the list', async () => {
    const journal = await open();
    const first = journal.append(newEvents('run_a', 2));
    const second = journal.append([newEvent('run_b', 1)]);
    expect(seqsOf(first.events)).toEqual([1, 2]);
    expect(seqsOf(second.events)).toEqual([3]);
    await second.durable;
    expect(await readAll(journal)).toEqual([...first.events, ...second.events]);
  });

  test('lastSeq moves with the commit, not with the append', async () => {
    const journal = await open();
    const { durable } = journal.append(newEvents('run_a', 3));
    expect(journal.lastSeq).toBe(0);
    await durable;
    expect(journal.lastSeq).toBe(3);
  });

  test('the appends of one tick share one promise', async () => {
    const journal = await open();
    const one = journal.append([newEvent('run_a', 1)]);
    const two = journal.append([newEvent('run_a', 2)]);
    expect(two.durable).toBe(one.durable);
    await one.durable;
  });

  test('appending nothing is durable at once and takes no place', async () => {
    const journal = await open();
    const nothing = journal.append([]);
    await nothing.durable;
    expect(nothing.events).toEqual([]);
    expect(seqsOf(journal.append([newEvent('run_a', 1)]).events)).toEqual([1]);
  });

  test('an event that cannot be recorded is named, and none of its list is taken', async () => {
    const journal = await open();
    const circle: Record<string, never> = {};
    Object.assign(circle, { sk_secret: circle });
    const lists = [
      [newEvent('run_a', 1), { ...newEvent('run_a', 2), event_id: 'run_b#2' }],
      [newEvent('run_a', 1), { ...newEvent('run_a', 2), event_id: 'run_a#0' }],
      [newEvent('run_a', 1), { ...newEvent('run_a', 2), data: circle }],
      [newEvent('run_a', 1), { ...newEvent('run_a', 2), data: [] as never }],
    ];
    for (const list of lists) {
      expect(() => journal.append(list)).toThrow(
        expect.objectContaining({
          code: 'argument.invalid',
          message: expect.not.stringMatching('sk_secret'),
        }),
      );
    }
    expect(seqsOf(journal.append([newEvent('run_a', 1)]).events)).toEqual([1]);
    await journal.flush();
    expect(await readAll(journal)).toHaveLength(1);
  });
}

function values({ open }: JournalUnderTest): void {
  test('NUL, lone surrogates, U+2028, emoji and odd keys come back as they went in', async () => {
    const journal = await open();
    const data = {
      text: 'a\u0000b \ud800 \udfff \u2028\u2029 👩‍👩‍👧 \r\n " \\ \u001f \uffff',
      'k\u0000ey': { '': [null, true, -0.5, 1e21, [], {}] },
      ['__proto__']: { polluted: true },
      constructor: 'x',
    };
    const { events } = journal.append([newEvent('run_a', 1, data)]);
    const [read] = await readAll(journal);
    expect(JSON.stringify(read)).toBe(JSON.stringify(events[0]));
    expect(Object.hasOwn(read?.data ?? {}, '__proto__')).toBe(true);
  });

  test('a record of 20 MB comes back whole', async () => {
    const journal = await open();
    const text = 'mnopqrstü€'.repeat(2_000_000);
    journal.append([newEvent('run_a', 1, { text }), newEvent('run_a', 2)]);
    const events = await readAll(journal);
    expect(events[0]?.data['text'] === text).toBe(true);
    expect(seqsOf(events)).toEqual([1, 2]);
  });

  test('50,000 events appended in one go arrive in order', async () => {
    const journal = await open();
    const heard: number[] = [];
    journal.subscribe((events) => {
      for (const { seq } of events) heard.push(seq);
    });
    await journal.append(newEvents('run_a', 50_000)).durable;
    expect(heard).toEqual(upTo(50_000));
    const read = await readAll(journal);
    expect(read.map((event) => event.data['n'])).toEqual(upTo(50_000));
  });

  test('what is changed in an appended object afterwards does not change the record', async () => {
    const journal = await open();
    const data = { text: 'before' };
    journal.append([newEvent('run_a', 1, data)]);
    data.text = 'after';
    const [read] = await readAll(journal);
    expect(read?.data).toEqual({ text: 'before' });
  });
}

function reading({ open }: JournalUnderTest): void {
  test('a read sees what was appended before it began, and nothing later', async () => {
    const journal = await open();
    journal.append(newEvents('run_a', 300));
    const read: number[] = [];
    for await (const { seq } of journal.read()) {
      if (seq === 1) await journal.append(newEvents('run_b', 5)).durable;
      read.push(seq);
    }
    expect(read).toEqual(upTo(300));
    expect(await readAll(journal)).toHaveLength(305);
  });

  test('appends of many runs, interleaved over many ticks, keep one order for all', async () => {
    const journal = await open();
    const given: JournalEvent[] = [];
    const writer = async (run: number): Promise<void> => {
      for (let n = 1; n <= 40; n += 2) {
        given.push(...journal.append(newEvents(`run_${run}`, 2, n)).events);
        if ((n + run) % 3 === 0) await journal.flush();
        else await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(upTo(25).map(writer));
    await journal.flush();
    expect(seqsOf(given)).toEqual(upTo(1000));
    expect(await readAll(journal)).toEqual(given);
    const ofOne = await readAll(journal, { runId: 'run_7' });
    expect(ofOne.map((event) => event.event_id)).toEqual(upTo(40).map((n) => `run_7#${n}`));
  });
}

function filtering({ open }: JournalUnderTest): void {
  test('a filter picks by run, subtree, type, position and number, all at once', async () => {
    const journal = await open();
    journal.append([
      newEvent('run_a', 1, {}, 'run.started'),
      newEvent('run_a/delegate/01', 1, {}, 'run.started'),
      newEvent('run_a-b', 1, {}, 'run.started'),
      newEvent('run_a0', 1, {}, 'run.started'),
      newEvent('run_a/delegate/01/plan/01-x', 1, {}, 'run.started'),
      newEvent('run_a', 2, {}, 'tool.started'),
      newEvent('run_a/delegate/01', 2, {}, 'run.completed'),
      newEvent('run_a', 3, {}, 'run.completed'),
    ]);
    const pick = async (filter: Parameters<Journal['read']>[0]) =>
      seqsOf(await readAll(journal, filter));
    expect(await pick({ runId: 'run_a' })).toEqual([1, 6, 8]);
    expect(await pick({ subtreeOf: 'run_a' })).toEqual([1, 2, 5, 6, 7, 8]);
    expect(await pick({ subtreeOf: 'run_a/delegate/01' })).toEqual([2, 5, 7]);
    expect(await pick({ types: ['run.completed'] })).toEqual([7, 8]);
    expect(await pick({ types: ['run.completed', 'tool.started'] })).toEqual([6, 7, 8]);
    expect(await pick({ types: [] })).toEqual([]);
    expect(await pick({ afterSeq: 6 })).toEqual([7, 8]);
    expect(await pick({ afterSeq: 100 })).toEqual([]);
    expect(await pick({ limit: 2 })).toEqual([1, 2]);
    expect(await pick({ limit: 0 })).toEqual([]);
    expect(await pick({ runId: 'run_a', subtreeOf: 'run_a/delegate/01' })).toEqual([]);
    expect(await pick({ runId: 'run_a/delegate/01', subtreeOf: 'run_a' })).toEqual([2, 7]);
    expect(
      await pick({ subtreeOf: 'run_a', types: ['run.started'], afterSeq: 1, limit: 1 }),
    ).toEqual([2]);
    expect(await pick({ runId: "run_'; DROP TABLE events; --" })).toEqual([]);
  });

  test('a filter with thousands of matches spread over the journal misses none', async () => {
    const journal = await open();
    for (let n = 1; n <= 3000; n += 1) {
      journal.append([
        newEvent('run_a', n, {}, n % 10 === 0 ? 'run.user_note' : 'turn.started'),
        newEvent('run_b', n, {}, n % 10 === 0 ? 'tool.failed' : 'turn.started'),
      ]);
    }
    expect(await readAll(journal, { types: ['run.user_note'] })).toHaveLength(300);
    expect(await readAll(journal, { types: ['tool.failed'] })).toHaveLength(300);
    const ofOne = await readAll(journal, { runId: 'run_a' });
    expect(seqsOf(ofOne)).toEqual(upTo(3000).map((n) => 2 * n - 1));
  });
}

function announcing({ open }: JournalUnderTest): void {
  test('J4: a listener hears a batch after its commit: lastSeq is there, and a read finds it', async () => {
    const journal = await open();
    const heard: (readonly number[])[] = [];
    let readBack: Promise<JournalEvent[]> | undefined;
    journal.subscribe((events) => {
      heard.push(seqsOf(events));
      expect(journal.lastSeq).toBe(events.at(-1)?.seq);
      readBack ??= readAll(journal);
    });
    journal.append(newEvents('run_a', 2));
    expect(heard).toEqual([]);
    await journal.flush();
    await journal.append(newEvents('run_a', 2, 3)).durable;
    expect(heard.flat()).toEqual([1, 2, 3, 4]);
    expect((await readBack)?.length).toBeGreaterThanOrEqual(2);
  });

  test('one that unsubscribed hears nothing more, one that came later nothing earlier', async () => {
    const journal = await open();
    const early: number[] = [];
    const late: number[] = [];
    const stop = journal.subscribe((events) => {
      early.push(...seqsOf(events));
      stop();
      stop();
      journal.subscribe((later) => late.push(...seqsOf(later)));
    });
    await journal.append([newEvent('run_a', 1)]).durable;
    await journal.append([newEvent('run_a', 2)]).durable;
    expect([early, late]).toEqual([[1], [2]]);
  });

  test('the same function subscribed twice is two listeners', async () => {
    const journal = await open();
    const heard: number[] = [];
    const listener = (events: readonly JournalEvent[]) => void heard.push(...seqsOf(events));
    const stop = journal.subscribe(listener);
    journal.subscribe(listener);
    stop();
    await journal.append([newEvent('run_a', 1)]).durable;
    expect(heard).toEqual([1]);
  });
}

function failing({ openFailing }: JournalUnderTest): void {
  test('after a failed commit every append rejects with one fault, said once', async () => {
    const journal = await openFailing();
    const kept = await readAll(journal);
    const said: Fault[] = [];
    const announced: number[] = [];
    journal.onFailure((fault) => said.push(fault));
    journal.subscribe((events) => announced.push(...seqsOf(events)));
    const text = 'x'.repeat(200_000);
    const first = await reasonOf(journal.append([newEvent('run_z', 1, { text })]).durable);
    expect(first).toMatchObject({ code: 'journal.unwritable' });
    expect(await reasonOf(journal.append([newEvent('run_z', 2)]).durable)).toBe(first);
    expect(await reasonOf(journal.append([]).durable)).toBe(first);
    expect(await reasonOf(journal.flush())).toBe(first);
    expect(said).toEqual([first]);
    expect(announced).toEqual([]);
    expect(kept.length).toBeGreaterThan(0);
    expect(await readAll(journal)).toEqual(kept);
    expect(journal.lastSeq).toBe(kept.length);
    const late = await new Promise((resolve) => journal.onFailure(resolve));
    expect(late).toBe(first);
    expect(await reasonOf(journal.close())).toBe(first);
    expect(said).toHaveLength(1);
  });

  test('a failure that nobody looks at is no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const journal = await openFailing();
    const failed = new Promise((resolve) => journal.onFailure(resolve));
    journal.append([newEvent('run_z', 1, { text: 'x'.repeat(200_000) })]);
    await failed;
    journal.append([newEvent('run_z', 2)]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
}

function closing({ open }: JournalUnderTest): void {
  test('close commits what was appended in the same tick', async () => {
    const journal = await open();
    const heard: number[] = [];
    journal.subscribe((events) => heard.push(...seqsOf(events)));
    const { durable } = journal.append(newEvents('run_a', 3));
    await journal.close();
    await durable;
    expect(heard).toEqual([1, 2, 3]);
  });

  test('a second close is the first one, and nothing can be appended or read after it', async () => {
    const journal = await open();
    const closed = journal.close();
    expect(journal.close()).toBe(closed);
    expect(() => journal.append([newEvent('run_a', 1)])).toThrow(
      expect.objectContaining({ code: 'journal.closed' }),
    );
    await closed;
    expect(await reasonOf(readAll(journal))).toMatchObject({ code: 'journal.closed' });
    await journal.flush();
  });

  test('a read that is under way when the journal closes ends with journal.closed', async () => {
    const journal = await open();
    journal.append(newEvents('run_a', 1000));
    const read = async (): Promise<void> => {
      for await (const { seq } of journal.read()) if (seq === 1) await journal.close();
    };
    expect(await reasonOf(read())).toMatchObject({ code: 'journal.closed' });
  });
}

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'it did not reject',
    (reason: unknown) => reason,
  );
}
