import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { closedPools } from '../support/actors-fixture.ts';

const open = closedPools();

test('control calls reach every host with arguments of its own, and transfer what they list', async () => {
  const pool = await open({ threads: 2 });
  const sums = await pool.control('add', (hostIndex) => ({ args: [hostIndex, 10] }));
  expect(sums).toEqual([10, 11]);
  const heard: Promise<unknown>[] = [];
  await pool.control('answer-on', () => {
    const { port1, port2 } = new MessageChannel();
    heard.push(
      new Promise((resolve) => {
        port1.once('message', resolve);
      }),
    );
    return { args: [port2], transfer: [port2] };
  });
  expect(await Promise.all(heard)).toEqual(['hello', 'hello']);
});

test('T3: control calls reject once the thread has exited under them, and call its successor after', async () => {
  const pool = await open();
  const hanging = pool.control('hang', () => ({ args: [] }));
  const ending = pool.control('exit-thread', () => ({ args: [7] }));
  for (const call of [hanging, ending]) {
    await expect(call).rejects.toMatchObject({
      code: 'channel.lost',
      message: expect.stringContaining('exited with code 7'),
    });
  }
  expect(await pool.control('add', () => ({ args: [1, 2] }))).toEqual([3]);
});

test('T5: control calls reject with the fault that was thrown, its code and details included', async () => {
  const pool = await open();
  await expect(pool.control('throw-fault', () => ({ args: [] }))).rejects.toMatchObject({
    code: 'model.timeout',
    retry: 'safe',
    detail: { a: 1 },
  });
});

test('T4: control calls of a name that is not listed are refused', async () => {
  const pool = await open();
  for (const name of ['constructor', 'toString', '__proto__', 'close', 'start']) {
    await expect(pool.control(name, () => ({ args: [] }))).rejects.toThrow('refused');
  }
});

test('T6: control calls refuse an AbortSignal, which would arrive dead', async () => {
  const pool = await open();
  const call = pool.control('add', () => ({ args: [new AbortController().signal] }));
  await expect(call).rejects.toMatchObject({ code: 'argument.invalid' });
});

test('control calls reject with what is wrong where an argument cannot be cloned, and work after that', async () => {
  const pool = await open();
  const call = pool.control('add', () => ({ args: [() => undefined] }));
  await expect(call).rejects.toMatchObject({ code: 'channel.lost' });
  expect(await pool.control('add', () => ({ args: [1, 2] }))).toEqual([3]);
});
