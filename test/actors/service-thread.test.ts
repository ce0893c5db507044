import { afterEach, expect, test } from 'vitest';
import { openChannel } from '../../src/actors/channel.ts';
import {
  openServiceThread,
  type ServiceThread,
  type ServiceThreadOptions,
} from '../../src/actors/service-thread.ts';
import { settlesTo, testThread } from '../support/actors-fixture.ts';
import type { ServiceData, ServiceDeed } from '../support/threads/actors-service.ts';

const threads: ServiceThread[] = [];

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.close()));
});

function open(data: ServiceData = {}, options: Partial<ServiceThreadOptions> = {}) {
  const entry = testThread('actors-service');
  const thread = openServiceThread({ entry, data, name: 'test service', ...options });
  threads.push(thread);
  const heard: unknown[] = [];
  let next: () => void = () => undefined;
  const channel = openChannel<unknown, ServiceDeed>(thread.port, (body) => {
    heard.push(body);
    next();
  });
  const answered = new Promise<void>((resolve) => {
    next = resolve;
  });
  return { thread, channel, heard, answered };
}

test('a service thread answers on its port, and ends as `stopped` after its last words', async () => {
  const { thread, channel, heard, answered } = open({ onClose: 'say' });
  channel.send('echo');
  await answered;
  expect(thread.threadId).toBeGreaterThan(0);
  await thread.close();
  expect(await thread.exited).toEqual({ type: 'stopped', reason: 'closed' });
  expect(heard).toEqual(['echo', 'goodbye']);
});

test('a service thread that ends has everything it posted delivered before `exited` resolves', async () => {
  const { thread, channel, heard } = open();
  channel.send('say-and-exit');
  expect(await thread.exited).toEqual({
    type: 'lost',
    detail: 'thread "test service" exited with code 3',
  });
  expect(heard).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test('a service thread that ends itself with code 0 ended as `normal`', async () => {
  const { thread, channel } = open();
  channel.send('exit');
  expect(await thread.exited).toEqual({ type: 'normal' });
});

test.each([
  [{ onStart: 'throw' }, undefined, 'cannot serve'],
  [{ onStart: 'reject' }, undefined, 'cannot serve'],
  [{}, 'throw', 'thrown by the service'],
] as const)(
  'a service thread (%o) whose code fails at %s ends as `crashed`',
  async (data, deed, why) => {
    const { thread, channel } = open(data);
    if (deed !== undefined) channel.send(deed);
    expect(await thread.exited).toMatchObject({
      type: 'crashed',
      fault: { code: 'actor.crashed', message: `thread "test service" crashed: ${why}` },
    });
  },
);

test.each([
  ['never yields', {}, 'spin'],
  ['never finishes closing', { onClose: 'never' }, 'echo'],
] as const)(
  'a service thread that %s is terminated when it does not end in time',
  async (_, data, deed) => {
    const { thread, channel } = open(data, { closeTimeoutMs: 20 });
    channel.send(deed);
    await Promise.all([thread.close(), thread.close()]);
    expect(await thread.exited).toMatchObject({
      type: 'lost',
      detail: expect.stringContaining('within 20 ms'),
    });
  },
);

test('closing a service thread twice is closing it once, and leaves no port', async () => {
  await settlesTo('MessagePort', 0);
  const { thread } = open();
  const [first, second] = [thread.close(), thread.close()];
  expect(second).toBe(first);
  await first;
  await thread.close();
  await settlesTo('MessagePort', 0);
});

test('closing a service thread that has crashed already is harmless, and its end stays what it was', async () => {
  const { thread } = open({ onStart: 'throw' });
  await thread.exited;
  await thread.close();
  expect(await thread.exited).toMatchObject({ type: 'crashed' });
});

test('the end of a service thread to whose port nobody listens is reported all the same', async () => {
  const entry = testThread('actors-service');
  const thread = openServiceThread({ entry, data: { onClose: 'say' }, name: 'unheard' });
  await thread.close();
  expect(await thread.exited).toEqual({ type: 'stopped', reason: 'closed' });
});
