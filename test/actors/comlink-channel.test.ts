import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { exposeControl, openControl } from '../../src/actors/comlink-channel.ts';

const ports: MessagePort[] = [];

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

function portPair(): { near: MessagePort; far: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  return { near: port1, far: port2 };
}

/** Posts what a peer of bad will could post, and gives what is answered to it. */
async function forge(message: Record<string, unknown>): Promise<unknown> {
  const { near, far } = portPair();
  exposeControl({ ping: () => 'pong' }, far);
  const answer = new Promise((resolve) => near.once('message', resolve));
  near.postMessage({ id: 'x', ...message });
  return answer;
}

const raw = (value: unknown) => ({ type: 'RAW', value });

test('a listed call is answered', async () => {
  const message = { type: 'APPLY', path: ['ping'], argumentList: [raw([])] };
  expect(await forge(message)).toMatchObject({ value: { type: 'returned', value: 'pong' } });
});

test.each([
  ['a constructor chain', { type: 'CONSTRUCT', path: ['constructor', 'constructor'] }],
  ['the constructor of a listed method', { type: 'CONSTRUCT', path: ['ping', 'constructor'] }],
  ['a call through a constructor', { type: 'APPLY', path: ['constructor', 'constructor'] }],
  ['a call of an inherited name', { type: 'APPLY', path: ['toString'], argumentList: [raw([])] }],
  ['a call of __proto__', { type: 'APPLY', path: ['__proto__'], argumentList: [raw([])] }],
  ['reading a listed method', { type: 'GET', path: ['ping'] }],
  ['reading everything', { type: 'GET', path: [] }],
  ['replacing a listed method', { type: 'SET', path: ['ping'], value: raw(1) }],
  ['another endpoint', { type: 'ENDPOINT' }],
  ['releasing the endpoint', { type: 'RELEASE' }],
  ['a path that is no list', { type: 'APPLY', path: 'ping', argumentList: [raw([])] }],
  ['a name that is no string', { type: 'APPLY', path: [['ping']], argumentList: [raw([])] }],
  ['arguments that are no list', { type: 'APPLY', path: ['ping'], argumentList: 'x' }],
  [
    'an argument that throws when it is unpacked',
    {
      type: 'APPLY',
      path: ['ping'],
      argumentList: [{ type: 'HANDLER', name: 'throw', value: { isError: false, value: 1 } }],
    },
  ],
  [
    'an argument of an unknown handler',
    { type: 'APPLY', path: ['ping'], argumentList: [{ type: 'HANDLER', name: 'none', value: 1 }] },
  ],
])('T4: a forged message with %s is refused before comlink sees it', async (_, message) => {
  expect(await forge(message)).toMatchObject({
    id: 'x',
    name: 'throw',
    value: { isError: true, value: { message: expect.stringContaining('refused') } },
  });
});

test.each([[null], [1], ['text'], [[]]])(
  'T4: a message that is no request (%j) is refused and ends nothing',
  async (message) => {
    const { near, far } = portPair();
    exposeControl({ ping: () => 'pong' }, far);
    const control = openControl(near);
    near.postMessage(message);
    expect(await control.call('ping', [])).toBe('pong');
  },
);

test('T3: open and later calls reject once the other side is lost, without waiting', async () => {
  const { near, far } = portPair();
  exposeControl({ hang: () => new Promise(() => undefined) }, far);
  const control = openControl(near);
  const open = control.call('hang', []);
  control.lose('the thread exited');
  control.lose('a second reason');
  const lost = { code: 'channel.lost', message: expect.stringContaining('the thread exited') };
  await expect(open).rejects.toMatchObject(lost);
  await expect(control.call('hang', [])).rejects.toMatchObject(lost);
});

test('a value that cannot be cloned rejects the call that returned it, and no other', async () => {
  const { near, far } = portPair();
  exposeControl({ bad: () => () => undefined, good: (n: number) => n + 1 }, far);
  const control = openControl(near);
  await expect(control.call('bad', [])).rejects.toMatchObject({ code: 'channel.lost' });
  expect(await control.call('good', [1])).toBe(2);
});

test('a thousand calls at once are answered each with its own result', async () => {
  const { near, far } = portPair();
  exposeControl({ good: (n: number) => n + 1 }, far);
  const control = openControl(near);
  const calls = Array.from({ length: 1000 }, (_, n) => control.call('good', [n]));
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1));
});
