import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { type ChannelEvents, openChannel } from '../../src/actors/channel.ts';
import type { Fault } from '../../src/base/fault.ts';
import { activeResources, uncaughtDuring } from '../support/actors-fixture.ts';

const ports: MessagePort[] = [];

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

function portPair(): { near: MessagePort; far: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  return { near: port1, far: port2 };
}

function sender(events: ChannelEvents<unknown> = {}) {
  const { near, far } = portPair();
  return { channel: openChannel<unknown, unknown>(near, () => undefined, events), far };
}

/** The next array that arrives, as posted. */
async function nextBatch(port: MessagePort): Promise<unknown[]> {
  const [batch] = await once(port, 'message');
  return batch;
}

test('a channel carries what was sent in one turn of the loop as one array, in order', async () => {
  const { channel, far } = sender();
  for (const n of [1, 2]) channel.send(n);
  await Promise.resolve().then(() => undefined);
  channel.send(3);
  await new Promise((resolve) => setImmediate(resolve));
  channel.send(4);
  expect(await nextBatch(far)).toEqual([1, 2, 3]);
  expect(await nextBatch(far)).toEqual([4]);
});

test('a channel lets its thread take turns while much has arrived, and keeps the order', async () => {
  const { near, far } = portPair();
  const seen: (number | string)[] = [];
  const all = new Promise<void>((resolve) => {
    openChannel<number, never>(far, (n) => {
      seen.push(n);
      if (n === 0) setImmediate(() => seen.push('a turn'));
      for (const from = performance.now(); performance.now() - from < 1; );
      if (n === 29) resolve();
    });
  });
  near.postMessage(Array.from({ length: 20 }, (_, n) => n));
  near.postMessage(Array.from({ length: 10 }, (_, n) => 20 + n));
  await all;
  expect(seen.filter((each) => each !== 'a turn')).toEqual(Array.from({ length: 30 }, (_, n) => n));
  expect(seen.indexOf('a turn')).toBeLessThan(20);
});

test('a channel that is drained receives what it had put off, before what arrived after it', async () => {
  const { near, far } = portPair();
  const seen: number[] = [];
  let first: () => void = () => undefined;
  const began = new Promise<void>((resolve) => {
    first = resolve;
  });
  const channel = openChannel<number, never>(far, (n) => {
    seen.push(n);
    first();
    for (const from = performance.now(); performance.now() - from < 1; );
  });
  near.postMessage(Array.from({ length: 20 }, (_, n) => n));
  await began;
  expect(seen.length).toBeLessThan(20);
  near.postMessage([20, 21]);
  channel.drain();
  expect(seen).toEqual(Array.from({ length: 22 }, (_, n) => n));
});

test('a channel answers a handled batch as one batch', async () => {
  const { near, far } = portPair();
  const echo = openChannel<number, number>(near, (body) => echo.send(body * 10));
  far.postMessage([1, 2, 3]);
  expect(await nextBatch(far)).toEqual([10, 20, 30]);
});

test('a channel delivers the rest of a batch after a body whose receiver throws, and the throw surfaces', async () => {
  const { near, far } = portPair();
  const got: number[] = [];
  const thrown = await uncaughtDuring(() => {
    openChannel<number, never>(near, (body) => {
      if (body === 2) throw new Error('cannot take 2');
      got.push(body);
    });
    far.postMessage([1, 2, 3]);
  });
  expect(thrown).toMatchObject({ message: 'cannot take 2' });
  expect(got).toEqual([1, 3]);
});

test('a channel hands a throwing receiver to `failed` where one is given', async () => {
  const { near, far } = portPair();
  const failed = new Promise((resolve) => {
    const receive = (): void => {
      throw new Error('no');
    };
    openChannel<number, never>(near, receive, { failed: resolve });
  });
  far.postMessage([1]);
  expect(await failed).toMatchObject({ message: 'no' });
});

test('a channel tells the sender of the one body that cannot be cloned and sends the others, in order', async () => {
  const refused: { body: unknown; fault: Fault }[] = [];
  const { channel, far } = sender({
    unsent: (body, fault) => {
      refused.push({ body, fault });
      return undefined;
    },
  });
  const uncloneable = { call: () => undefined };
  for (const body of ['a', uncloneable, 'b']) channel.send(body);
  expect(await nextBatch(far)).toEqual(['a']);
  expect(await nextBatch(far)).toEqual(['b']);
  expect(refused).toEqual([{ body: uncloneable, fault: expect.anything() }]);
  expect(refused[0]?.fault).toMatchObject({ code: 'channel.lost', retry: 'never' });
  expect(refused[0]?.fault.message).toContain('could not be cloned');
});

test('a channel puts what `unsent` returns in the place of the body that cannot be cloned', async () => {
  const { channel, far } = sender({ unsent: () => 'instead' });
  for (const body of ['a', () => undefined, 'b']) channel.send(body);
  expect(await nextBatch(far)).toEqual(['a']);
  expect(await nextBatch(far)).toEqual(['instead']);
  expect(await nextBatch(far)).toEqual(['b']);
});

test('a channel moves what is in the transfer lists, also beside a body that cannot be cloned', async () => {
  const { channel, far } = sender({ unsent: () => undefined });
  const buffers = [new ArrayBuffer(8), new ArrayBuffer(16)];
  for (const buffer of buffers) channel.send(buffer, [buffer]);
  const [[first, second]] = [await nextBatch(far)];
  expect([first, second]).toMatchObject([{ byteLength: 8 }, { byteLength: 16 }]);
  expect(buffers.map((buffer) => buffer.byteLength)).toEqual([0, 0]);

  const third = new ArrayBuffer(32);
  channel.send(() => undefined);
  channel.send(third, [third]);
  expect(await nextBatch(far)).toMatchObject([{ byteLength: 32 }]);
  expect(third.byteLength).toBe(0);
});

test('a channel reads what has arrived at once when drained, and nothing twice', () => {
  const { near, far } = portPair();
  const got: number[] = [];
  const channel = openChannel<number, never>(near, (body) => got.push(body));
  far.postMessage([1, 2]);
  far.postMessage([3]);
  expect(got).toEqual([]);
  channel.drain();
  channel.drain();
  expect(got).toEqual([1, 2, 3]);
});

test('a channel posts what is queued when it closes, drops what is sent later, and may close twice', async () => {
  const { channel, far } = sender();
  channel.send('last');
  channel.close();
  channel.send('too late');
  channel.close();
  const heard: unknown[] = [];
  far.on('message', (batch) => heard.push(batch));
  await once(far, 'close');
  expect(heard).toEqual([['last']]);
});

test('a channel keeps the process alive until it is unreferenced', () => {
  const before = activeResources()['MessagePort'] ?? 0;
  const { channel } = sender();
  expect(activeResources()['MessagePort'] ?? 0).toBe(before + 1);
  channel.unref();
  expect(activeResources()['MessagePort'] ?? 0).toBe(before);
});
