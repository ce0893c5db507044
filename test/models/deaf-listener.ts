import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A listener whose queue is full: the kernel answers no further connection. */
export async function startDeafListener(): Promise<{ port: number; close(): Promise<void> }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
     });`,
    { eval: true },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const fillers: Socket[] = [];
  for (let n = 0; n < 4; n += 1) {
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => undefined);
    fillers.push(filler);
  }
  await Promise.all(fillers.slice(0, 2).map((filler) => once(filler, 'connect')));
  return {
    port,
    close: async () => {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
