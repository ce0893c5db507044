import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ModelDesk } from '../../src/models/model-desk.ts';
import { gate, type ModelServer, startModelServer } from '../support/model-server.ts';
import { EVEN, ManualClock } from './manual-clock.ts';
import { entryOf, ModelClient, user } from './model-client.ts';

const REF = 'openai-compatible.local';

let server: ModelServer;
let clock: ManualClock;
let desk: ModelDesk;
let client: ModelClient;

beforeEach(async () => {
  server = await startModelServer();
  clock = new ManualClock();
  const entry = entryOf('openai-compatible', { baseUrl: server.url });
  desk = new ModelDesk([entry], { clock, random: EVEN, env: {} });
  client = connect();
});

afterEach(async () => {
  client.close();
  await desk.close();
  await server.close();
});

function connect(): ModelClient {
  const { port1, port2 } = new MessageChannel();
  desk.attach(port2);
  return new ModelClient(port1);
}

it('a run that was closed leaves no conversation and no timer behind', async () => {
  for (let n = 0; n < 50; n += 1) {
    client.open(`run_${n}`, REF);
    await client.answer(`run_${n}`, 1, [user('hi')]);
    client.send({ kind: 'close', runId: `run_${n}` });
  }
  client.open('run_last', REF);
  await client.answer('run_last', 1, [user('hi')]);
  expect(desk.conversations).toBe(1);
  expect(clock.pending).toBe(0);
});

it('an ask that overtakes another of its run aborts it, and both are answered once', async () => {
  const shut = gate();
  server.on(async (seen) => {
    if (seen.index === 0) await shut.opened;
    return `answer ${seen.index}`;
  });
  client.open('run_1', REF);
  const first = client.fault('run_1', 1, [user('one')]);
  const seen = await server.request(0);
  const second = client.answer('run_1', 2, [user('two')]);
  expect((await first).code).toBe('model.aborted');
  expect(await seen.closed).toBe(true);
  expect((await second).text).toBe('answer 1');
  shut.open();
  const settled = client.seen.filter((body) => body.kind !== 'delta');
  expect(settled.map((body) => body.turn)).toEqual([1, 2]);
});

it('closing the desk aborts what is under way', async () => {
  server.on(() => ({ hang: true }));
  client.open('run_1', REF);
  void client.ask('run_1', 1, [user('hi')]);
  const seen = await server.request(0);
  await desk.close();
  expect(await seen.closed).toBe(true);
  expect(desk.conversations).toBe(0);
});

it('hundreds of requests at once, every third aborted, end each in its own way', async () => {
  const shut = gate();
  server.on(async (seen) => {
    await shut.opened;
    return { text: ['for ', seen.prompt] };
  });
  const runs = Array.from({ length: 300 }, (_, n) => `run_${n}`);
  const asked = runs.map((runId) => {
    client.open(runId, REF);
    return client.ask(runId, 1, [user(runId)]);
  });
  await server.request(299);
  for (const [n, runId] of runs.entries()) {
    if (n % 3 === 0) client.send({ kind: 'abort', runId, turn: 1 });
  }
  await Promise.all(asked.filter((_, n) => n % 3 === 0));
  shut.open();
  const settled = await Promise.all(asked);
  for (const [n, end] of settled.entries()) {
    if (end.ok) expect(end.answer.text).toBe(`for run_${n}`);
    else expect(end.fault.code).toBe('model.aborted');
    expect(end.ok).toBe(n % 3 !== 0);
  }
  expect(clock.pending).toBe(0);
});
