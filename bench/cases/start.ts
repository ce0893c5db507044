// From `Troupe.open` to the first request that reaches a model server, each time in a fresh process. The server is this
// process; both read the same monotonic clock.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Troupe } from '../../src/index.ts';
import { demand, reportRounds } from '../support/report.ts';
import { inRounds } from '../support/rounds.ts';

const ROUNDS = 15;
const WARM_UPS = 2;

async function start(port: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  const config = {
    providers: {
      models: {
        'openai-compatible': { bench: { base_url: `http://127.0.0.1:${port}/v1`, model: 'm' } },
      },
    },
    agents: { lead: { model_provider: 'openai-compatible.bench' } },
  };
  const from = process.hrtime.bigint();
  const troupe = await Troupe.open({ config, stateDir: join(dir, 'state') });
  const opened = process.hrtime.bigint();
  const run = await troupe.start({ agent: 'lead', prompt: 'go' });
  process.send?.({ from: String(from), opened: String(opened) });
  const { status } = await run.result();
  await troupe.close();
  rmSync(dir, { recursive: true, force: true });
  demand(status === 'failed', status);
}

async function measure(): Promise<void> {
  let arrived = 0n;
  const server = createServer((request, response) => {
    if (arrived === 0n) arrived = process.hrtime.bigint();
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"no model here"}}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const round = async () => {
    arrived = 0n;
    const child = fork(fileURLToPath(import.meta.url), [String(port)]);
    const [said] = (await once(child, 'message')) as [{ from: string; opened: string }];
    const [code] = (await once(child, 'exit')) as [number];
    demand(code === 0 && arrived > 0n, `the start ended with ${code}`);
    const ms = (at: bigint) => Number(at - BigInt(said.from)) / 1e6;
    return { requestMs: ms(arrived), openMs: ms(BigInt(said.opened)) };
  };
  const { values: took } = await inRounds({ warmUps: WARM_UPS, rounds: ROUNDS }, round);
  server.close();
  reportRounds(
    'start of a host to its first model request [ms]',
    took.map(({ requestMs }) => requestMs),
    {
      reach: { atMost: 250 },
      load: [],
      note: 'openai-compatible on loopback; a fresh process each time',
    },
  );
  reportRounds(
    'of that, Troupe.open [ms]',
    took.map(({ openMs }) => openMs),
    { load: [] },
  );
}

const [port] = process.argv.slice(2);
await (port === undefined ? measure() : start(port));
